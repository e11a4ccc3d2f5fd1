/* Pieces of the page: escaped text, numbers and tables. Text from tables reaches the page
 * through pdnn_html_text and pdnn_html_json_text only. */
#ifndef RESULTS_REPORT_HTML_H
#define RESULTS_REPORT_HTML_H

#include "base/str.h"
#include "results/table/escape.h"
#include "results/table/write.h"

#include <stdbool.h>
#include <stddef.h>

/* A table's columns and rows (NULL: all), with a caption (NULL: none). It scrolls by itself where it is wider
 * than the page. */
void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) __attribute__((format(printf, 6, 7)));

/* A paragraph, escaped. */
void pdnn_html_say(struct pdnn_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
