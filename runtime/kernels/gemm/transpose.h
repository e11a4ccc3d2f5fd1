/* Transposing a matrix in f32. */
#ifndef RUNTIME_KERNELS_GEMM_TRANSPOSE_H
#define RUNTIME_KERNELS_GEMM_TRANSPOSE_H

#include <stdbool.h>
#include <stdint.h>

/* y (columns, rows) = x (rows, columns) transposed; they do not overlap. bypass: streaming stores, for
 * results that no cache holds; y is then 16-byte aligned. */
void pdnn_transpose(const float *x, float *y, int64_t rows, int64_t columns, int64_t threads, bool bypass);

#endif
