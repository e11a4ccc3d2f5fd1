/* Rows of results.csv as numbers to fit: a column per hyper-parameter or run setting that is a number, and
 * one per word but the first for those that are words (1 where the row has that word). What cannot become a
 * column is named with its reason. Nothing is fitted here. */
#ifndef RESULTS_FIT_DESIGN_MATRIX_H
#define RESULTS_FIT_DESIGN_MATRIX_H

#include "results/query/selection.h"

enum pdnn_term_state {
    PDNN_TERM_FITTED,
    PDNN_TERM_CONSTANT,     /* equal in all rows that have it */
    PDNN_TERM_COLLINEAR,    /* a combination of terms before it */
    PDNN_TERM_NO_LOGARITHM, /* a number that is not positive somewhere, in a model of logarithms */
    PDNN_TERM_WORDS,        /* too many different words */
    PDNN_TERM_STATE_COUNT
};

/* "fitted", "constant", "collinear", "no logarithm", "too many words". */
const char *pdnn_term_state_name(enum pdnn_term_state state);

struct pdnn_design_term {
    const char *name; /* "nodes", or "cell=lstm" for a word */
    const char *
        baseline; /* of a word: the key's first word in the table, which this one is set against; else NULL */
    enum pdnn_term_state state;
    int column; /* of results.csv */
};

struct pdnn_design {
    struct pdnn_design_term *term;
    size_t n_terms;
    size_t *term_of; /* by column of x */
    double *x;       /* column by column: n_rows * n_columns */
    double *y;       /* n_rows */
    size_t *at;      /* n_rows: positions in the selection */
    size_t n_columns, n_rows;
    size_t no_value, no_cell; /* rows left out: the value is missing; a number that varies is missing */
};

struct pdnn_design_request {
    const struct pdnn_selection *selection;
    const double *values; /* by position in the selection; NaN: missing */
    const bool *chosen;   /* by position: rows to use; NULL: all */
    const char *what;     /* what the values are, for messages */
    const char *family;   /* only its rows */
    /* Keys or other columns of results.csv; none: every key that a row of the family has. For those named
     * here, being without a logarithm or having too many words is an error. */
    const char *const *on;
    size_t n_on;
    bool logarithms; /* natural ones, of values and of numbers */
};

enum { PDNN_DESIGN_WORDS_MAX = 16 };

/* The matrix, in the arena. PDNN_INVALID for an unknown column, if no row has a value, or a value has no
 * logarithm. */
enum pdnn_status pdnn_design_matrix(const struct pdnn_design_request *request, struct pdnn_arena *arena,
                                    struct pdnn_design *design, struct pdnn_err *err);

#endif
