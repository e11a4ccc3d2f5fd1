/* Layer normalization of rows, optionally fused with dropout and a residual sum, and its gradients, in
 * f32. Formulas: models/ops/layernorm.c and dropout_add_norm.c. R rows (tokens), H width; arrays are (R,
 * H) unless stated. Those by row and column are stored in f32 or 16 bit, all others in f32. */
#ifndef RUNTIME_KERNELS_ROWS_LAYERNORM_H
#define RUNTIME_KERNELS_ROWS_LAYERNORM_H

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

/* bypass: streaming stores, for results larger than the caches that overlap no input; `to` must be 64-byte
 * aligned. Ignored when rows are not whole vectors. */
struct pdnn_layernorm_result {
    void *to;
    bool bypass;
};

struct pdnn_layernorm {
    int64_t R, H;
    enum pdnn_stored stored; /* of x, residual, y and z */
    const void *x;
    const void *residual;           /* NULL: normalizes x alone */
    const float *gamma, *beta;      /* (H); or both NULL: y = (x - mean) * inverse_std */
    struct pdnn_layernorm_result y; /* may be x or residual */
    struct pdnn_layernorm_result z; /* with a residual: the sum; to may be NULL */
    float *mean, *inverse_std;      /* (R), out; or both NULL */
    float epsilon;
    uint64_t seed;   /* with a residual: seed of this step's dropout mask on x */
    int64_t percent; /* dropped; 0: no dropout */
    float *scratch;  /* with a residual, or 16 bit: pdnn_layernorm_scratch floats */
};

int64_t pdnn_layernorm_scratch(int64_t H, int64_t threads);

/* Mean and variance take two passes over the row while it is in a cache: the mean, then the
 * distances from it. */
void pdnn_layernorm_forward(const struct pdnn_layernorm *job, int64_t threads);

struct pdnn_layernorm_gradients {
    int64_t R, H;
    enum pdnn_stored stored;             /* of dy, x, dz, dx and masked */
    const void *dy, *x;                  /* x: the input of the normalization */
    const void *dz;                      /* gradient of x from elsewhere, or NULL */
    const float *gamma;                  /* (H), or NULL */
    const float *mean, *inverse_std;     /* (R) */
    struct pdnn_layernorm_result dx;     /* may be dy */
    struct pdnn_layernorm_result masked; /* dx times the dropout mask; to may be NULL */
    float *dgamma, *dbeta;               /* (H); NULL without gamma */
    uint64_t seed;
    int64_t percent;
    float *scratch; /* pdnn_layernorm_backward_scratch floats */
};

int64_t pdnn_layernorm_backward_scratch(int64_t R, int64_t H);

/* dgamma and dbeta are bitwise the same for any number of threads. */
void pdnn_layernorm_backward(const struct pdnn_layernorm_gradients *job, int64_t threads);

#endif
