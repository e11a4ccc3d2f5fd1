/* The attributes of pool2d. */
#ifndef MODELS_OPS_POOL2D_H
#define MODELS_OPS_POOL2D_H

enum {
    PDNN_POOL2D_KIND, /* enum pdnn_pool2d_kind */
    PDNN_POOL2D_KERNEL_H,
    PDNN_POOL2D_KERNEL_W,
    PDNN_POOL2D_STRIDE_H,
    PDNN_POOL2D_STRIDE_W,
    PDNN_POOL2D_PADDING_H,
    PDNN_POOL2D_PADDING_W,
    PDNN_POOL2D_TRAIN, /* 1: a maximum also says where it was */
};

enum pdnn_pool2d_kind { PDNN_POOL2D_MAX, PDNN_POOL2D_AVERAGE };

enum { PDNN_POOL2D_TAPS_MAX = 127 }; /* of a maximum in training: the tap's number is an int8 */

#endif
