/* Tables as text: aligned columns, numbers to the right, SI units where the caller formats
 * them. It does not write CSV. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_align {
    PDNN_ALIGN_LEFT,
    PDNN_ALIGN_RIGHT,  /* numbers */
    PDNN_ALIGN_WRAP,   /* last column only: filled to the width, over several lines */
    PDNN_ALIGN_SHRINK, /* left; cells lose their middle on a narrow terminal */
};

struct pdnn_table_column {
    const char *title;
    enum pdnn_align align;
};

enum { PDNN_TABLE_COLUMNS_MAX = 24 };

struct pdnn_table {
    const struct pdnn_table_column *columns; /* borrowed */
    size_t n_columns;
    struct pdnn_arena arena; /* text of the cells */
    char **cells;            /* row by row */
    size_t n_cells, room;
    bool failed;
};

/* An empty table; at most PDNN_TABLE_COLUMNS_MAX columns. */
void pdnn_table_init(struct pdnn_table *table, const struct pdnn_table_column *columns, size_t n_columns);
void pdnn_table_finish(struct pdnn_table *table);

/* Fills the next cell, left to right and then in the next row. */
void pdnn_table_cell(struct pdnn_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills the next cell with a number with this many decimals and a unit (" %"); empty for NaN. */
void pdnn_table_number(struct pdnn_table *table, double value, int decimals, const char *unit);

/* Appends the table under a line of titles. Control characters in cells are escaped. Columns that may shrink
 * do so until the table fits width (0: never), down to PDNN_TABLE_SHRUNK characters; the last column may
 * extend beyond it. Returns false if memory ran out. */
enum { PDNN_TABLE_SHRUNK = 12, PDNN_TABLE_WRAPPED = 30 };
bool pdnn_table_format(const struct pdnn_table *table, size_t width, struct pdnn_str *out);

/* The number of columns of the terminal behind fd, or 0 if it is not a terminal. */
size_t pdnn_terminal_width(int fd);

#endif
