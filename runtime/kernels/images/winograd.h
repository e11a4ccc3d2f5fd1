/* A convolution with 3x3 kernels that move by one pixel, in f32, by Winograd's F(4x4, 3x3) (Lavin and Gray,
 * 2016): tiles of 4x4 outputs from 6x6 inputs, transformed to 36 points at each of which all tiles are one
 * matrix product over the channels: 36 multiplications where a direct convolution has 144. Its gradient by
 * the images is such a convolution too. N minibatch, C channels, H W input, O P Q output. Errors are those of
 * products of the transformed values: about ten times as large as of a direct convolution. */
#ifndef RUNTIME_KERNELS_IMAGES_WINOGRAD_H
#define RUNTIME_KERNELS_IMAGES_WINOGRAD_H

#include <stdbool.h>
#include <stdint.h>

/* One side of the convolution: images (N, C, H, W) in blocks of channels, as in struct pdnn_channels. */
struct pdnn_winograd_images {
    int64_t channels, block, rows, columns;
};

/* Where weights (O, C, 3, 3) lie: o / o_block * o_step + o % o_block + c / c_block * c_step + c % c_block *
 * c_inner + tap * tap_step. */
struct pdnn_winograd_weights {
    int64_t o_block, o_step, c_block, c_step, c_inner, tap_step;
};

struct pdnn_winograd {
    int64_t N;
    struct pdnn_winograd_images from, to;
    int64_t top, left; /* padding, 0 to 2 */
    struct pdnn_winograd_weights weights;
    bool is_gradient; /* from has O channels, to has C, and taps are in reverse order */
};

/* Whether the kernels of the level in force can run it: whole vectors of channels on both sides. */
bool pdnn_winograd_fits(const struct pdnn_winograd *job);

/* Floats of the transformed weights u, and of what a run works in. */
int64_t pdnn_winograd_weights_floats(const struct pdnn_winograd *job);
int64_t pdnn_winograd_scratch(const struct pdnn_winograd *job, int64_t threads);

/* u: w at the points. Both u and the scratch of a run are 64-byte aligned. */
void pdnn_winograd_transform(const struct pdnn_winograd *job, const float *w, float *u, int64_t threads);

/* What is done to results before they are written: to + bias (channels) + summand (like y), then max(0, y).
 */
struct pdnn_winograd_end {
    const float *bias, *summand; /* or NULL; the summand may be y */
    bool is_relu;
};

/* y = the convolution of x with the weights of which u is made. */
void pdnn_winograd_run(const struct pdnn_winograd *job, const float *x, const float *u, float *y,
                       const struct pdnn_winograd_end *end, float *scratch, int64_t threads);

#endif
