/* Means and sums of squared distances from them, channel by channel: in float over a tile and in double over
 * tiles (channels.h), and how those of parts are merged. Chan, Golub, LeVeque, Updating formulae and a
 * pairwise algorithm for computing sample variances, 1979. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNEL_MOMENTS_H
#define RUNTIME_KERNELS_IMAGES_CHANNEL_MOMENTS_H

#include "runtime/kernels/images/channel_loops.h"

#include <string.h>

/* Arrays of a value for each channel of a row. */
struct pdnn_moments {
    double *mean, *square;
};

/* Of `more_count` and `count` values; `to` gets those of both. */
PDNN_INLINE void pdnn_moments_join(struct pdnn_moments to, struct pdnn_moments more, int64_t width,
                                   double more_count, double count) {
    const double share = more_count / (count + more_count);
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        const double delta = more.mean[i] - to.mean[i];
        to.mean[i] += delta * share;
        to.square[i] += more.square[i] + delta * delta * count * share;
    }
}

/* Merges sums of `count` values, relative to center, with what `before` values had. */
static void pdnn_moments_add(struct pdnn_moments to, const float *center, const float *sums, int64_t width,
                             double count, double before) {
    const double share = count / (before + count), inverse = 1 / count;
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        const double sum = (double)sums[i], offset = sum * inverse;
        const double delta = (double)center[i] + offset - to.mean[i];
        to.mean[i] += delta * share;
        to.square[i] += (double)sums[width + i] - sum * offset + delta * delta * before * share;
    }
}

/* Of some pixels of a chunk. `room` has 3 floats for each channel and, for 16-bit elements, a tile. Centers
 * each tile on the mean so far (the first tile on its own mean), so that the squares are never much larger
 * than the variance, wherever the mean is. */
static void pdnn_moments_gather(struct pdnn_moments to, const void *x, const struct pdnn_chunks *chunks,
                                int64_t chunk, struct pdnn_span span, float *room) {
    const struct pdnn_channel_sums *loops = PDNN_HERE(pdnn_channel_sums)(chunks->rows.width);
    const int64_t width = chunks->rows.width;
    int64_t done = 0;
    float *sums = room, *center = room + 2 * width;
    memset(to.mean, 0, (size_t)width * sizeof *to.mean);
    memset(to.square, 0, (size_t)width * sizeof *to.square);
    memset(center, 0, (size_t)width * sizeof *center);
    while (span.begin < span.end) {
        const struct pdnn_chunk_tile tile = pdnn_chunk_tile_first(chunks, chunk, span);
        const struct pdnn_rows rows = pdnn_tile_rows(&tile, chunks->stored);
        const float *floats = pdnn_tile_read(x, &tile, chunks->stored, center + width);
        if (done == 0)
            loops->moments(floats, &rows, center, sums);
        for (int64_t i = 0; i < width; i++)
            center[i] = done ? (float)to.mean[i] : sums[i] / (float)tile.pixels;
        loops->moments(floats, &rows, center, sums);
        pdnn_moments_add(to, center, sums, width, (double)tile.pixels, (double)done);
        done += tile.pixels;
        span.begin += tile.pixels;
    }
}

#endif
