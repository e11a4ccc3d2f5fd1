/* Tables as text: aligned columns, numbers to the right, SI units where the caller formats them. It does not
 * write CSV.
 *
 * On a terminal, no line is wider than it: columns that may wrap or be cut do so, titles are set on several
 * lines, and columns that a reader misses least are left out. Everywhere else a table is as wide as it is. */
#ifndef RESULTS_TABLE_SHEET_H
#define RESULTS_TABLE_SHEET_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_align {
    PDNN_ALIGN_LEFT,
    PDNN_ALIGN_RIGHT, /* numbers */
    PDNN_ALIGN_WRAP,  /* left; cells are filled over several lines */
    PDNN_ALIGN_CUT,   /* left; cells lose their end, whole words first */
    PDNN_ALIGN_GROUP, /* first column only: where the table is too wide, a line above the rows it is the same
                         in */
};

/* Added to the alignment of a column that may be left out on a narrow terminal, those with the highest rank
 * (from 1) first. */
#define PDNN_SPARE(rank) ((rank) << 4)

struct pdnn_sheet_column {
    const char *title;
    int align; /* an enum pdnn_align, and PDNN_SPARE */
};

enum { PDNN_SHEET_COLUMNS_MAX = 512 };

struct pdnn_sheet {
    const struct pdnn_sheet_column *columns; /* borrowed */
    size_t n_columns;
    struct pdnn_arena arena; /* text of the cells */
    char **cells;            /* row by row */
    size_t n_cells, room;
};

/* An empty table; at most PDNN_SHEET_COLUMNS_MAX columns. */
void pdnn_sheet_init(struct pdnn_sheet *table, const struct pdnn_sheet_column *columns, size_t n_columns);
void pdnn_sheet_finish(struct pdnn_sheet *table);

/* Forgets the rows. */
void pdnn_sheet_clear(struct pdnn_sheet *table);

/* Fills the next cell, left to right and then in the next row. */
void pdnn_sheet_cell(struct pdnn_sheet *table, const char *text);

/* How a table is set at some width. */
struct pdnn_sheet_layout {
    size_t width[PDNN_SHEET_COLUMNS_MAX];
    bool shown[PDNN_SHEET_COLUMNS_MAX];
    size_t indent; /* of rows below the line of their group */
};

/* The layout for a width of 0 (as wide as needed) or more. On a terminal a column that may be spared and has
 * nothing but empty cells is not shown. */
struct pdnn_sheet_layout pdnn_sheet_arrange(const struct pdnn_sheet *table, size_t width);

/* Whether the table fits the width (0: any) as it is. */
bool pdnn_sheet_fits(const struct pdnn_sheet *table, size_t width);

/* Append the titles; the rows. Control characters in cells are escaped. */
void pdnn_sheet_titles(const struct pdnn_sheet *table, const struct pdnn_sheet_layout *layout,
                       struct pdnn_str *out);
void pdnn_sheet_rows(const struct pdnn_sheet *table, const struct pdnn_sheet_layout *layout,
                     struct pdnn_str *out);

/* Appends a line that names the columns with content that the layout leaves out, if there are any. */
void pdnn_sheet_note(const struct pdnn_sheet *table, const struct pdnn_sheet_layout *layout, size_t width,
                     struct pdnn_str *out);

#endif
