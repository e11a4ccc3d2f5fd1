/* CSV as in RFC 4180: one header row, ',' between fields, '"' around those that need it. The meaning of
 * columns is not known here. */
#ifndef RESULTS_TABLE_CSV_H
#define RESULTS_TABLE_CSV_H

#include "base/err.h"
#include "base/str.h"
#include "results/table/number.h"

#include <stdbool.h>
#include <stddef.h>

enum { PDNN_CSV_COLUMNS_MAX = 512 };

/* Appends the text as a field. */
void pdnn_csv_append(struct pdnn_str *out, const char *text);

/* The rows of a text, in place: fields are unquoted where they lie, and a NUL overwrites their separator.
 * Errors are PDNN_INVALID and start with "path:line: ": a row whose number of fields differs from the
 * header's, a stray or unclosed quote, a NUL byte, a duplicate column name, a missing header. */
struct pdnn_csv_scan {
    const char *path;
    const char *header[PDNN_CSV_COLUMNS_MAX]; /* names of columns, in the text */
    size_t n_columns;
    size_t row_line; /* where the last row starts, from 1 */
    /* The scan's own. */
    char *at, *end;
    size_t line;     /* of `at` */
    bool end_of_row; /* the last field read ended its row */
};

/* Starts with the header. The text of the given length plus a NUL is the caller's, and lives as long as the
 * fields are used; it is changed. */
enum pdnn_status pdnn_csv_scan_start(struct pdnn_csv_scan *scan, const char *path, char *text, size_t length,
                                     struct pdnn_err *err);

/* The next row's n_columns fields, each NUL-terminated; *found is false after the last. */
enum pdnn_status pdnn_csv_scan_row(struct pdnn_csv_scan *scan, const char **fields, bool *found,
                                   struct pdnn_err *err);

/* PDNN_INVALID, for a row with another number of fields than the header. */
enum pdnn_status pdnn_csv_fail_count(const char *path, size_t line, size_t fields, size_t columns,
                                     struct pdnn_err *err);

/* A part of a text. */
struct pdnn_piece {
    const char *text;
    size_t length;
};

/* Returns how many fields a line without its newline has; 0 if it has a NUL or an open quote. The first of
 * them, up to `room`, are set as they stand there, quotes included. */
size_t pdnn_csv_split(const char *line, size_t length, struct pdnn_piece *fields, size_t room);

#endif
