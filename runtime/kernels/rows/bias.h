/* Kernels on the columns of a matrix, computed in f32: adding a vector to every row, and summing over rows. N
 * rows (minibatch), C columns (units); rows are contiguous. */
#ifndef RUNTIME_KERNELS_ROWS_BIAS_H
#define RUNTIME_KERNELS_ROWS_BIAS_H

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

/* y (N, C) = x (N, C) + b (C). */
struct pdnn_bias {
    int64_t N, C;
    enum pdnn_stored stored; /* of x and y */
    const void *x;
    const float *b;
    void *y;     /* may be x */
    bool bypass; /* streaming stores, for a y larger than the caches that is not x, 64-byte aligned */
};

void pdnn_bias_forward(const struct pdnn_bias *job, int64_t threads);

/* sums (C) = sum of dy (N, C) over N. */
struct pdnn_column_sums {
    int64_t N, C;
    enum pdnn_stored stored; /* of dy */
    const void *dy;
    float *sums, *scratch; /* pdnn_column_sums_scratch floats; may be 0 */
};

int64_t pdnn_column_sums_scratch(int64_t N, int64_t C, int64_t threads);

/* The summation order depends only on N, C and threads. */
void pdnn_column_sums(const struct pdnn_column_sums *job, int64_t threads);

#endif
