/* What the attributes and coefficients of an op's nodes mean, for the ops that families and backends set or
 * read them of: indices into pdnn_node.attr and pdnn_node.coef, in the order of the op's attr_names and
 * coef_names. */
#ifndef MODELS_ATTRIBUTES_H
#define MODELS_ATTRIBUTES_H

enum {
    PDNN_CONV2D_STRIDE_H,
    PDNN_CONV2D_STRIDE_W,
    PDNN_CONV2D_PADDING_H, /* zeros on each side */
    PDNN_CONV2D_PADDING_W,
};

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

/* 1: statistics of the minibatch, and running ones updated; 0: the running ones. */
enum { PDNN_BATCHNORM_TRAIN };

enum { PDNN_BATCHNORM_EPSILON, PDNN_BATCHNORM_MOMENTUM }; /* coefficients */

#endif
