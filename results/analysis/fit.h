/* Which hyper-parameters a machine rewards: linear regression of one column of results.csv, or of a ratio, on
 * hyper-parameters and run settings. The published method (Wang, Wei, Brooks, MLSys 2020, section 4.1)
 * standardizes everything and fits no interactions; the same on logarithms explains more, and untransformed
 * logarithms give a power law. Intervals assume independent errors of equal size, which a grid of models need
 * not have: where the form itself is wrong, R2 says so. */
#ifndef RESULTS_ANALYSIS_FIT_H
#define RESULTS_ANALYSIS_FIT_H

#include "results/analysis/compare.h"
#include "results/analysis/design_matrix.h"
#include "results/tables/columns.h"

enum pdnn_fit_model {
    PDNN_FIT_LINEAR, /* z-scores: weights are standard deviations of the value per standard deviation of the
                        term */
    PDNN_FIT_LOG,    /* the same, after taking logarithms of value and numbers */
    PDNN_FIT_POWER,  /* value = constant * product of number ^ weight; the weight of a word is a factor */
    PDNN_FIT_MODEL_COUNT
};

/* "linear", "log", "power". */
const char *pdnn_fit_model_name(enum pdnn_fit_model model);

/* Has a weight if `state` is fitted; NaN otherwise. */
struct pdnn_fit_term {
    const char *name;     /* "nodes", or "cell=lstm" for a word */
    const char *baseline; /* of a word: what it is set against; else "" */
    enum pdnn_term_state state;
    const char *with;         /* collinear: the terms it is a combination of, joined by ", "; else "" */
    double weight, low, high; /* with its 95 % interval */
    double std_error;         /* of the weight; in a power law, of a factor's logarithm */
    double inflation;         /* of the variance, because terms are correlated */
};

struct pdnn_fit_row {
    const char *id;               /* borrowed from the selection */
    double value, fitted;         /* in the value's own unit */
    double leverage, studentized; /* results/analysis/least_squares.h */
    bool outlier;                 /* so far off that only 1 table in 20 has such a row by chance */
};

struct pdnn_fit {
    const char *family, *what; /* borrowed from the request */
    enum pdnn_fit_model model;
    struct pdnn_fit_term *term; /* in the order of the table's columns */
    size_t n_terms;
    struct pdnn_fit_row *row; /* in the order of the selection */
    size_t n_rows;
    size_t no_value, no_cell, outliers;           /* numbers of rows; the first two are left out */
    double constant, constant_low, constant_high; /* of a power law; else NaN */
    double r2, r2_adjusted, r2_leave_one_out; /* of logarithms, where those are fitted; the last may be NaN */
};

struct pdnn_fit_request {
    const struct pdnn_selection *selection;
    const double *values;  /* what to explain, by position in the selection; NaN: missing */
    const bool *chosen;    /* by position: rows to use; NULL: all */
    const char *what;      /* its name */
    const char *family;    /* rows of one family, since others have other hyper-parameters */
    const char *const *on; /* as in pdnn_design_request */
    size_t n_on;
    enum pdnn_fit_model model;
};

/* In the arena. PDNN_INVALID where nothing can be fitted: too few rows, all values equal, no term that
 * varies. */
enum pdnn_status pdnn_fit(const struct pdnn_fit_request *request, struct pdnn_arena *arena,
                          struct pdnn_fit *fit, struct pdnn_err *err);

/* The numbers in a column of results.csv, by position in the selection; NaN for anything else. PDNN_INVALID
 * names the nearest column. */
enum pdnn_status pdnn_fit_values(const struct pdnn_selection *selection, const char *column,
                                 struct pdnn_arena *arena, const double **values, struct pdnn_err *err);

/* The ratios of a comparison, by position among the chosen rows of A's table, and which of those have one. */
void pdnn_fit_ratios(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                     const double **ratios, const bool **chosen);

/* The families among the chosen rows, in the order of the table. */
void pdnn_fit_families(const struct pdnn_selection *selection, struct pdnn_arena *arena,
                       const char *const **families, size_t *n_families);

/* One line of either table that `paradnn fit --format csv` prints. `term` NULL: the constant of a power law.
 */
struct pdnn_fit_line {
    const struct pdnn_fit *fit;
    const struct pdnn_fit_term *term;
    const struct pdnn_fit_row *row;
};

extern const struct pdnn_columns pdnn_fit_columns, pdnn_residuals_columns; /* rows: struct pdnn_fit_line */

#endif
