/* Masks and softmax of rows, and their gradients, in f32. Formulas: models/ops/{mask,softmax,
 * attention_softmax}.c. Scores are (matrices, n, m): m columns of which row i of a matrix sees all, or the
 * first i + 1 + m - n where it is causal. What is not seen is not read either. */
#ifndef RUNTIME_KERNELS_ROWS_SOFTMAX_H
#define RUNTIME_KERNELS_ROWS_SOFTMAX_H

#include <stdbool.h>
#include <stdint.h>

/* Streaming stores: for results that no cache holds and that are not what is read; 64-byte aligned then.
 * Kernels leave them where rows are no whole vectors, or too long for the first cache. */
struct pdnn_softmax_result {
    float *to;
    bool bypass;
};

struct pdnn_softmax {
    int64_t matrices, n, m;
    bool is_causal;
    const float *x;                   /* forward: scores; backward: dy */
    const float *bias;                /* (matrices / heads, m), added to the scores; or NULL */
    int64_t heads;                    /* matrices that share a row of bias */
    const float *p;                   /* backward: the forward result before dropout */
    float factor;                     /* of the scores, before the bias */
    uint64_t seed;                    /* of the step's dropout mask */
    int64_t percent;                  /* dropped; 0: none */
    struct pdnn_softmax_result y;     /* y or dx; may be x */
    struct pdnn_softmax_result saved; /* forward with dropout: p, which y is made of; is not x */
};

/* y = dropout(softmax(factor x + bias)), 0 where nothing is seen. A row all of -infinity gives 0. */
void pdnn_softmax_forward(const struct pdnn_softmax *job, int64_t threads);

/* dx = factor p (dp - sum(dp p)) with dp = dropout(dy), 0 where nothing is seen. */
void pdnn_softmax_backward(const struct pdnn_softmax *job, int64_t threads);

/* y = x + bias, and `beyond` where nothing is seen. */
void pdnn_softmax_mask(const struct pdnn_softmax *job, float beyond, int64_t threads);

#endif
