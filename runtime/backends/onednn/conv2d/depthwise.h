/* The weight gradient of a convolution in groups of one channel on our own kernel
 * (runtime/kernels/images/depthwise.h), as an alternative to the library's, which is a product over unrolled
 * patches, image by image and channel by channel, where kernels are larger than 3x3. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_DEPTHWISE_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_DEPTHWISE_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/kernels/images/depthwise.h"

/* Fills in the job if the kernel can run the node on the layouts in which its tensors are stored. A bias may
 * be fused. */
bool pdnn_onednn_depthwise_describe(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                                    struct pdnn_depthwise *job);

/* Appends a call that runs the job; 16-bit images as f32 copies. */
void pdnn_onednn_depthwise_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                                  const struct pdnn_depthwise *job);

/* Whether the kernel takes at most nine tenths of the library's time. */
enum pdnn_status pdnn_onednn_depthwise_choose(const struct pdnn_onednn_compile *compile,
                                              const struct pdnn_node *node, const struct pdnn_depthwise *job,
                                              bool *is_own, struct pdnn_err *err);

#endif
