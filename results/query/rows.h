/* The rows of the report: results.csv of every source in memory, as numbers and as values of axes. An axis is
 * a key (family, hyper-parameter or run setting; see results/query/selection.h) that has more than one
 * value besides none, or the source where there are two. */
#ifndef RESULTS_QUERY_ROWS_H
#define RESULTS_QUERY_ROWS_H

#include "base/err.h"
#include "results/query/results.h"
#include "runtime/protocol/ceilings.h"

#include <stdbool.h>
#include <stddef.h>

/* The numbers of a row; NaN where the table has none. */
enum pdnn_report_number {
    PDNN_REPORT_TIME_NS,
    PDNN_REPORT_LOW_NS,
    PDNN_REPORT_HIGH_NS,
    PDNN_REPORT_FLOP, /* in bounds */
    PDNN_REPORT_BYTES,
    PDNN_REPORT_PARAMS,
    PDNN_REPORT_MEMORY_BYTES,
    PDNN_REPORT_GFLOPS,
    PDNN_REPORT_GBS,
    PDNN_REPORT_INTENSITY,
    PDNN_REPORT_PCT_OF_ROOF,
    PDNN_REPORT_PCT_OF_PEAK,
    PDNN_REPORT_EXAMPLES_PER_S,
    PDNN_REPORT_NUMBERS
};

enum pdnn_report_word {
    PDNN_REPORT_STATUS,
    PDNN_REPORT_REASON,
    PDNN_REPORT_BOUND,
    PDNN_REPORT_LEVEL,
    PDNN_REPORT_FLAGS,
    PDNN_REPORT_WORDS
};

struct pdnn_report_row {
    const char *id;
    size_t source;
    bool is_ok; /* status ok, with a time */
    double number[PDNN_REPORT_NUMBERS];
    size_t word[PDNN_REPORT_WORDS]; /* index into the report's words of this kind */
};

/* Half of the interval of the row's time, in % of it; NaN if there is none. */
double pdnn_report_half_pct(const struct pdnn_report_row *row);

/* Values are in ascending order: numbers by value, then words. */
struct pdnn_report_axis {
    const char *name;
    const char **value;
    size_t n_values;
    bool is_numeric; /* every value that is not empty is a number */
    size_t *of_row;  /* per row, index into value; empty text is a value too */
};

struct pdnn_report_source {
    const char *directory;
    const char *name; /* the last part of its path, made distinct */
    struct pdnn_results results;
    struct pdnn_row_list chosen; /* its rows that are asked for */
    struct pdnn_ceilings *ceilings;
    struct pdnn_str environment; /* text of environment.yaml; empty: none */
    size_t first_row, n_rows;
};

struct pdnn_report_rows {
    struct pdnn_arena arena;
    struct pdnn_report_source source[2];
    size_t n_sources;
    const char *const *only; /* the request's */
    size_t n_only;
    struct pdnn_report_row *row;
    size_t n_rows, n_ok;
    struct pdnn_texts word[PDNN_REPORT_WORDS];
    struct pdnn_report_axis *axis; /* the family's first, then the source's if there are two */
    size_t n_axes;
    bool *varies; /* by family and axis: more than one value within the family */
};

struct pdnn_report_request {
    const char *const *directories; /* one or two */
    size_t n_directories;
    const char *const *only; /* which rows, as in results/query/select.h */
    size_t n_only;
    const char *progress[2]; /* by directory: what is said of a sweep that is not done; NULL: nothing */
};

/* PDNN_INVALID names the file, and the column or line. */
enum pdnn_status pdnn_report_rows_read(struct pdnn_report_rows *rows,
                                       const struct pdnn_report_request *request, struct pdnn_err *err);
void pdnn_report_rows_finish(struct pdnn_report_rows *rows);

/* The axis of this name, or NULL: it has one value or none. */
const struct pdnn_report_axis *pdnn_report_axis_find(const struct pdnn_report_rows *rows, const char *name);

/* The text of a row's word, "" if it has none. */
const char *pdnn_report_word_text(const struct pdnn_report_rows *rows, const struct pdnn_report_row *row,
                                  enum pdnn_report_word word);

/* The run setting of a row, "" if it has none. */
const char *pdnn_report_setting(const struct pdnn_report_rows *rows, size_t row, enum pdnn_setting setting);

/* Appends what tells the row from others of its source, "fc nodes=256 batch=4": the family if there are
 * several, and the keys that vary within it. The script has the same names. */
void pdnn_report_label(const struct pdnn_report_rows *rows, size_t row, struct pdnn_str *out);

/* Appends the parts that the ids of all rows of a family share, "input=2000, threads=2". */
void pdnn_report_shared(const struct pdnn_report_rows *rows, size_t family, struct pdnn_str *out);

#endif
