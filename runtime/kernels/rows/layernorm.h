/* Normalization of rows, alone or behind dropout and a residual sum, and its gradients, in f32. Formulas:
 * models/ops/layernorm.c and dropout_add_norm.c. R rows (tokens), H width; arrays are (R, H) unless said. */
#ifndef RUNTIME_KERNELS_ROWS_LAYERNORM_H
#define RUNTIME_KERNELS_ROWS_LAYERNORM_H

#include <stdbool.h>
#include <stdint.h>

/* Streaming stores: for results that no cache holds and that are not what is read; 64-byte aligned then.
 * Kernels leave them where rows are no whole vectors. */
struct pdnn_layernorm_result {
    float *to;
    bool bypass;
};

struct pdnn_layernorm {
    int64_t R, H;
    const float *x;
    const float *residual;          /* or NULL: x is what is normalized */
    const float *gamma, *beta;      /* (H) */
    struct pdnn_layernorm_result y; /* may be x or residual */
    struct pdnn_layernorm_result z; /* the sum, with a residual; to may be NULL */
    float *mean, *inverse_std;      /* (R), out; or both NULL */
    float epsilon;
    uint64_t seed;   /* of the step's dropout mask on x, with a residual */
    int64_t percent; /* dropped; 0: none */
    float *scratch;  /* pdnn_layernorm_scratch floats */
};

int64_t pdnn_layernorm_scratch(int64_t H, int64_t threads);

/* A row's statistics are those of the row in a cache, summed twice: mean, then distances from it. */
void pdnn_layernorm_forward(const struct pdnn_layernorm *job, int64_t threads);

struct pdnn_layernorm_gradients {
    int64_t R, H;
    const float *dy, *x;                 /* x: what was normalized */
    const float *dz;                     /* what else reached it, or NULL */
    const float *gamma;                  /* (H) */
    const float *mean, *inverse_std;     /* (R) */
    struct pdnn_layernorm_result dx;     /* may be dy */
    struct pdnn_layernorm_result masked; /* dx times the dropout mask; to may be NULL */
    float *dgamma, *dbeta;               /* (H) */
    uint64_t seed;
    int64_t percent;
    float *scratch; /* pdnn_layernorm_backward_scratch floats */
};

int64_t pdnn_layernorm_backward_scratch(int64_t R, int64_t H);

/* dgamma and dbeta have the same bits whatever the number of threads. */
void pdnn_layernorm_backward(const struct pdnn_layernorm_gradients *job, int64_t threads);

#endif
