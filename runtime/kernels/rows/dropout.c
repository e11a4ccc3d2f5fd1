#include "runtime/kernels/rows/dropout.h"

#include "runtime/kernels/rows/dropout_mask.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

/* Results are computed a BLOCK at a time in L1. With streaming stores, x is prefetched AHEAD floats ahead,
 * because the hardware prefetcher stops at each block. */
enum { GRAIN = 1024, BLOCK = PDNN_MASK_BLOCK, AHEAD = 1024, LINE = 16 };

static void mask_block(const struct pdnn_dropout *job, int64_t first, float *y, int64_t n) {
    float factor[BLOCK];
    const struct pdnn_mask mask = pdnn_mask_of(job->seed, job->percent);
    const float *x = job->x + first;
    pdnn_mask_factors(&mask, first, factor, n);
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * factor[i];
}

static void run_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_dropout *job = work;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    int64_t i = span.begin;
    for (; job->bypass && i + AHEAD + BLOCK <= span.end; i += BLOCK) {
        float block[BLOCK];
        mask_block(job, i, block, BLOCK);
        for (int64_t k = 0; k < BLOCK; k += LINE) {
            __builtin_prefetch(job->x + i + AHEAD + k);
            pdnn_bypass_copy(job->y + i + k, block + k, LINE);
        }
    }
    for (; i < span.end; i += BLOCK)
        mask_block(job, i, job->y + i, span.end - i < BLOCK ? span.end - i : BLOCK);
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_dropout_run, (const struct pdnn_dropout *job, int64_t threads), (job, threads)) {
    struct pdnn_dropout copy = *job;
    pdnn_team_run(threads, job->elements, run_part, &copy);
}
