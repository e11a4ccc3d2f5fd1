/* The report: one HTML file about one result directory or several, which needs no network and no library.
 * Figures are inline SVG; a script adds filters, exact values and sorting. The same tables give the same
 * bytes. */
#ifndef RESULTS_REPORT_REPORT_H
#define RESULTS_REPORT_REPORT_H

#include "base/err.h"
#include "base/str.h"

#include <stddef.h>

struct pdnn_report_request {
    const char *const *directories; /* of several, the first is what the others are compared with */
    size_t n_directories;
    const char *const *only; /* which rows, as in results/query/results.h */
    size_t n_only;
    const char *const *progress; /* by directory: what is said of a sweep that is not done, or NULL */
};

/* Appends the page. results.csv must be there; ceilings.csv, ops.csv and environment.yaml add to it.
 * PDNN_INVALID names the file and what is wrong. */
enum pdnn_status pdnn_report(const struct pdnn_report_request *request, struct pdnn_str *html,
                             struct pdnn_err *err);

#endif
