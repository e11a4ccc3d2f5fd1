/* The one table: typed cells, one array a column, described once, from which CSV, JSON, the terminal's text,
 * HTML, `paradnn columns` and the manual are made (results/table/write.h, results/table/read.h). An empty
 * cell is a value of its own, never 0. */
#ifndef RESULTS_TABLE_TABLE_H
#define RESULTS_TABLE_TABLE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/texts.h"
#include "base/word.h"
#include "models/param.h"
#include "results/table/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_kind {
    PDNN_KIND_TEXT,
    PDNN_KIND_COUNT,  /* uint64_t, exact; UINT64_MAX stands for empty */
    PDNN_KIND_WHOLE,  /* int64_t, exact; INT64_MIN stands for empty */
    PDNN_KIND_NUMBER, /* double; NaN stands for empty, and infinite is empty in files */
};

/* "text", "count", "integer", "number": what a reader of a file should expect. */
const char *pdnn_kind_name(enum pdnn_kind kind);

/* How people see text. */
enum pdnn_align {
    PDNN_ALIGN_LEFT,
    PDNN_ALIGN_RIGHT, /* numbers */
    PDNN_ALIGN_WRAP,  /* left; cells are filled over several lines */
    PDNN_ALIGN_CUT,   /* left; cells lose their end, whole words first */
    PDNN_ALIGN_GROUP, /* first column only: where the table is too wide, a line above rows alike in it */
};

/* How people see a number; files have it as it is. */
enum pdnn_show {
    PDNN_SHOW_PLAIN,    /* a count as it is, a number with 4 significant digits */
    PDNN_SHOW_FIXED,    /* with `decimals` digits behind the point */
    PDNN_SHOW_TIME,     /* nanoseconds as "1.23 ms" */
    PDNN_SHOW_SI,       /* "1.23 GFLOP", with the column's unit */
    PDNN_SHOW_BYTES,    /* "1.23 GiB" */
    PDNN_SHOW_PERCENT,  /* of per cent, "12.3 %" */
    PDNN_SHOW_SHARE,    /* of a fraction, "12.3 %" */
    PDNN_SHOW_CHANGE,   /* of a fraction, "+12.3 %" */
    PDNN_SHOW_RATIO,    /* "1.23 x" */
    PDNN_SHOW_FACTOR,   /* three significant digits: "0.950", "1.32", "4213" */
    PDNN_SHOW_INTERVAL, /* "1.25 to 1.39", with the next column, which is in files only, as its upper end */
    PDNN_SHOW_NEVER,    /* in files only */
    PDNN_SHOW_COUNT
};

/* What the text of a TEXT cell is in a struct. */
enum pdnn_field_form {
    PDNN_FIELD_CHARS,    /* an array of chars */
    PDNN_FIELD_BORROWED, /* a borrowed pointer */
    PDNN_FIELD_TIME,     /* int64_t, milliseconds since 1970; 0: empty */
    PDNN_FIELD_WORD,     /* an enum, in the order of the column's words; an optional column may be empty */
    PDNN_FIELD_WORD_OR_NONE, /* the same from 1 on; 0: empty */
    PDNN_FIELD_FLAGS,        /* unsigned, of enum pdnn_flag */
};

/* Where a struct has the value of a cell, of the kind's own type or as above; size 0: nowhere
 * (results/table/record.h). */
struct pdnn_field {
    size_t offset, size;
    enum pdnn_field_form form;
};

#define PDNN_FIELD_AS(form, record, member)                                                                  \
    { offsetof(struct record, member), sizeof((struct record *)0)->member, PDNN_FIELD_##form }
#define PDNN_FIELD(record, member) PDNN_FIELD_AS(CHARS, record, member)

/* One column. Texts are borrowed and static in definitions. */
struct pdnn_column_def {
    const char *name;  /* in files and options: snake_case, its unit at the end */
    const char *title; /* for people; NULL: the name */
    const char *unit;  /* "ns"; NULL: none */
    enum pdnn_kind kind;
    enum pdnn_show show;
    enum pdnn_align align; /* of TEXT; numbers go to the right */
    int decimals;          /* FIXED, PERCENT, SHARE, CHANGE, RATIO */
    int digits;            /* NUMBER: significant digits in files; 0: PDNN_DIGITS_TABLE */
    bool is_parameter;     /* NUMBER: plain ones are shown as in files */
    int then;              /* how many columns further is what this becomes: "80 -> 61", "80" where alike */
    int rank;              /* where the terminal is narrow, the highest goes first; 0 stays */
    bool is_optional;      /* files may lack it; it is empty then */
    int since;             /* the schema whose logs have it first (results/store/log_file.h); 0: any */
    double above;          /* FIXED: people see "above" beyond it; 0: the number */
    const char *blank;     /* what people see where it is empty, "all"; NULL: nothing */
    const char *help;      /* one sentence or phrase */
    const struct pdnn_word *words; /* what a cell may hold, where that needs explaining; ends with {0} */
    struct pdnn_field field;
};

struct pdnn_table_def {
    const char *name; /* "families", "results.csv" */
    const char *help;
    const struct pdnn_column_def *column;
    size_t count;
};

/* The column's name as people see it. */
const char *pdnn_column_title(const struct pdnn_column_def *column);

/* The column of a parameter: WHOLE for numbers, NUMBER for decimal ones, TEXT for choices and lists. */
struct pdnn_column_def pdnn_column_of_param(const struct pdnn_param_def *param);

struct pdnn_cells {
    struct pdnn_column_def def;
    union {             /* n_rows cells of the column's kind */
        uint32_t *text; /* numbers of texts; 0 is empty */
        uint64_t *count;
        int64_t *whole;
        double *number;
        void *memory;
    };
};

enum { PDNN_TABLE_COLUMNS_MAX = 2048 };

struct pdnn_table {
    const char *name, *help; /* of the definition */
    struct pdnn_cells *column;
    size_t n_columns, column_room;
    size_t n_rows, row_room;
    struct pdnn_texts texts; /* of cells; equal ones are one, and they never move */
    struct pdnn_arena names; /* of columns that were added */
};

/* A table with these columns and no rows. */
void pdnn_table_init(struct pdnn_table *table, const struct pdnn_table_def *def);
void pdnn_table_finish(struct pdnn_table *table);

/* Forgets the rows, so that a table can be written in chunks. */
void pdnn_table_clear(struct pdnn_table *table);

/* Adds a column, empty in the rows that are there, with copies of its texts; returns its number. At most
 * PDNN_TABLE_COLUMNS_MAX columns, and names differ. */
size_t pdnn_table_add_column(struct pdnn_table *table, const struct pdnn_column_def *column);

/* The number of the column, or SIZE_MAX. */
size_t pdnn_table_find(const struct pdnn_table *table, const char *name);

/* Add a row of empty cells, or one whose first cells are these texts (NULL: empty); return its number. */
size_t pdnn_table_add_row(struct pdnn_table *table);
size_t pdnn_table_add_texts(struct pdnn_table *table, size_t n, const char *const *texts);

/* Room for that many rows and no more than that: for rows known in advance, or when the last was added. */
void pdnn_table_fit(struct pdnn_table *table, size_t rows);

/* Fill a cell; the function is that of the column's kind. Text is copied, and "" is empty. */
void pdnn_table_set_text(struct pdnn_table *table, size_t row, size_t column, const char *text);
void pdnn_table_set_count(struct pdnn_table *table, size_t row, size_t column, uint64_t value);
void pdnn_table_set_whole(struct pdnn_table *table, size_t row, size_t column, int64_t value);
void pdnn_table_set_number(struct pdnn_table *table, size_t row, size_t column, double value);
void pdnn_table_set_empty(struct pdnn_table *table, size_t row, size_t column);

/* Fills a cell of any kind from text as in files; false, and nothing changes, if it is not of that kind. */
bool pdnn_table_parse(struct pdnn_table *table, size_t row, size_t column, const char *text);

bool pdnn_table_is_empty(const struct pdnn_table *table, size_t row, size_t column);

/* A cell's value. text: "" where it is empty, borrowed until clear or finish. number: of any kind but TEXT,
 * NaN where it is empty. */
const char *pdnn_table_text(const struct pdnn_table *table, size_t row, size_t column);
uint64_t pdnn_table_count(const struct pdnn_table *table, size_t row, size_t column);
int64_t pdnn_table_whole(const struct pdnn_table *table, size_t row, size_t column);
double pdnn_table_number(const struct pdnn_table *table, size_t row, size_t column);

/* Append a cell of any kind: as in files, or as people see it. Nothing where it is empty. */
void pdnn_table_append(const struct pdnn_table *table, size_t row, size_t column, struct pdnn_str *out);
void pdnn_table_append_shown(const struct pdnn_table *table, size_t row, size_t column, struct pdnn_str *out);

/* Appends a number with its integer part and at least these significant digits, zeros included, and with
 * an exponent only below 1e-4: "0.950", "4213"; with three, as PDNN_SHOW_FACTOR does. */
void pdnn_digits_append(struct pdnn_str *out, double value, int digits);
void pdnn_factor_append(struct pdnn_str *out, double value);

/* The order of two cells of one column: below 0, 0 or above; empty ones are equal, and behind all others. */
int pdnn_table_compare(const struct pdnn_table *table, size_t column, size_t a, size_t b);

#endif
