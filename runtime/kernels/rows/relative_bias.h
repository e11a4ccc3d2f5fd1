/* Adds a number for each head and each relative position to scores, and sums over what has one. Formula:
 * models/ops/relative_bias.c. Scores (B*h, n, m): B sequences of h heads, n queries, m keys; `index` has the
 * table's row of each cell: of query and key, or of their distance j - i, which starts at 1 - n. */
#ifndef RUNTIME_KERNELS_ROWS_RELATIVE_BIAS_H
#define RUNTIME_KERNELS_ROWS_RELATIVE_BIAS_H

#include "runtime/kernels/simd/half.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_relative_bias {
    int64_t B, h, n, m, rows; /* rows: of the table (rows, h) */
    int64_t cells;            /* n m, or by distance n + m - 1 */
    bool by_distance;
    bool is_causal;                  /* by distance: row i sees and changes columns j <= i + m - n */
    bool bypass;                     /* y is not x, and is streamed */
    enum pdnn_half type, table_type; /* PDNN_HALF_COUNT: f32 */
    const int32_t *index;
    /* Backward: makes rows [first, end) of dy (B h n, m), in f32, before their sums; NULL: dy is there. */
    void (*make)(void *maker, int64_t first, int64_t end);
    void *maker;
    float scale;           /* backward: on the sums */
    const void *x, *table; /* x: backward, dy */
    void *y, *dtable;      /* y may be x */
    void *scratch;         /* 64-byte aligned */
};

/* Bytes of scratch, of which forward takes the first and backward both. */
int64_t pdnn_relative_bias_forward_scratch(const struct pdnn_relative_bias *job);
int64_t pdnn_relative_bias_backward_scratch(const struct pdnn_relative_bias *job, int64_t threads);

void pdnn_relative_bias_forward(const struct pdnn_relative_bias *job, int64_t threads);

/* What is added, for ops that do so themselves: to column j of row i of a head's matrix
 * at[head * head_stride + i * row_stride + j], in the job's scratch. */
struct pdnn_relative_bias_lines {
    const float *at;
    int64_t head_stride, row_stride;
};
struct pdnn_relative_bias_lines pdnn_relative_bias_spread(const struct pdnn_relative_bias *job,
                                                          int64_t threads);

/* The order of the sums does not depend on the number of threads. */
void pdnn_relative_bias_backward(const struct pdnn_relative_bias *job, int64_t threads);

#endif
