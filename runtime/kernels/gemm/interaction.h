/* Products of all pairs of the k vectors (D columns) in each row of a matrix, and their gradient: in f32, of
 * arrays that are f32 or all of one 16-bit type. Formula and order: models/ops/interaction.c. N rows, P
 * products of each. Threads share rows. */
#ifndef RUNTIME_KERNELS_GEMM_INTERACTION_H
#define RUNTIME_KERNELS_GEMM_INTERACTION_H

#include "runtime/kernels/simd/half.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_interaction {
    int64_t N, k, D;
    bool all;            /* k^2 products; else those of i with j < i */
    enum pdnn_half type; /* PDNN_HALF_COUNT: f32 */
    const void *x;       /* (N, k D) */
    void *y;             /* forward (N, P) */
    const void *dy;      /* backward (N, P) */
    void *dx;            /* backward (N, k D), may not overlap x */
    bool bypass;    /* backward: streaming stores, for a dx larger than the caches; it is 64-byte aligned */
    float *scratch; /* pdnn_interaction_scratch floats */
};

int64_t pdnn_interaction_scratch(int64_t k, int64_t D, int64_t threads);

void pdnn_interaction_forward(const struct pdnn_interaction *job, int64_t threads);
void pdnn_interaction_backward(const struct pdnn_interaction *job, int64_t threads);

#endif
