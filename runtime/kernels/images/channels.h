/* Activations of convolutional networks as kernels see them, in any of the layouts that a backend chooses,
 * and how threads walk through one: in chunks of neighbouring channels, each a number of rows. N minibatch, C
 * channels. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNELS_H
#define RUNTIME_KERNELS_IMAGES_CHANNELS_H

#include "runtime/kernels/simd/team.h"

#include <stdbool.h>
#include <stdint.h>

/* Stored as [N][ceil(C / block)][pixels][block], block at least 1: 1 is the plain layout, C channels-last.
 * Channels past C are 0, and kernels write 0 there. */
struct pdnn_channels {
    int64_t N, C, pixels, block;
};

/* Channels with those of the padding. */
static inline int64_t pdnn_channels_padded(const struct pdnn_channels *shape) {
    return (shape->C + shape->block - 1) / shape->block * shape->block;
}

static inline int64_t pdnn_channels_elements(const struct pdnn_channels *shape) {
    return shape->N * pdnn_channels_padded(shape) * shape->pixels;
}

/* Whether streaming stores can write it: each row of channels then begins 16-byte aligned. */
static inline bool pdnn_channels_can_bypass(const struct pdnn_channels *shape) {
    const int64_t floats_of_a_store = 4;
    return shape->block % floats_of_a_store == 0;
}

/* `planes` times `count` rows of `width` neighbouring channels, one row per pixel. */
struct pdnn_rows {
    int64_t planes, plane_stride;
    int64_t count, stride;
    int64_t width;
};

/* A tensor as chunks: the rows of chunk k begin at k * stride. */
struct pdnn_chunks {
    int64_t count, stride;
    struct pdnn_rows rows;
};

struct pdnn_chunks pdnn_chunks_of(const struct pdnn_channels *shape);

/* Some of a chunk's rows: where they begin in the tensor, and how many pixels they are. */
struct pdnn_chunk_tile {
    int64_t offset, pixels;
    struct pdnn_rows rows;
};

/* The first tile of the pixels [span.begin, span.end) of a chunk, counted through all its planes: a few
 * hundred rows, so few that sums of them in float are exact enough. */
struct pdnn_chunk_tile pdnn_chunk_tile_first(const struct pdnn_chunks *chunks, int64_t chunk,
                                             struct pdnn_span span);

/* What a kernel does with each chunk: sums over its pixels, in parts; then something with the sums of all
 * parts; then something with the pixels again. */
struct pdnn_chunk_kernel {
    void (*gather)(void *job, int64_t chunk, struct pdnn_span pixels, int64_t part); /* may be NULL */
    void (*finish)(void *job, int64_t chunk, struct pdnn_span parts);
    void (*apply)(void *job, int64_t chunk, struct pdnn_span pixels); /* may be NULL */
};

struct pdnn_chunk_run {
    const struct pdnn_chunks *chunks;
    int64_t arrays;       /* how many tensors of this shape the kernel goes through at once */
    uint64_t cache_bytes; /* of the last-level cache, shared by all threads */
};

/* Threads share out the chunks or, where those are few or too large, the pixels of each. Parts are numbered
 * below `threads`. The order of additions depends on the shape, on threads and on the size of the cache. */
void pdnn_chunks_run(const struct pdnn_chunk_kernel *kernel, void *job, const struct pdnn_chunk_run *run,
                     int64_t threads);

/* Writes 0 into the padding of an activation whose other values are as they should be. */
void pdnn_channels_clear_padding(float *y, const struct pdnn_channels *shape, int64_t threads);

#endif
