/* A convolution in groups of four channels that give four, in f32, on images in every layout of channels.h,
 * and the gradient of its images, which is such a convolution too. N minibatch, C channels, a multiple of 16,
 * H W input, P Q output, R S kernel. The gradient of its weights: depthwise.h. */
#ifndef RUNTIME_KERNELS_IMAGES_GROUPED_H
#define RUNTIME_KERNELS_IMAGES_GROUPED_H

#include "runtime/kernels/images/windows.h"

struct pdnn_grouped {
    /* From what the pass reads to what it writes. The gradient has taps in reverse order: their padding is
     * what a window has beyond the forward pass's; and, where that has strides, `input` counts rows of zeros
     * between those that there are, one of which is at every `spread`. */
    struct pdnn_depthwise images;
    int64_t row_spread, column_spread;
    bool is_gradient;
};

/* The most rows of a kernel. */
enum { PDNN_GROUPED_ROWS = 7 };

int64_t pdnn_grouped_scratch(const struct pdnn_grouped *job, int64_t threads); /* floats */

/* y = the convolution of x (N, C, H, W) with w (C, 4, R, S), or x = dy and y = dx. */
void pdnn_grouped_run(const struct pdnn_grouped *job, const float *x, const float *w, float *y,
                      float *scratch, int64_t threads);

#endif
