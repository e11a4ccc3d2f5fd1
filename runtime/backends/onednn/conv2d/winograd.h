/* Convolutions on our own Winograd kernel (runtime/kernels/images/winograd.h): forward passes and gradients
 * of images in f32, with what is fused with them. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_WINOGRAD_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_WINOGRAD_H

#include "runtime/backends/onednn/conv2d/implementations.h"
#include "runtime/backends/onednn/conv2d/tune.h"
#include "runtime/kernels/images/winograd.h"

/* Fills in the job if the kernel can run it on the layouts in which its tensors are stored. */
bool pdnn_onednn_winograd_describe(const struct pdnn_onednn_compile *compile,
                                   const struct pdnn_onednn_conv2d *convolution, struct pdnn_winograd *job);

/* Whether its transformed weights are kept from step to step: nothing changes them, as in inference. */
bool pdnn_onednn_winograd_keeps(const struct pdnn_onednn_compile *compile,
                                const struct pdnn_onednn_conv2d *convolution);

struct pdnn_onednn_conv2d_question pdnn_onednn_winograd_question(const struct pdnn_onednn_compile *compile,
                                                                 const struct pdnn_onednn_conv2d *convolution,
                                                                 const struct pdnn_winograd *job);

/* Appends a call that runs the job. */
void pdnn_onednn_winograd_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                                 const struct pdnn_onednn_conv2d *convolution,
                                 const struct pdnn_winograd *job);

#endif
