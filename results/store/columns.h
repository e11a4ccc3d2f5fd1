/* The output columns of every table, as rows: name, unit, type, where the value comes from, help. CSV
 * headers, `paradnn columns`, the readers and the documentation are made from these rows. Values are computed
 * in results/rows, not here. */
#ifndef RESULTS_STORE_COLUMNS_H
#define RESULTS_STORE_COLUMNS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/word.h"
#include "models/family.h"
#include "models/param.h"
#include "results/table/csv.h"
#include "results/table/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_column_type {
    PDNN_COLUMN_TEXT,   /* field: char array */
    PDNN_COLUMN_WORD,   /* field: const char * to static or borrowed text */
    PDNN_COLUMN_COUNT,  /* field: uint64_t, PDNN_ABSENT is empty; exact */
    PDNN_COLUMN_WHOLE,  /* int64_t, exact; has a getter and no field */
    PDNN_COLUMN_NUMBER, /* field: double, NaN is empty */
    PDNN_COLUMN_TYPE_COUNT
};

struct pdnn_column {
    const char *name;
    const char *unit; /* "ns", "bytes"; "" if none */
    enum pdnn_column_type type;
    size_t offset, size; /* of the field in the row's struct; size only for TEXT */
    const char *help;
    int digits;    /* NUMBER: significant digits written */
    bool analytic; /* known without running anything; `list` shows these */
    /* For a value that is not simply a field: appends its plain text to cell, or nothing if not available. */
    void (*get)(const struct pdnn_column *column, const void *row, struct pdnn_str *cell);
    /* The reverse, for tables that are read again; false if the text is not a valid value. */
    bool (*put)(const struct pdnn_column *column, void *row, const char *text);
    const struct pdnn_param_def *param; /* results.csv: the hyper-parameter or run setting */
    size_t index;                       /* its index among the settings, or in its family */
    /* What a cell may hold, where that needs explaining; several of them are joined by |. Ends with an empty
     * row; NULL: anything. */
    const struct pdnn_word *words;
};

struct pdnn_columns {
    const char *table; /* "results.csv" */
    const struct pdnn_column *column;
    size_t count;
};

/* Rows: struct pdnn_journal_row and struct pdnn_journal_op_row of results/store/journal.h. */
extern const struct pdnn_columns pdnn_journal_columns, pdnn_journal_ops_columns;

/* Whether a file that begins like the text begins with the table's header, or ends within it. */
enum pdnn_header_match { PDNN_HEADER_OTHER, PDNN_HEADER_CUT, PDNN_HEADER_WHOLE };
enum pdnn_header_match pdnn_columns_match(const struct pdnn_columns *columns, const char *text,
                                          size_t length);

/* PDNN_INVALID: the file, which begins like the text, has another header; says so if an older version of the
 * program wrote it. */
enum pdnn_status pdnn_columns_refuse(const struct pdnn_columns *columns, const char *path, const char *text,
                                     size_t length, struct pdnn_err *err);

/* Appends the header line, or the line of one row. */
void pdnn_columns_header(const struct pdnn_columns *columns, struct pdnn_str *out);
void pdnn_columns_row(const struct pdnn_columns *columns, const void *row, struct pdnn_str *out);

/* The same columns as a table has them, in the arena: for pdnn_table_init and pdnn_table_read. */
struct pdnn_table_def pdnn_columns_def(const struct pdnn_columns *columns, struct pdnn_arena *arena);

/* Adds a row to a table of that definition. */
void pdnn_columns_add(const struct pdnn_columns *columns, const void *row, struct pdnn_table *table);

/* Appends one value as plain text, from which tables for people are made. */
void pdnn_column_text(const struct pdnn_column *column, const void *row, struct pdnn_str *cell);

/* Appends the family that an id begins with. */
void pdnn_column_family(const char *id, struct pdnn_str *cell);

/* Parses text into the field. Empty text means "not available" if the type has that; a WORD borrows the text.
 * False if the text is not a valid value. */
bool pdnn_column_parse(const struct pdnn_column *column, void *row, const char *text);

/* Index of the column, or -1. */
int pdnn_columns_find(const struct pdnn_columns *columns, const char *name);

#endif
