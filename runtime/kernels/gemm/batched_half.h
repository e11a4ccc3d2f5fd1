/* The products of batched.h on 16-bit elements: in f32, of copies of some rows of one head at a time, which
 * stay in a core's caches. */
#ifndef RUNTIME_KERNELS_GEMM_BATCHED_HALF_H
#define RUNTIME_KERNELS_GEMM_BATCHED_HALF_H

#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/half.h"

struct pdnn_batched_half_job {
    struct pdnn_batched_job product; /* without a, b, y and scratch */
    enum pdnn_half type;
    const uint16_t *a, *b;
    uint16_t *y;
    float *scratch; /* pdnn_batched_half_scratch floats, 64-byte aligned */
};

int64_t pdnn_batched_half_scratch(const struct pdnn_batched_job *product, int64_t threads);

void pdnn_batched_half_run(const struct pdnn_batched_half_job *job, int64_t threads);

#endif
