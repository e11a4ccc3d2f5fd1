/* Kernels on the columns of a matrix in f32: adding a row to every row, and summing all rows.
 * N rows (minibatch), C columns (units); rows are contiguous. */
#ifndef RUNTIME_KERNELS_ROWS_BIAS_H
#define RUNTIME_KERNELS_ROWS_BIAS_H

#include <stdint.h>

/* y (N, C) = x (N, C) + b (C); y may be x. */
void pdnn_bias_forward(const float *x, const float *b, float *y, int64_t N, int64_t C, int64_t threads);

/* Floats of scratch that pdnn_column_sums needs; may be 0. */
int64_t pdnn_column_sums_scratch(int64_t N, int64_t C, int64_t threads);

/* sums (C) = sum of dy (N, C) over N. The order of additions depends on N, C and threads alone. */
void pdnn_column_sums(const float *dy, float *sums, float *scratch, int64_t N, int64_t C, int64_t threads);

#endif
