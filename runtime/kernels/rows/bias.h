/* Kernels on the columns of an f32 matrix: adding a vector to every row, and summing over rows. N rows
 * (minibatch), C columns (units); rows are contiguous. */
#ifndef RUNTIME_KERNELS_ROWS_BIAS_H
#define RUNTIME_KERNELS_ROWS_BIAS_H

#include <stdint.h>

/* y (N, C) = x (N, C) + b (C); y may be x. */
void pdnn_bias_forward(const float *x, const float *b, float *y, int64_t N, int64_t C, int64_t threads);

/* Scratch floats for pdnn_column_sums; may be 0. */
int64_t pdnn_column_sums_scratch(int64_t N, int64_t C, int64_t threads);

/* sums (C) = sum of dy (N, C) over N. The summation order depends only on N, C and threads. */
void pdnn_column_sums(const float *dy, float *sums, float *scratch, int64_t N, int64_t C, int64_t threads);

#endif
