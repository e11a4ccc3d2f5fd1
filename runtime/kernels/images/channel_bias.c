#include "runtime/kernels/images/channel_bias.h"

#include "runtime/kernels/images/channel_loops.h"
#include "runtime/kernels/simd/kernel.h"

#include <math.h>
#include <string.h>

struct bias {
    const struct pdnn_channel_bias *job;
    struct pdnn_chunks chunks;
    const struct pdnn_channel_sums *sums;
    const struct pdnn_channel_maps *maps;
    int64_t padded;             /* channels with padding */
    double *total;              /* gradient: (parts, padded) */
    float *tile;                /* gradient: (parts, 2, padded) */
    float *zero, *one, *values; /* (padded). Forward: center, scale and shift */
};

PDNN_KERNEL_VALUE(int64_t, pdnn_channel_bias_scratch, (const struct pdnn_channels *shape, int64_t threads),
                  (shape, threads)) {
    return pdnn_channels_padded(shape) * (2 * threads + 2);
}

static struct bias lay_out(const struct pdnn_channel_bias *job, int64_t threads) {
    struct bias bias = {.job = job, .padded = pdnn_channels_padded(&job->shape), .total = job->scratch};
    bias.chunks = pdnn_chunks_of(&job->shape);
    bias.sums = PDNN_HERE(pdnn_channel_sums)(bias.chunks.rows.width);
    bias.maps = PDNN_HERE(pdnn_channel_maps)(bias.chunks.rows.width);
    bias.tile = (float *)(bias.total + threads * bias.padded);
    bias.zero = bias.tile + 2 * threads * bias.padded;
    bias.one = bias.zero + bias.padded;
    bias.values = bias.one + bias.padded;
    for (int64_t c = 0; c < bias.padded; c++) {
        bias.zero[c] = 0;
        bias.one[c] = 1;
        bias.values[c] = job->b && c < job->shape.C ? job->b[c] : 0;
    }
    return bias;
}

static void add(void *work, int64_t chunk, struct pdnn_span span, int64_t part) {
    (void)part;
    const struct bias *bias = work;
    const struct pdnn_channel_bias *job = bias->job;
    int64_t first = chunk * bias->chunks.rows.width;
    bool bypass = job->bypass && pdnn_channels_can_bypass(&job->shape);
    const struct pdnn_affine affine = {bias->zero + first, bias->one + first, bias->values + first,
                                       pdnn_unbounded,     pdnn_unbounded,    bypass};
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&bias->chunks, chunk, span);
        bias->maps->affine(job->x + tile.offset, NULL, job->y + tile.offset, &tile.rows, &affine);
        span.begin += tile.pixels;
    }
}

PDNN_KERNEL(pdnn_channel_bias_forward, (const struct pdnn_channel_bias *job, int64_t threads),
            (job, threads)) {
    static const struct pdnn_chunk_kernel kernel = {NULL, NULL, add};
    struct bias bias = lay_out(job, threads);
    struct pdnn_chunk_run run = {&bias.chunks, 2, 0};
    pdnn_chunks_run(&kernel, &bias, &run, threads);
}

static void gather(void *work, int64_t chunk, struct pdnn_span span, int64_t part) {
    struct bias *bias = work;
    int64_t width = bias->chunks.rows.width, first = chunk * width;
    double *total = bias->total + part * bias->padded + first;
    float *sums = bias->tile + part * 2 * bias->padded;
    memset(total, 0, (size_t)width * sizeof *total);
    while (span.begin < span.end) {
        struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(&bias->chunks, chunk, span);
        /* The squares come for free: the loop is memory-bound. */
        bias->sums->moments(bias->job->x + tile.offset, &tile.rows, bias->zero + first, sums);
        for (int64_t i = 0; i < width; i++)
            total[i] += (double)sums[i];
        span.begin += tile.pixels;
    }
}

static void finish(void *work, int64_t chunk, struct pdnn_span parts) {
    struct bias *bias = work;
    int64_t begin = chunk * bias->chunks.rows.width, end = begin + bias->chunks.rows.width;
    for (int64_t c = begin; c < end && c < bias->job->shape.C; c++) {
        double sum = 0;
        for (int64_t part = parts.begin; part < parts.end; part++)
            sum += bias->total[part * bias->padded + c];
        bias->job->db[c] = (float)sum;
    }
}

PDNN_KERNEL(pdnn_channel_bias_gradient, (const struct pdnn_channel_bias *job, int64_t threads),
            (job, threads)) {
    static const struct pdnn_chunk_kernel kernel = {gather, finish, NULL};
    struct bias bias = lay_out(job, threads);
    struct pdnn_chunk_run run = {&bias.chunks, 1, 0};
    pdnn_chunks_run(&kernel, &bias, &run, threads);
}
