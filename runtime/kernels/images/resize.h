/* Images of another height and width, and their gradient, in every layout (models/ops/resize.c has the
 * formulas). */
#ifndef RUNTIME_KERNELS_IMAGES_RESIZE_H
#define RUNTIME_KERNELS_IMAGES_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

/* x (N, C, H, W) and y (N, C, P, Q) as planes of pixels: block neighbouring channels, or one. Backward: dx
 * and dy. */
struct pdnn_resize {
    int64_t planes, block, H, W, P, Q;
    bool bilinear;
    bool bypass; /* forward: streaming stores, for results larger than the caches; y is 64-byte aligned */
};

void pdnn_resize_forward(const struct pdnn_resize *job, const float *x, float *y, int64_t threads);
void pdnn_resize_backward(const struct pdnn_resize *job, const float *dy, float *dx, int64_t threads);

#endif
