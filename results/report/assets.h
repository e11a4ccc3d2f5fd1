/* page.css and page.js as text, and the hashes with which the page's Content-Security-Policy names them:
 * nothing else can style the page or run in it. Made by embed.py during the build. */
#ifndef RESULTS_REPORT_ASSETS_H
#define RESULTS_REPORT_ASSETS_H

extern const char pdnn_report_css[], pdnn_report_css_hash[]; /* "sha256-..." */
extern const char pdnn_report_js[], pdnn_report_js_hash[];

#endif
