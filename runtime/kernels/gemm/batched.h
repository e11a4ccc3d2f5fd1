/* Batched f32 matrix products as attention's heads need them: y = op(a) op(b) for each of B sequences and h
 * heads, with arbitrary strides. The matrices are small and of equal shape, so threads share whole matrices,
 * and each packs its right operand as it goes; few rows on the left are better left to batched_few.h. M rows
 * and N columns of a result, K length of the sums. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_H
#define RUNTIME_KERNELS_GEMM_BATCHED_H

#include <stdbool.h>
#include <stdint.h>

/* Element (r, c) of matrix i of sequence b is at b*sequence_stride + i*head_stride + r*row_stride + c. */
struct pdnn_batched_place {
    int64_t sequence_stride, head_stride, row_stride;
    bool transposed; /* operands: stored as (c, r) */
    int64_t shared;  /* heads that have one matrix, those in turn; 0: each its own */
};

/* Scores of which only a part is seen: row i of y or, if a is the scores, of a, sees columns i + 1 + shift -
 * size to i + shift. Elements of y that are not seen become 0, those of a are not read. */
struct pdnn_batched_window {
    int64_t size; /* 0: everything is seen */
    int64_t shift;
    bool is_y;
};

struct pdnn_batched_job {
    int64_t B, h, M, N, K;
    struct pdnn_batched_place a_place, b_place, y_place; /* heads that share a matrix of y are summed */
    struct pdnn_batched_window window;
    bool adds; /* to what y holds, which then shares no matrices */
    const float *a, *b;
    float *y;
    float *scratch; /* pdnn_batched_scratch_floats, 64-byte aligned */
};

int64_t pdnn_batched_scratch_floats(int64_t threads);

/* Offset of a head's matrix. */
static inline int64_t pdnn_batched_at(const struct pdnn_batched_place *place, int64_t sequence,
                                      int64_t head) {
    int64_t matrix = place->shared ? head / place->shared : head;
    return sequence * place->sequence_stride + matrix * place->head_stride;
}

/* The elements of y that are written must not overlap a or b. */
void pdnn_batched_run(const struct pdnn_batched_job *job, int64_t threads);

#endif
