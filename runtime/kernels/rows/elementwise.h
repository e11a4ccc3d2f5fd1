/* Kernels y[i] = f(a[i], b[i]) in f32: activations, their derivatives, sums. Activations are those of
 * models/ops. */
#ifndef RUNTIME_KERNELS_ROWS_ELEMENTWISE_H
#define RUNTIME_KERNELS_ROWS_ELEMENTWISE_H

#include <stdbool.h>
#include <stdint.h>

enum pdnn_elementwise {
    PDNN_RELU_FORWARD,  /* a: x */
    PDNN_RELU_BACKWARD, /* a: dy, b: y or, of the two gelu, x */
    PDNN_SIGMOID_FORWARD,
    PDNN_SIGMOID_BACKWARD,
    PDNN_TANH_FORWARD,
    PDNN_TANH_BACKWARD,
    PDNN_GELU_FORWARD,
    PDNN_GELU_BACKWARD,
    PDNN_GELU_TANH_FORWARD,
    PDNN_GELU_TANH_BACKWARD,
    PDNN_HARDTANH_FORWARD, /* coef: low, high */
    PDNN_HARDTANH_BACKWARD,
    PDNN_ADD,
    PDNN_SCALE, /* coef: factor */
    PDNN_ELEMENTWISE_COUNT
};

struct pdnn_elementwise_job {
    enum pdnn_elementwise function;
    const float *a, *b; /* b of the forward activations is not read and may be NULL */
    float *y;           /* may be a or b, but must not overlap them otherwise; 64-byte aligned for bypass */
    int64_t elements;
    bool bypass;   /* streaming stores: for results that no cache holds and that are neither a nor b */
    float coef[2]; /* of the functions that have some */
};

void pdnn_elementwise_run(const struct pdnn_elementwise_job *job, int64_t threads);

#endif
