/* Forward pass of a dense layer for a few rows: one example or one new token. Every weight is read once and
 * barely used, so the kernel is bound by memory bandwidth. It computes in f32; x, w and y may be 16-bit. N
 * rows, I inputs, O outputs; x (N, I), w (O, I), b (O), y (N, O). */
#ifndef RUNTIME_KERNELS_GEMM_DENSE_FEW_H
#define RUNTIME_KERNELS_GEMM_DENSE_FEW_H

#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/simd/half.h"

#include <stdint.h>

enum { PDNN_DENSE_FEW_ROWS = 4, PDNN_DENSE_FEW_FUNCTIONS = 4 };

/* A forward activation. */
struct pdnn_dense_few_function {
    enum pdnn_elementwise function;
    float coef[2];
};

/* y = f(x w^T + b), with f the functions applied in order. */
struct pdnn_dense_few_job {
    int64_t N, I, O; /* N at most PDNN_DENSE_FEW_ROWS */
    const float *x, *w;
    const float *b; /* or NULL */
    float *y;       /* must not overlap any input */
    /* All three in 16 bit instead. The room is for N * (I + O) floats. */
    bool is_half;
    enum pdnn_half half;
    const uint16_t *half_x, *half_w;
    uint16_t *half_y;
    float *room;
    struct pdnn_dense_few_function function[PDNN_DENSE_FEW_FUNCTIONS];
    int n_functions;
};

/* Results are bitwise the same for any number of threads. */
void pdnn_dense_few_run(const struct pdnn_dense_few_job *job, int64_t threads);

#endif
