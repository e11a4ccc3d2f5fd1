/* Which hyper-parameters a machine rewards: linear regression of one column of results.csv, or of a ratio, on
 * hyper-parameters and run settings. The published method (Wang, Wei, Brooks, MLSys 2020, section 4.1)
 * standardizes everything and fits no interactions; the same on logarithms explains more, and untransformed
 * logarithms give a power law. Intervals assume independent errors of equal size, which a grid of models need
 * not have: where the form itself is wrong, R2 says so. */
#ifndef RESULTS_FIT_FIT_H
#define RESULTS_FIT_FIT_H

#include "results/compare/compare.h"
#include "results/query/gaps.h"

enum pdnn_fit_model {
    PDNN_FIT_LINEAR, /* z-scores: weights are standard deviations of the value per standard deviation of the
                        term */
    PDNN_FIT_LOG,    /* the same, after taking logarithms of value and numbers */
    PDNN_FIT_POWER,  /* value = constant * product of number ^ weight; the weight of a word is a factor */
    PDNN_FIT_MODEL_COUNT
};

/* "linear", "log", "power", then NULL. */
extern const char *const pdnn_fit_models[PDNN_FIT_MODEL_COUNT + 1];

/* A row for each term of a fit: a hyper-parameter or run setting that is a number, or each word but the first
 * of one that is not (1 where a row has that word); and behind them the constant of a power law. The columns
 * from PDNN_FIT_ROWS on are those of the whole fit. Numbers of the term are empty unless it has a weight. */
enum {
    PDNN_FIT_FAMILY,
    PDNN_FIT_VALUE, /* what is fitted */
    PDNN_FIT_MODEL,
    PDNN_FIT_TERM,     /* "nodes", or "cell=lstm" for a word */
    PDNN_FIT_BASELINE, /* of a word: what it is set against */
    PDNN_FIT_STATE,
    PDNN_FIT_WITH,   /* collinear: the terms it is a combination of, joined by ", "; confounded: a key */
    PDNN_FIT_WEIGHT, /* with its 95 % interval */
    PDNN_FIT_CI_LOW,
    PDNN_FIT_CI_HIGH,
    PDNN_FIT_STD_ERROR, /* of the weight; in a power law, of a factor's logarithm */
    PDNN_FIT_VIF,       /* inflation of the variance, because terms are correlated */
    PDNN_FIT_ROWS,
    PDNN_FIT_NO_VALUE, /* rows left out, as the next ones */
    PDNN_FIT_NO_CELL,
    PDNN_FIT_OUTLIERS,
    PDNN_FIT_R2, /* of logarithms, where those are fitted */
    PDNN_FIT_R2_ADJUSTED,
    PDNN_FIT_R2_LEAVE_ONE_OUT,
    PDNN_FIT_COLUMNS
};
extern const struct pdnn_table_def pdnn_fit_def;

/* One row for each row of a fit, in the order of the selection. */
enum {
    PDNN_RESIDUALS_FAMILY,
    PDNN_RESIDUALS_VALUE,
    PDNN_RESIDUALS_MODEL,
    PDNN_RESIDUALS_ID,
    PDNN_RESIDUALS_ACTUAL, /* in the value's own unit, as the next one */
    PDNN_RESIDUALS_FITTED,
    PDNN_RESIDUALS_LEVERAGE, /* results/stats/least_squares.h, as the next one */
    PDNN_RESIDUALS_STUDENTIZED,
    PDNN_RESIDUALS_OUTLIER, /* 1: so far off that only 1 table in 20 has such a row by chance */
    PDNN_RESIDUALS_COLUMNS
};
extern const struct pdnn_table_def pdnn_residuals_def;

struct pdnn_fit_request {
    const struct pdnn_selection *selection;
    const double *values; /* what to explain, by position in the selection; NaN: missing */
    const bool *chosen;   /* by position: rows to use; NULL: all */
    const char *what;     /* its name */
    const char *family;   /* rows of one family, since others have other hyper-parameters */
    /* Keys or other columns of results.csv, "layers,batch"; NULL: every key that a row of the family has. For
     * those named here, being without a logarithm or having too many words is an error. */
    const char *on;
    enum pdnn_fit_model model;
    const struct pdnn_comparison *comparison; /* NULL: a column is fitted */
    const struct pdnn_gaps
        *gaps;           /* of the selection or the pairs: confounded terms get no weight; NULL: none do */
    const size_t *other; /* of a comparison, by position: where B's row of the pair is */
};

/* Appends the rows of a fit to both tables. PDNN_INVALID where nothing can be fitted: too few rows, all
 * values equal, no term that varies, an unknown column, a value without a logarithm. */
enum pdnn_status pdnn_fit(const struct pdnn_fit_request *request, struct pdnn_table *terms,
                          struct pdnn_table *residuals, struct pdnn_err *err);

/* The numbers in a column of results.csv, or of imported.csv as "imported.gflops", by position in the
 * selection; NaN for anything else. PDNN_INVALID names the nearest column of results.csv. */
enum pdnn_status pdnn_fit_values(const struct pdnn_selection *selection, const char *column,
                                 struct pdnn_arena *arena, const double **values, struct pdnn_err *err);

/* Fits each family by these models, in the order of the table: the ratios of the comparison, of whose side A
 * the selection is, called `what` or "ratio"; or the column `what`, NULL: pdnn_selection_utilization, in a
 * power law time_ns_median.
 * Values, rows, family and model of the request do not count. Why some cannot be fitted is appended to
 * notes, a line each; PDNN_INVALID with the first if nothing can. */
enum pdnn_status pdnn_fit_all(const struct pdnn_fit_request *request, const bool models[PDNN_FIT_MODEL_COUNT],
                              struct pdnn_table *terms, struct pdnn_table *residuals, struct pdnn_str *notes,
                              struct pdnn_err *err);

#endif
