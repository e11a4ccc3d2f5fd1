/* Windows that slide over images, a vector of channels at a time: their rows of the image lie in a ring of
 * rows padded with zeros, a vector a pixel whatever the layout, so that no tap needs a test and each pixel is
 * read once. Common to depthwise.c and grouped.c. */
#ifndef RUNTIME_KERNELS_IMAGES_WINDOWS_H
#define RUNTIME_KERNELS_IMAGES_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/* Along one axis: tap t of output i is input i * stride - padding + t * dilation. */
struct pdnn_depthwise_axis {
    int64_t input, output, kernel, stride, padding, dilation;
};

struct pdnn_depthwise {
    int64_t N, C, block; /* of the images, as in struct pdnn_channels */
    struct pdnn_depthwise_axis rows, columns;
    /* dw is (C / weights_block, R*S, weights_block), or (R*S, C / weights_block, weights_block) if taps come
     * first; the last block is padded. */
    int64_t weights_block;
    bool taps_first;
    int64_t group; /* channels of one: 1, or 4, where C is a multiple of 16 and dw is (C, 4, R*S) */
};

#if defined(PDNN_LANES)

#include "runtime/kernels/simd/eights.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* Channels of a group that is more than one channel. */
enum { PDNN_WINDOW_GROUP = 4 };

static inline int64_t pdnn_window_lines(int64_t floats) {
    const int64_t line = 16;
    return (floats + line - 1) / line * line;
}

static inline int64_t pdnn_window_vectors(const struct pdnn_depthwise *job) {
    return (job->C + PDNN_LANES - 1) / PDNN_LANES;
}

/* Rows from a window's first to its last. */
static inline int64_t pdnn_window_rows(const struct pdnn_depthwise *job) {
    return (job->rows.kernel - 1) * job->rows.dilation + 1;
}

/* Pixels of a padded row: all that windows read, and all of the image. */
static inline int64_t pdnn_window_width(const struct pdnn_depthwise *job) {
    const struct pdnn_depthwise_axis *axis = &job->columns;
    const int64_t read = (axis->output - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1,
                  held = axis->padding + axis->input;
    return read > held ? read : held;
}

/* Floats of an image of so many pixels. */
static inline int64_t pdnn_window_plane(const struct pdnn_depthwise *job, int64_t pixels) {
    return (job->C + job->block - 1) / job->block * job->block * pixels;
}

/* Whether a vector of channels lies in one piece of memory, except for lanes that the image has not. */
static inline bool pdnn_window_is_whole(const struct pdnn_depthwise *job) {
    return job->block >= PDNN_LANES && (job->block % PDNN_LANES == 0 || job->block == job->C);
}

/* Where a vector's channel lies in an image. */
static inline int64_t pdnn_window_at(const struct pdnn_depthwise *job, int64_t pixels, int64_t channel) {
    return channel / job->block * pixels * job->block + channel % job->block;
}

/* Copies n pixels of the vector's channels, a vector a pixel, `step` vectors apart. */
static void pdnn_window_copy(const struct pdnn_depthwise *job, const float *plane, int64_t pixels,
                             int64_t first, int64_t channel, int64_t n, float *to, int64_t step) {
    const int64_t block = job->block, lanes = pdnn_least(PDNN_LANES, job->C - channel),
                  apart = step * PDNN_LANES;
    int64_t i = 0;
    pdnn_floats v;
    if (pdnn_window_is_whole(job)) {
        const float *from = plane + pdnn_window_at(job, pixels, channel) + first * block;
        const int64_t held = pdnn_least(PDNN_LANES, block - channel % block);
        for (; i < n; i++) {
            pdnn_load_lanes(&v, from + i * block, held);
            pdnn_store(to + i * apart, &v);
        }
        return;
    }
    for (; block == 1 && lanes == PDNN_LANES && PDNN_LANES >= PDNN_LANES8 && i + PDNN_LANES8 <= n;
         i += PDNN_LANES8)
        for (int64_t k = 0; k < PDNN_LANES; k += PDNN_LANES8)
            pdnn_transpose8(plane + (channel + k) * pixels + first + i, pixels, to + i * apart + k, apart);
    for (int64_t k = i; lanes < PDNN_LANES && k < n; k++)
        memset(to + k * apart, 0, PDNN_LANES * sizeof *to);
    for (int64_t k = 0; k < lanes; k++) {
        const float *from = plane + pdnn_window_at(job, pixels, channel + k) + first * block;
        for (int64_t pixel = i; pixel < n; pixel++)
            to[pixel * apart + k] = from[pixel * block];
    }
}

/* one[k] has the k-th channel of a group of four in all four. */
PDNN_INLINE void pdnn_window_repeat(const pdnn_floats *x, pdnn_floats one[PDNN_WINDOW_GROUP]) {
#if PDNN_LANES == 16
#define PDNN_REPEAT(k) one[k] = _mm512_permute_ps(*x, (k)*0x55)
#elif PDNN_LANES == 8
#define PDNN_REPEAT(k) one[k] = _mm256_permute_ps(*x, (k)*0x55)
#else
#define PDNN_REPEAT(k) one[k] = __builtin_shufflevector(*x, *x, k, k, k, k)
#endif
    PDNN_REPEAT(0);
    PDNN_REPEAT(1);
    PDNN_REPEAT(2);
    PDNN_REPEAT(3);
#undef PDNN_REPEAT
}

#endif

#endif
