/* Image activations as kernels see them, in any layout a backend chooses, and how threads traverse them: in
 * chunks of neighbouring channels, each a set of rows. N minibatch, C channels. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNELS_H
#define RUNTIME_KERNELS_IMAGES_CHANNELS_H

#include "base/half.h"
#include "runtime/kernels/simd/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stored as [N][ceil(C / block)][pixels][block]. block = 1 is the plain layout, block = C channels-last.
 * Padding channels are 0, and kernels keep them 0. */
struct pdnn_channels {
    int64_t N, C, pixels, block;
    enum pdnn_stored stored; /* heeded by kernels that say so */
};

/* Number of channels with padding. */
static inline int64_t pdnn_channels_padded(const struct pdnn_channels *shape) {
    return (shape->C + shape->block - 1) / shape->block * shape->block;
}

static inline int64_t pdnn_channels_elements(const struct pdnn_channels *shape) {
    return shape->N * pdnn_channels_padded(shape) * shape->pixels;
}

/* Whether streaming stores can write this layout: every row of channels is 16-byte aligned. */
static inline bool pdnn_channels_can_bypass(const struct pdnn_channels *shape) {
    const int64_t floats_of_a_store = 4;
    return shape->block % floats_of_a_store == 0;
}

/* `planes` times `count` rows of `width` neighbouring channels; one row is one pixel. */
struct pdnn_rows {
    int64_t planes, plane_stride;
    int64_t count, stride;
    int64_t width;
};

/* A tensor as chunks: the rows of chunk k begin at k * stride. */
struct pdnn_chunks {
    int64_t count, stride;
    struct pdnn_rows rows;
    enum pdnn_stored stored;
};

struct pdnn_chunks pdnn_chunks_of(const struct pdnn_channels *shape);

/* Part of a chunk: where it starts in the tensor, how many pixels it has, and its rows. */
struct pdnn_chunk_tile {
    int64_t offset, pixels;
    struct pdnn_rows rows;
};

/* The first tile of pixels [span.begin, span.end) of a chunk, counted across all its planes. A tile has a few
 * hundred rows, few enough to sum in float; of 16-bit elements, few enough for the private caches, widened.
 */
struct pdnn_chunk_tile pdnn_chunk_tile_first(const struct pdnn_chunks *chunks, int64_t chunk,
                                             struct pdnn_span span);

/* The most elements of a tile. */
int64_t pdnn_chunk_tile_elements(const struct pdnn_chunks *chunks);

/* What a kernel does with each chunk: gather sums over its pixels, in parts; finish from the sums of all
 * parts; apply the result to the pixels. Each may be NULL. */
struct pdnn_chunk_kernel {
    void (*gather)(void *job, int64_t chunk, struct pdnn_span pixels, int64_t part);
    void (*finish)(void *job, int64_t chunk, struct pdnn_span parts);
    void (*apply)(void *job, int64_t chunk, struct pdnn_span pixels, int64_t part);
};

struct pdnn_chunk_run {
    const struct pdnn_chunks *chunks;
    int64_t arrays;       /* tensors of this shape that the kernel traverses at once */
    uint64_t cache_bytes; /* of the last-level cache, shared by all threads */
};

/* Threads share the chunks or, when chunks are few or too large, the pixels of each. Parts are numbered below
 * `threads`. The summation order depends on the shape, the number of threads and the cache size. */
void pdnn_chunks_run(const struct pdnn_chunk_kernel *kernel, void *job, const struct pdnn_chunk_run *run,
                     int64_t threads);

/* 0: each thread does whole chunks, all three steps with its own number as part; else how many chunks all
 * threads share at a time, of kernels that gather and apply. */
int64_t pdnn_chunks_shared(const struct pdnn_chunk_run *run, int64_t threads);

/* How many chunks are between gathering from a pixel and applying to it, those of all threads together. */
int64_t pdnn_chunks_at_once(const struct pdnn_chunk_run *run, int64_t threads);

/* An activation that clips: y = min(max(x, low), high); relu is from 0 to infinity. Its gradient is 1 where
 * low < y < high, else 0. */
struct pdnn_bounds {
    float low, high;
};

/* Zeroes the padding channels of an activation, whose elements have `element` bytes. */
void pdnn_channels_clear_padding(void *y, size_t element, const struct pdnn_channels *shape, int64_t threads);

#endif
