/* Whether a convolution runs in the library or on a kernel of ours, by measuring. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_TUNE_H

#include "runtime/backends/onednn/compile.h"

/* What is measured, by whoever describes the kernel. */
struct pdnn_onednn_conv2d_question {
    int64_t images, elements; /* elements of an image, in what is read and what is written together */
    bool keeps_weights;       /* of Winograd's algorithm */
    struct pdnn_tune_key key; /* of the shape but for the number of images */
};

/* Whether our kernel takes at most nine tenths of the library's time. */
enum pdnn_status pdnn_onednn_conv2d_choose(const struct pdnn_onednn_compile *compile,
                                           const struct pdnn_node *node,
                                           const struct pdnn_onednn_conv2d_question *question, bool *is_own,
                                           struct pdnn_err *err);

#endif
