/* A dense layer's forward pass for a few rows, f32: one example, one new token. It reads every weight once
 * and does next to nothing with it, so what counts is that the memory never waits. N rows, I inputs, O
 * outputs; x (N, I), w (O, I), b (O), y (N, O). */
#ifndef RUNTIME_KERNELS_GEMM_DENSE_FEW_H
#define RUNTIME_KERNELS_GEMM_DENSE_FEW_H

#include "runtime/kernels/rows/elementwise.h"

#include <stdint.h>

enum { PDNN_DENSE_FEW_ROWS = 4, PDNN_DENSE_FEW_FUNCTIONS = 4 };

/* y = f(x w^T + b), f the functions one after the other: forward activations without coefficients. */
struct pdnn_dense_few_job {
    int64_t N, I, O; /* N at most PDNN_DENSE_FEW_ROWS */
    const float *x, *w;
    const float *b; /* or NULL */
    float *y;       /* overlaps nothing that is read */
    enum pdnn_elementwise function[PDNN_DENSE_FEW_FUNCTIONS];
    int n_functions;
};

/* The same bits whatever `threads` is. */
void pdnn_dense_few_run(const struct pdnn_dense_few_job *job, int64_t threads);

#endif
