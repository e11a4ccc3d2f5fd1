/* Tables from CSV as in RFC 4180, one header row first: the same bytes that results/table/write.h writes,
 * typed by the table's definition. */
#ifndef RESULTS_TABLE_READ_H
#define RESULTS_TABLE_READ_H

#include "base/err.h"
#include "results/table/table.h"

/* A part of a text. */
struct pdnn_piece {
    const char *text;
    size_t length;
};

/* Returns how many fields a line without its newline has; 0 if it has a NUL or an open quote. The first of
 * them, up to `room`, are set as they stand there, quotes included. */
size_t pdnn_csv_split(const char *line, size_t length, struct pdnn_piece *fields, size_t room);

/* What is being read. */
struct pdnn_table_file {
    const char *path; /* also in messages */
    size_t limit_bytes;
    bool is_as_in_file; /* the table has the columns of the file alone, in its order */
    /* What else must hold of a row than its cells' kinds, or NULL: PDNN_INVALID with what is wrong, and
     * "path:line: " is put in front of it. */
    enum pdnn_status (*check)(const struct pdnn_table *table, size_t row, struct pdnn_err *err);
};

/* Reads the file as a table of this definition, its columns first and in its order. Columns that it does not
 * know follow as TEXT. PDNN_INVALID with "path:line: " for what is not CSV (a row with another number of
 * fields than the header, a stray or unclosed quote, a NUL byte, a column that is there twice, no header), a
 * column that is missing and not optional, or a cell that is not of its column's kind, with the column's
 * name. *table is written on success only. */
enum pdnn_status pdnn_table_read(struct pdnn_table_file *file, const struct pdnn_table_def *def,
                                 struct pdnn_table *table, struct pdnn_err *err);

/* The same from text of the given length plus a NUL, which is the caller's, and changed. */
enum pdnn_status pdnn_table_read_text(struct pdnn_table_file *file, char *text, size_t length,
                                      const struct pdnn_table_def *def, struct pdnn_table *table,
                                      struct pdnn_err *err);

#endif
