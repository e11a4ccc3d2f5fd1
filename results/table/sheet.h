/* Rows as aligned columns of text, numbers to the right. On a terminal, no line is wider than it: columns
 * that may wrap or be cut do so, titles are set on several lines, and columns that a reader misses least are
 * left out. Everywhere else a table is as wide as it is. */
#ifndef RESULTS_TABLE_SHEET_H
#define RESULTS_TABLE_SHEET_H

#include "results/table/table.h"

struct pdnn_sheet; /* opaque */

struct pdnn_sheet *pdnn_sheet_create(void);

/* The next column; the title is borrowed. */
void pdnn_sheet_column(struct pdnn_sheet *table, const struct pdnn_column_def *def);

/* Fills the next cell, left to right and then in the next row. */
void pdnn_sheet_cell(struct pdnn_sheet *table, const char *text);

/* Appends the rows so far and forgets them. On a terminal (a width above 0) they are set as they need, with
 * the titles where the widths change; elsewhere as the first ones. Control characters are escaped. */
void pdnn_sheet_flush(struct pdnn_sheet *table, size_t width, struct pdnn_str *out);

/* Whether the rows so far fit the width (0: any) as they are. */
bool pdnn_sheet_fits(const struct pdnn_sheet *table, size_t width);

/* Takes NULL. Appends a line that names the columns with content that found no room, if there are any, unless
 * out is NULL. */
void pdnn_sheet_destroy(struct pdnn_sheet *table, struct pdnn_str *out);

#endif
