/* Tables for people: aligned columns of text, numbers to the right, with SI units where the caller formats
 * them so. CSV is not made here. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_align {
    PDNN_ALIGN_LEFT,
    PDNN_ALIGN_RIGHT,  /* numbers */
    PDNN_ALIGN_WRAP,   /* the last column only: filled to the width, over several lines */
    PDNN_ALIGN_SHRINK, /* left, and its middle may be cut out where the terminal is narrow */
};

struct pdnn_table_column {
    const char *title;
    enum pdnn_align align;
};

enum { PDNN_TABLE_COLUMNS_MAX = 24 };

struct pdnn_table {
    const struct pdnn_table_column *columns; /* borrowed */
    size_t n_columns;
    struct pdnn_arena arena; /* the cells' text */
    char **cells;            /* row after row */
    size_t n_cells, room;
    bool failed;
};

/* An empty table; at most PDNN_TABLE_COLUMNS_MAX columns. */
void pdnn_table_init(struct pdnn_table *table, const struct pdnn_table_column *columns, size_t n_columns);
void pdnn_table_finish(struct pdnn_table *table);

/* The next cell, left to right and on to the next row. */
void pdnn_table_cell(struct pdnn_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next cell, a number with this many decimals and a unit (" %"); empty for NaN. */
void pdnn_table_number(struct pdnn_table *table, double value, int decimals, const char *unit);

/* Appends the table, with a line of titles. Columns that may shrink do so until it fits width (0: never),
 * down to PDNN_TABLE_SHRUNK letters; the last column may reach beyond it. false when memory ran out. */
enum { PDNN_TABLE_SHRUNK = 12, PDNN_TABLE_WRAPPED = 30 };
bool pdnn_table_format(const struct pdnn_table *table, size_t width, struct pdnn_str *out);

/* Columns of the terminal that the descriptor is, or 0 when it is none. */
size_t pdnn_terminal_width(int fd);

#endif
