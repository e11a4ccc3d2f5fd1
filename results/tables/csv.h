/* CSV as RFC 4180 has it, for every table that paradnn writes or reads: one header row, ',' between fields,
 * '"' around those that need it, '.' as decimal point whatever the locale, an empty field for "not
 * available", integers exact. Knows nothing of what the columns mean. */
#ifndef RESULTS_TABLES_CSV_H
#define RESULTS_TABLES_CSV_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Significant digits: all that distinguish two doubles, and what a table for people and plots keeps. */
enum { PDNN_DIGITS_EXACT = 17, PDNN_DIGITS_TABLE = 6, PDNN_CSV_COLUMNS_MAX = 512 };

/* Appends the number in decimal: the shortest text of at most `digits` significant digits (an integer part is
 * never rounded away) that reads back as the same number, or the nearest there is. Nothing for NaN and
 * infinities. */
void pdnn_number_format(struct pdnn_str *out, double value, int digits);

/* Writes fields into a string; the failure of an allocation sticks there. {out} starts a row. */
struct pdnn_csv_writer {
    struct pdnn_str *out;
    bool started; /* the row has a field */
};

void pdnn_csv_put_text(struct pdnn_csv_writer *writer, const char *text);
void pdnn_csv_put_u64(struct pdnn_csv_writer *writer, uint64_t value);
void pdnn_csv_put_number(struct pdnn_csv_writer *writer, double value, int digits);
void pdnn_csv_put_empty(struct pdnn_csv_writer *writer);
void pdnn_csv_end_row(struct pdnn_csv_writer *writer);

/* A whole table in memory. */
struct pdnn_csv {
    char *text;          /* heap: all cells point into it */
    const char **cells;  /* n_rows * n_columns; the header is not among them */
    const char **header; /* n_columns */
    size_t *lines;       /* n_rows: where each row starts in the file, from 1 */
    size_t n_rows, n_columns;
    bool torn;             /* the last line was incomplete and is left out */
    size_t complete_bytes; /* length of the file without it */
};

enum pdnn_csv_mode {
    PDNN_CSV_STRICT,  /* an incomplete last line is an error like any other */
    PDNN_CSV_JOURNAL, /* one row is one line; a last line cut short (no newline, or fewer fields) is left out
                       */
};

/* Reads a file of at most limit_bytes. Errors are PDNN_INVALID and start with "path:line: ": a row with
 * another number of fields than the header, a stray quote, an unclosed one, a NUL byte, a column named twice,
 * no header. *csv is written on success only; release with pdnn_csv_finish. */
enum pdnn_status pdnn_csv_read(const char *path, size_t limit_bytes, enum pdnn_csv_mode mode,
                               struct pdnn_csv *csv, struct pdnn_err *err);

/* The same from heap text of that length plus a NUL, which is taken over (freed also on failure). */
enum pdnn_status pdnn_csv_parse(const char *path, char *text, size_t length, enum pdnn_csv_mode mode,
                                struct pdnn_csv *csv, struct pdnn_err *err);

void pdnn_csv_finish(struct pdnn_csv *csv);

/* Index of the column, or -1. */
int pdnn_csv_find(const struct pdnn_csv *csv, const char *name);

/* Where the row starts in the file, in bytes. */
size_t pdnn_csv_row_offset(const struct pdnn_csv *csv, size_t row);

/* The field, never NULL; "" when it is empty or column is -1. */
const char *pdnn_csv_get(const struct pdnn_csv *csv, size_t row, int column);

#endif
