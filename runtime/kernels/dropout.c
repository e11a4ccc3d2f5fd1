#include "runtime/kernels/dropout.h"

#include "base/rng.h"
#include "runtime/kernels/clones.h"
#include "runtime/kernels/team.h"

#include <string.h>

/* A BLOCK of results is made in L1; AHEAD of it, x is fetched where results go past the caches, since the
 * processor's own prefetching stops at each block. SHARED elements take their bits from one random number. */
enum { GRAIN = 1024, BLOCK = 256, AHEAD = 1024, LINE = 16, SHARED = 4 };

/* The bits of a number's elements lie in memory in their order, or in reverse. */
enum { FLIP = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? SHARED - 1 : 0 };

/* Numbers first, several at a time, then what becomes of each element: a loop over both would not
 * vectorize. */
PDNN_CLONES static void mask_block(const struct pdnn_dropout *job, int64_t first, float *y, int64_t n) {
    uint64_t numbers[BLOCK / SHARED];
    uint16_t bits[BLOCK];
    const float *x = job->x + first;
    int64_t least = job->percent * 65536 / 100;
    float kept = (float)(100.0 / (double)(100 - job->percent));
#pragma omp simd
    for (int64_t i = 0; i < BLOCK / SHARED; i++)
        numbers[i] = pdnn_rng_at(job->seed, (uint64_t)(first / SHARED + i));
    memcpy(bits, numbers, sizeof bits);
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * ((int32_t)bits[i ^ FLIP] >= (int32_t)least ? kept : 0);
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

void pdnn_dropout_run(const struct pdnn_dropout *job, int64_t threads) {
    struct pdnn_dropout copy = *job;
    pdnn_team_run(threads, job->elements, run_part, &copy);
}
