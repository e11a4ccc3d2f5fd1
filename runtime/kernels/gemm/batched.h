/* Batched f32 matrix products as attention's heads need them: y = op(a) op(b) for each of B sequences and h
 * heads, with arbitrary strides. The matrices are small and of equal shape, so threads share whole matrices,
 * and each packs its right operand as it goes. With few rows on the left (one new token), nothing is packed
 * and the right operand is read once, in order. M rows and N columns of a result, K length of the sums. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_H
#define RUNTIME_KERNELS_GEMM_BATCHED_H

#include <stdbool.h>
#include <stdint.h>

/* Element (r, c) of head i of sequence b is at b*sequence_stride + i*head_stride + r*row_stride + c. */
struct pdnn_batched_place {
    int64_t sequence_stride, head_stride, row_stride;
    bool transposed; /* operands: stored as (c, r) */
};

struct pdnn_batched_job {
    int64_t B, h, M, N, K;
    struct pdnn_batched_place a_place, b_place, y_place;
    const float *a, *b;
    float *y;
    float *scratch; /* pdnn_batched_scratch_floats, 64-byte aligned */
};

int64_t pdnn_batched_scratch_floats(int64_t threads);

/* The elements of y that are written must not overlap a or b. */
void pdnn_batched_run(const struct pdnn_batched_job *job, int64_t threads);

#endif
