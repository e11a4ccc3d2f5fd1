/* Max and average pooling over images in f32, in every layout of channels.h. N minibatch, C channels, H W
 * input height and width, P Q output height and width. */
#ifndef RUNTIME_KERNELS_IMAGES_POOL_H
#define RUNTIME_KERNELS_IMAGES_POOL_H

#include <stdint.h>

/* Windows along one axis: output i reads `kernel` inputs starting at i * stride - padding. Inputs outside [0,
 * input) do not count; every output has at least one that does. */
struct pdnn_pool_window {
    int64_t input, output, kernel, stride, padding;
};

struct pdnn_pool {
    int64_t N, C, block; /* of input and output, as in struct pdnn_channels */
    struct pdnn_pool_window rows, columns;
};

/* index (N, C, P, Q), may be NULL: the tap of the window where the maximum was first, as row * columns.kernel
 * + column, at most 127. As in PyTorch, a window with a NaN gives NaN and the tap of its last NaN, so a tap
 * is compared with itself and with the maximum so far, in any order. */
void pdnn_pool_max_forward(const struct pdnn_pool *pool, const float *x, float *y, int8_t *index,
                           int64_t threads);
void pdnn_pool_max_backward(const struct pdnn_pool *pool, const float *dy, const int8_t *index, float *dx,
                            int64_t threads);

/* Averages over the inputs that count: padding is excluded. */
void pdnn_pool_average_forward(const struct pdnn_pool *pool, const float *x, float *y, int64_t threads);
void pdnn_pool_average_backward(const struct pdnn_pool *pool, const float *dy, float *dx, int64_t threads);

#endif
