/* Ordinary least squares with an intercept, by QR decomposition (reference LAPACK): weights with standard
 * errors, what the fit explains and predicts, and a diagnosis of every row. Columns that cannot have a weight
 * are found, not divided by. */
#ifndef RESULTS_STATS_LEAST_SQUARES_H
#define RESULTS_STATS_LEAST_SQUARES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_column_rank {
    PDNN_RANK_FULL,      /* it has a weight */
    PDNN_RANK_CONSTANT,  /* all its values are equal */
    PDNN_RANK_COLLINEAR, /* a combination of the intercept and full columns before it */
};

struct pdnn_least_squares_column {
    enum pdnn_column_rank rank;
    double spread;            /* standard deviation of its values */
    double weight, std_error; /* NaN unless the rank is full, as is the following */
    double inflation; /* of the weight's variance, over that of a column uncorrelated with the others */
    bool *uses;       /* collinear: by column, whether the combination needs it */
};

/* One row's share in the fit. */
struct pdnn_least_squares_row {
    double fitted, residual;
    double leverage; /* the diagonal of the hat matrix: 1 if the row alone determines a weight */
    /* Residual over its standard deviation as estimated from the other rows: Student's t with one degree less
     * than the fit. NaN at leverage 1 and in an exact fit. */
    double studentized;
};

struct pdnn_least_squares {
    size_t n_rows, n_columns;
    struct pdnn_least_squares_column *column;
    struct pdnn_least_squares_row *row;
    double intercept, intercept_error;
    double degrees;   /* of freedom: rows - full columns - 1, at least 1 */
    double spread;    /* standard deviation of y */
    double deviation; /* standard deviation of the residuals */
    double r2, r2_adjusted;
    /* 1 - sum of squared errors of predicting each row from all others / sum of squares around the mean; NaN
     * if a row has leverage 1. It can be negative. */
    double r2_leave_one_out;
};

/* Fits y (n_rows) on x (column by column: n_rows * n_columns); everything finite. A column within 1e-7 of the
 * span of those before it, relative to its own spread, is collinear, so that of two equal columns the first
 * has the weight. PDNN_INVALID if the rows are too few for the weights, or if all y are equal. Result and
 * scratch are in the arena. */
enum pdnn_status pdnn_least_squares(const double *x, const double *y, size_t n_rows, size_t n_columns,
                                    struct pdnn_arena *arena, struct pdnn_least_squares *fit,
                                    struct pdnn_err *err);

/* Whether info is 0. Whoever calls LAPACK calls this, so that the handler beside it is linked in place of
 * LAPACK's own. */
bool pdnn_lapack_is_good(int info);

#endif
