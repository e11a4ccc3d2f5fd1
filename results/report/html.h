/* Pieces of the page: escaped text, numbers and tables. Text from tables reaches the page
 * through pdnn_html_text and pdnn_html_json_text only. */
#ifndef RESULTS_REPORT_HTML_H
#define RESULTS_REPORT_HTML_H

#include "base/str.h"
#include "results/table/escape.h"
#include "results/table/write.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the number with its integer part and at least these significant digits, or `absent` for NaN. */
void pdnn_html_number(struct pdnn_str *out, double value, int digits, const char *absent);

/* A table with its caption and the titles of its columns, NULL-terminated; css is its class. It scrolls by
 * itself where it is wider than the page. Rows follow; end it with pdnn_html_table_end. */
void pdnn_html_table(struct pdnn_str *out, const char *css, const char *caption, const char *const *titles);
void pdnn_html_table_end(struct pdnn_str *out);
void pdnn_html_cell(struct pdnn_str *out, const char *text);

/* The same of a table's columns and rows (NULL: all), with a caption (NULL: none). */
void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) __attribute__((format(printf, 6, 7)));

/* A paragraph, escaped. */
void pdnn_html_say(struct pdnn_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
