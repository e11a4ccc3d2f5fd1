#include "runtime/kernels/rows/dropout.h"

#include "runtime/kernels/rows/dropout_mask.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* Results are computed a BLOCK at a time in L1. With streaming stores, x is prefetched AHEAD floats ahead,
 * because the hardware prefetcher stops at each block. */
enum { GRAIN = 1024, BLOCK = PDNN_MASK_BLOCK, AHEAD = 1024, LINE = 16, CHANNELS = 16 };

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

/* Some pixels of some channels of a block, whose factors are computed channel by channel. Padding stays 0. */
static void mask_pixels(const struct pdnn_dropout *job, int64_t plane, int64_t channel, int64_t first,
                        int64_t n) {
    float factor[CHANNELS][BLOCK];
    const struct pdnn_mask mask = pdnn_mask_of(job->seed, job->percent);
    const struct pdnn_channels *images = &job->images;
    int64_t blocks = pdnn_channels_padded(images) / images->block, block = images->block;
    int64_t width = pdnn_least(CHANNELS, block - channel);
    int64_t at = (plane * images->pixels + first) * block + channel;
    for (int64_t k = 0; k < width; k++) {
        int64_t c = plane % blocks * block + channel + k;
        int64_t place = (plane / blocks * images->C + c) * images->pixels + first;
        if (c < images->C)
            pdnn_mask_factors(&mask, place, factor[k], n);
        else
            memset(factor[k], 0, (size_t)n * sizeof *factor[k]);
    }
    for (int64_t p = 0; p < n; p++)
        for (int64_t k = 0; k < width; k++)
            job->y[at + p * block + k] = job->x[at + p * block + k] * factor[k][p];
}

static void images_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_dropout *job = work;
    const struct pdnn_channels *images = &job->images;
    int64_t planes = images->N * pdnn_channels_padded(images) / images->block;
    struct pdnn_span span = pdnn_span_of(planes * images->pixels, 1, index, parts);
    while (span.begin < span.end) {
        int64_t plane = span.begin / images->pixels, first = span.begin % images->pixels;
        int64_t n = pdnn_least(pdnn_least(BLOCK, images->pixels - first), span.end - span.begin);
        for (int64_t channel = 0; channel < images->block; channel += CHANNELS)
            mask_pixels(job, plane, channel, first, n);
        span.begin += n;
    }
}

PDNN_KERNEL(pdnn_dropout_run, (const struct pdnn_dropout *job, int64_t threads), (job, threads)) {
    struct pdnn_dropout copy = *job;
    pdnn_team_run(threads, job->elements, job->images.block ? images_part : run_part, &copy);
}
