/* Rows as aligned columns of text, numbers to the right. On a terminal, no line is wider than it: columns
 * that may wrap or be cut do so, titles are set on several lines, and columns that a reader misses least are
 * left out. Everywhere else a table is as wide as it is. */
#ifndef RESULTS_TABLE_SHEET_H
#define RESULTS_TABLE_SHEET_H

#include "results/table/table.h"

struct pdnn_sheet; /* opaque */

/* Of these columns; their titles are borrowed. */
struct pdnn_sheet *pdnn_sheet_create(const struct pdnn_table *table, const size_t *columns, size_t n_columns);

/* Adds a row, as people see it, of the table or another one with these columns. */
void pdnn_sheet_add(struct pdnn_sheet *sheet, const struct pdnn_table *table, size_t row);

/* Appends the rows so far and forgets them. On a terminal (a width above 0) they are set as they need, with
 * the titles where the widths change; elsewhere as the first ones. Control characters are escaped. */
void pdnn_sheet_flush(struct pdnn_sheet *table, size_t width, struct pdnn_str *out);

/* Whether the rows so far fit the width (0: any) as they are. */
bool pdnn_sheet_fits(const struct pdnn_sheet *table, size_t width);

/* Takes NULL. Appends a line that names the columns with content that found no room, if there are any, unless
 * out is NULL. */
void pdnn_sheet_destroy(struct pdnn_sheet *table, struct pdnn_str *out);

#endif
