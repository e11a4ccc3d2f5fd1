/* Shared by the ops that normalize rows: checks, FLOP, gradients, and the reference kernels of one row.
 * layernorm.c has the formulas. x (R, H); gamma and beta (H); mean and inverse_std (R). */
#ifndef MODELS_OPS_NORM_ROWS_H
#define MODELS_OPS_NORM_ROWS_H

#include "models/op.h"

struct pdnn_backward;

/* Forward, per value: 1 for the mean, 3 for the variance, 4 to normalize, scale and shift; per row: 2 to
 * divide the two sums, 3 for inverse_std. Backward, per value: 2 for xhat, 3 to sum dbeta and dgamma, 1 for
 * dxhat, 3 for its sums, 4 for dx; per row: 2 to divide the sums. */
enum { PDNN_NORM_FLOP = 8, PDNN_NORM_ROW_FLOP = 5, PDNN_NORM_BACK_FLOP = 13, PDNN_NORM_BACK_ROW_FLOP = 2 };

/* Without gamma and beta, 2 to normalize; backward nothing for these, and dxhat is dy, whose sums are theirs.
 */
enum { PDNN_NORM_PLAIN_FLOP = 6, PDNN_NORM_PLAIN_BACK_FLOP = 9 };

/* The fields that their definitions share, with the FLOP and the reference kernels of the two passes. */
#define PDNN_NORM_ROWS(forward_flop, forward, backward_flop, backward_data)                                  \
    .category = "normalization", .tolerance = 2e-6, .summed = PDNN_SUMMED_ROW,                               \
    .pass = {[PDNN_FORWARD] = {.flop = (forward_flop), .reference = (forward), .in_place = 1},               \
             [PDNN_BACKWARD_DATA] = {.flop = (backward_flop), .reference = (backward_data), .in_place = 1}}

/* Whether x is a matrix as wide as gamma and, unless that is NULL, beta. */
bool pdnn_norm_rows_fit(const struct pdnn_tensor *x, const struct pdnn_tensor *gamma,
                        const struct pdnn_tensor *beta);

/* Describes `count` outputs as statistics of rows, f32 whatever the model's dtype. */
void pdnn_norm_rows_statistics(const struct pdnn_tensor *x, struct pdnn_tensor *outputs, int count);

/* Adds the FLOP of a pass over x. */
void pdnn_norm_rows_flop(const struct pdnn_tensor *x, int64_t per_value, int64_t per_row,
                         struct pdnn_count *count);

/* For an op whose inputs are x and perhaps gamma and beta: one backward node from dy, x, gamma if there is
 * one, and all outputs behind y to the gradients of all inputs. `refusal`: why there is none if training
 * keeps no such outputs. */
void pdnn_norm_rows_gradient(struct pdnn_backward *backward, const struct pdnn_node *node,
                             const char *refusal);

/* Forward: one row, from x to y; y may be x. */
struct pdnn_norm_row {
    const double *x, *gamma, *beta; /* the last two may be NULL */
    double *y;
    double *mean, *inverse_std; /* outputs for this row; or both NULL */
    double epsilon;
    int64_t H, pixels; /* neighbours that share a gamma and a beta; 0: none do */
};
void pdnn_norm_row_forward(struct pdnn_reference *r, const struct pdnn_norm_row *row);

/* Backward: one row, from dy to dx; dx may be dy. Adds to dgamma and dbeta. */
struct pdnn_norm_row_backward {
    const double *dy, *x, *gamma; /* gamma may be NULL, then these two are too: */
    double *dx, *dgamma, *dbeta;
    double mean, inverse_std;
    int64_t H, pixels;
};
void pdnn_norm_row_backward(struct pdnn_reference *r, const struct pdnn_norm_row_backward *row);

#endif
