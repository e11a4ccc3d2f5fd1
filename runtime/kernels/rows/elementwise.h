/* Kernels y[i] = f(a[i], b[i]) in f32: activations, their derivatives, sums. Activations are those of
 * models/ops. */
#ifndef RUNTIME_KERNELS_ROWS_ELEMENTWISE_H
#define RUNTIME_KERNELS_ROWS_ELEMENTWISE_H

#include "runtime/kernels/rows/elementwise_functions.h"

#include <stdbool.h>
#include <stdint.h>

#define PDNN_ELEMENTWISE_NAME(name, ...) PDNN_##name,
enum pdnn_elementwise { PDNN_ELEMENTWISE_FUNCTIONS(PDNN_ELEMENTWISE_NAME) PDNN_ELEMENTWISE_COUNT };

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
