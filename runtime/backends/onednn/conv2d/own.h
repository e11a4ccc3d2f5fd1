/* Convolutions on our own kernels (runtime/kernels/images/depthwise.h and grouped.h), as an alternative to
 * the library's, which are products over unrolled patches, image by image and group by group: the weight
 * gradients of groups of one channel where kernels are larger than 3x3, and all passes of groups of four
 * channels. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_OWN_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_OWN_H

#include "runtime/backends/onednn/conv2d/tune.h"
#include "runtime/kernels/images/grouped.h"

/* Fills in the job if a kernel can run the node on the layouts in which its tensors are stored. A bias may be
 * fused with the gradient of weights, of which job->images are x and dy. */
bool pdnn_onednn_own_describe(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                              struct pdnn_grouped *job);

/* Appends a call that runs the job; 16-bit operands as f32 copies. */
void pdnn_onednn_own_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                            const struct pdnn_grouped *job);

struct pdnn_onednn_conv2d_question pdnn_onednn_own_question(const struct pdnn_node *node,
                                                            const struct pdnn_grouped *job);

#endif
