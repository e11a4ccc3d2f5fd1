/* The products of batched.h with few rows on the left, of one new token: nothing is packed, and the right
 * operand is read once and in order, by all heads that share its matrices together. It computes in f32; the
 * elements may be 16-bit. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_FEW_H
#define RUNTIME_KERNELS_GEMM_BATCHED_FEW_H

#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/half.h"

struct pdnn_batched_few_job {
    struct pdnn_batched_job product; /* without a, b, y and scratch */
    bool is_half;
    enum pdnn_half half;
    const void *a, *b;
    void *y;
    float *scratch; /* pdnn_batched_few_scratch floats, 64-byte aligned */
};

enum { PDNN_BATCHED_FEW = 3 };

/* Up to PDNN_BATCHED_FEW rows, packing b costs more than it saves. */
static inline bool pdnn_batched_is_few(const struct pdnn_batched_job *product) {
    return product->M <= PDNN_BATCHED_FEW && !product->a_place.transposed && !product->a_place.shared &&
           !product->window.size && !product->y_place.shared && !product->adds;
}

int64_t pdnn_batched_few_scratch(const struct pdnn_batched_few_job *job, int64_t threads);

/* For such products. The elements of y that are written must not overlap a or b. */
void pdnn_batched_few_run(const struct pdnn_batched_few_job *job, int64_t threads);

#endif
