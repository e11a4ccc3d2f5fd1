/* The gradient of the weights of a convolution in which every channel has a kernel of its own, in f32, on
 * images in every layout of channels.h. N minibatch, C channels, H W input, P Q output, R S kernel. */
#ifndef RUNTIME_KERNELS_IMAGES_DEPTHWISE_H
#define RUNTIME_KERNELS_IMAGES_DEPTHWISE_H

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
};

int64_t pdnn_depthwise_scratch(const struct pdnn_depthwise *job, int64_t threads); /* floats */

/* dw = sum over images and outputs of x * dy; db (C), the sum of dy, may be NULL. x (N, C, H, W), dy (N, C,
 * P, Q). Every sum has the same order for any number of threads. */
void pdnn_depthwise_weights(const struct pdnn_depthwise *job, const float *x, const float *dy, float *dw,
                            float *db, float *scratch, int64_t threads);

#endif
