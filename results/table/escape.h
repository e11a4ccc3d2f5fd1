/* Text from tables made safe for what surrounds it: HTML, a script in a page, JSON, a command line. */
#ifndef RESULTS_TABLE_ESCAPE_H
#define RESULTS_TABLE_ESCAPE_H

#include "base/str.h"

/* Appends the text for an element's content or a quoted attribute: & < > " ' become entities, control
 * characters and what is not UTF-8 become visible escapes. */
void pdnn_html_text(struct pdnn_str *out, const char *text);

/* Appends markup with texts in place of each %s, escaped. */
void pdnn_html_put(struct pdnn_str *out, const char *markup, ...) __attribute__((format(printf, 2, 3)));

/* Appends the text as a JSON string that cannot end a script element. */
void pdnn_html_json_text(struct pdnn_str *out, const char *text);

/* Appends the text as a JSON string that reads back as it was; a byte that is not UTF-8 becomes U+FFFD. */
void pdnn_json_text(struct pdnn_str *out, const char *text);

/* Appends the text as one word of a shell's command line. */
void pdnn_shell_quote(struct pdnn_str *out, const char *text);

#endif
