/* The gradient of the weights of a convolution in which every channel has a kernel of its own, or every group
 * of four channels gives four, in f32, on images in every layout of channels.h. N minibatch, C channels, H W
 * input, P Q output, R S kernel. */
#ifndef RUNTIME_KERNELS_IMAGES_DEPTHWISE_H
#define RUNTIME_KERNELS_IMAGES_DEPTHWISE_H

#include "runtime/kernels/images/windows.h"

int64_t pdnn_depthwise_scratch(const struct pdnn_depthwise *job, int64_t threads); /* floats */

/* dw = sum over images and outputs of x * dy; db (C), the sum of dy, may be NULL. x (N, C, H, W), dy (N, C,
 * P, Q). Every sum has the same order for any number of threads. */
void pdnn_depthwise_weights(const struct pdnn_depthwise *job, const float *x, const float *dy, float *dw,
                            float *db, float *scratch, int64_t threads);

#endif
