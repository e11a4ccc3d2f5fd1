/* Products of many matrices in f32, those of attention's heads: y = op(a) op(b) for each of B sequences and h
 * heads, wherever the matrices lie. Small and alike, they are shared among the threads whole, each with its
 * right operand packed on the way; with few rows on the left, as one new token has, nothing is packed and the
 * right operand is read once and in order. M rows and N columns of a result, K length of the sums. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_H
#define RUNTIME_KERNELS_GEMM_BATCHED_H

#include <stdbool.h>
#include <stdint.h>

/* Element (r, c) of head i of sequence b is at b*sequence_stride + i*head_stride + r*row_stride + c. */
struct pdnn_batched_place {
    int64_t sequence_stride, head_stride, row_stride;
    bool transposed; /* of an operand: it is (c, r) */
};

struct pdnn_batched_job {
    int64_t B, h, M, N, K;
    struct pdnn_batched_place a_place, b_place, y_place;
    const float *a, *b;
    float *y;
    float *scratch; /* of pdnn_batched_scratch_floats, 64-byte aligned */
};

int64_t pdnn_batched_scratch_floats(int64_t threads);

/* y must not overlap a or b, where it is written. */
void pdnn_batched_run(const struct pdnn_batched_job *job, int64_t threads);

#endif
