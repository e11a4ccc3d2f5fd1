/* Kernels y[i] = f(a[i], b[i]), in f32 also on 16-bit elements: activations, their derivatives, sums.
 * Formulas of the activations: models/ops. */
#ifndef RUNTIME_KERNELS_ROWS_ELEMENTWISE_H
#define RUNTIME_KERNELS_ROWS_ELEMENTWISE_H

#include "runtime/kernels/rows/elementwise_functions.h"
#include "runtime/kernels/simd/half.h"

#include <stdbool.h>
#include <stdint.h>

#define PDNN_ELEMENTWISE_NAME(name, ...) PDNN_##name,
enum pdnn_elementwise { PDNN_ELEMENTWISE_FUNCTIONS(PDNN_ELEMENTWISE_NAME) PDNN_ELEMENTWISE_COUNT };

/* Operands that are 16-bit; the others are f32. */
struct pdnn_elementwise_halves {
    bool a, b, y;
    enum pdnn_half type;
};

struct pdnn_elementwise_job {
    enum pdnn_elementwise function;
    const void *a, *b; /* forward activations do not read b; it may be NULL */
    void *y;           /* may be a or b, must not overlap them otherwise; 64-byte aligned for bypass */
    int64_t elements;
    bool bypass;   /* streaming stores: for results larger than the caches; y must not be a or b */
    float coef[2]; /* of functions that take coefficients */
    struct pdnn_elementwise_halves halves;
};

void pdnn_elementwise_run(const struct pdnn_elementwise_job *job, int64_t threads);

#endif
