/* Transposes an f32 matrix. */
#ifndef RUNTIME_KERNELS_GEMM_TRANSPOSE_H
#define RUNTIME_KERNELS_GEMM_TRANSPOSE_H

#include <stdbool.h>
#include <stdint.h>

/* y (columns, rows) = x (rows, columns) transposed; they must not overlap. bypass: streaming stores, for
 * results larger than the caches; y must then be 16-byte aligned. */
void pdnn_transpose(const float *x, float *y, int64_t rows, int64_t columns, int64_t threads, bool bypass);

#endif
