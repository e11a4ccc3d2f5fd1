/* Masked softmax of rows and its gradient, in f32. Formulas: models/ops/{mask,softmax,attention_softmax}.c.
 * Scores are (matrices, n, m). Row i of a matrix sees all m columns or, if causal, the first i + 1 + m - n,
 * and of these with a window only the last so many. Masked elements are not read. */
#ifndef RUNTIME_KERNELS_ROWS_SOFTMAX_H
#define RUNTIME_KERNELS_ROWS_SOFTMAX_H

#include <stdbool.h>
#include <stdint.h>

/* bypass: streaming stores, for results larger than the caches that overlap no input; `to` must be 64-byte
 * aligned. Ignored when rows are not whole vectors or too long for L1, and with a window. */
struct pdnn_softmax_result {
    float *to;
    bool bypass;
};

struct pdnn_softmax {
    int64_t matrices, n, m;
    bool is_causal;
    int64_t window;    /* 0: none */
    const float *x;    /* forward: scores; backward: dy */
    const float *bias; /* added to the scores: (matrices / heads, m), or (turn, n, m); or NULL */
    int64_t heads;     /* matrices that share a row of the bias */
    /* Forward: added, too, a number for each head and relative position
     * (runtime/kernels/rows/relative_bias.h): relative[head relative_head + i relative_row + j] to row i; or
     * NULL. */
    const float *relative;
    int64_t relative_head, relative_row;
    int64_t turn;                 /* groups of these after which a bias by row begins again; 0: by group */
    const float *p;               /* backward: the forward result, before dropout */
    float factor;                 /* on the scores, before the bias */
    uint64_t seed;                /* of this step's dropout mask */
    int64_t percent;              /* dropped; 0: no dropout */
    struct pdnn_softmax_result y; /* y or dx; may be x */
    struct pdnn_softmax_result saved; /* forward with dropout: p, before dropout; must not be x */
};

/* y = dropout(softmax(factor * x + biases)), 0 where masked. A row of -infinity only gives 0. */
void pdnn_softmax_forward(const struct pdnn_softmax *job, int64_t threads);

/* dx = factor * p * (dp - sum(dp * p)) with dp = dropout(dy), 0 where masked. */
void pdnn_softmax_backward(const struct pdnn_softmax *job, int64_t threads);

/* The same for rows [first, end) of all matrices, on one thread and without streaming. */
void pdnn_softmax_backward_rows(const struct pdnn_softmax *job, int64_t first, int64_t end);

/* y = x + bias, or `beyond` where masked. */
void pdnn_softmax_mask(const struct pdnn_softmax *job, float beyond, int64_t threads);

#endif
