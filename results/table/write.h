/* Tables as text, in chunks: rows are handed over as they come, and what was appended may be taken away in
 * between. All formats are made from the descriptions of the columns. */
#ifndef RESULTS_TABLE_WRITE_H
#define RESULTS_TABLE_WRITE_H

#include "results/table/rows.h"
#include "results/table/table.h"

enum pdnn_table_format {
    PDNN_FORMAT_TEXT, /* for people, in columns */
    PDNN_FORMAT_CSV,
    PDNN_FORMAT_JSON,       /* an array with an object a row */
    PDNN_FORMAT_JSON_LINES, /* an object a line */
    PDNN_FORMAT_MARKDOWN,   /* a table, cells as people see them */
    PDNN_FORMAT_HTML,       /* a table element, cells as people see them */
    PDNN_FORMAT_COUNT
};

struct pdnn_table_writer {
    struct pdnn_str *out; /* borrowed; may be cleared between calls */
    enum pdnn_table_format format;
    size_t width;          /* TEXT: of the terminal; 0: as wide as needed */
    const size_t *columns; /* which, in this order; NULL: all */
    size_t n_columns;
    const char *choice;  /* for pdnn_table_choose: names joined by commas, `brief`, `all`; NULL: none */
    size_t *chosen;      /* the writer's own */
    const char *caption; /* HTML; NULL: none */
    bool is_noteless;    /* TEXT: columns without room are not named below */
    /* The writer's own. */
    bool is_started;
    size_t n_written;
    struct pdnn_sheet *sheet; /* TEXT */
};

/* Of the writer's columns keeps those of its choice, once, in that order: `brief` are those that people
 * see, and those that they do not see are shown if they are named. To be called before anything is written.
 * PDNN_INVALID names the nearest column. */
enum pdnn_status pdnn_table_choose(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                                   struct pdnn_err *err);

/* Appends the table's rows, or these of them (NULL: all), with the header before the first. Tables of one
 * writer have the same columns. */
void pdnn_table_write(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                      const struct pdnn_row_list *rows);

/* Whether the table as text, with its columns at their widths, is not wider than the writer's width. */
bool pdnn_table_fits(const struct pdnn_table_writer *writer, const struct pdnn_table *table);

/* Appends what comes after the last row, and releases what the writer holds. */
void pdnn_table_write_end(struct pdnn_table_writer *writer);

/* Appends the text as a field of CSV. */
void pdnn_csv_append(struct pdnn_str *out, const char *text);

/* Append CSV: the whole table; its rows without a header; a header alone. */
void pdnn_table_csv(struct pdnn_str *out, const struct pdnn_table *table);
void pdnn_table_csv_rows(struct pdnn_str *out, const struct pdnn_table *table);
void pdnn_table_csv_header(struct pdnn_str *out, const struct pdnn_table_def *def);

#endif
