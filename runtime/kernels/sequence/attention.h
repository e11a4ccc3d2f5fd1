/* Normalized additive attention in f32. Formulas: models/ops/attention.c. T target steps, S source steps, N
 * sequences, H units per query, D per value; row t*N + n is step t of sequence n. */
#ifndef RUNTIME_KERNELS_SEQUENCE_ATTENTION_H
#define RUNTIME_KERNELS_SEQUENCE_ATTENTION_H

#include <stdint.h>

struct pdnn_attention {
    int64_t T, S, N, H, D;
    const float *q, *k, *values, *v, *g; /* (T*N, H), (S*N, H), (S*N, D), (H), (1) */
    float *scratch;                      /* pdnn_attention_scratch floats */
};

int64_t pdnn_attention_scratch(const struct pdnn_attention *shape, int64_t threads);

/* context (T*N, D); p (T*N, S), or NULL. */
void pdnn_attention_forward(const struct pdnn_attention *job, float *context, float *p, int64_t threads);

struct pdnn_attention_gradients {
    const float *dcontext, *p;
    float *dq, *dk, *dvalues, *dv, *dg; /* shaped like q, k, values, v, g */
};

/* Every sum has the same order for any number of threads. */
void pdnn_attention_backward(const struct pdnn_attention *job,
                             const struct pdnn_attention_gradients *gradients, int64_t threads);

#endif
