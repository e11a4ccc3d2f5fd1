/* Forward pass of a dense layer for a few rows, f32: one example or one new token. Every weight is read once
 * and barely used, so the kernel is bound by memory bandwidth. N rows, I inputs, O outputs; x (N, I), w (O,
 * I), b (O), y (N, O). */
#ifndef RUNTIME_KERNELS_GEMM_DENSE_FEW_H
#define RUNTIME_KERNELS_GEMM_DENSE_FEW_H

#include "runtime/kernels/rows/elementwise.h"

#include <stdint.h>

enum { PDNN_DENSE_FEW_ROWS = 4, PDNN_DENSE_FEW_FUNCTIONS = 4 };

/* y = f(x w^T + b), with f the functions applied in order: forward activations without coefficients. */
struct pdnn_dense_few_job {
    int64_t N, I, O; /* N at most PDNN_DENSE_FEW_ROWS */
    const float *x, *w;
    const float *b; /* or NULL */
    float *y;       /* must not overlap any input */
    enum pdnn_elementwise function[PDNN_DENSE_FEW_FUNCTIONS];
    int n_functions;
};

/* Results are bitwise the same for any number of threads. */
void pdnn_dense_few_run(const struct pdnn_dense_few_job *job, int64_t threads);

#endif
