/* The attributes of conv2d. */
#ifndef MODELS_OPS_CONV2D_H
#define MODELS_OPS_CONV2D_H

enum {
    PDNN_CONV2D_STRIDE_H,
    PDNN_CONV2D_STRIDE_W,
    PDNN_CONV2D_PADDING_H,
    PDNN_CONV2D_PADDING_W,
};

#endif
