/* What convolutions and transposed convolutions have in common. A transposed one is a convolution backward:
 * it turns a dy into a dx, and its gradient of dy is the convolution forward. So their nodes have the same
 * operands in the same order, attributes and weights, and only the passes change roles.
 * Attributes that are 1 unless a family gives them, groups and dilations, are 0 in nodes, so that their
 * shapes show only what differs from a plain convolution. */
#ifndef MODELS_CONV2D_H
#define MODELS_CONV2D_H

#include "models/attributes.h"
#include "models/op.h"

static inline bool pdnn_conv2d_is(const struct pdnn_op_def *op) {
    return op == &pdnn_op_conv2d || op == &pdnn_op_conv_transpose2d;
}

/* The pass of a convolution that the node is. */
static inline enum pdnn_pass pdnn_conv2d_pass(const struct pdnn_node *node) {
    if (node->op != &pdnn_op_conv_transpose2d || node->pass == PDNN_BACKWARD_WEIGHTS)
        return node->pass;
    return node->pass == PDNN_FORWARD ? PDNN_BACKWARD_DATA : PDNN_FORWARD;
}

static inline int64_t pdnn_conv2d_attr_or_one(const struct pdnn_node *node, int attr) {
    return node->attr[attr] ? node->attr[attr] : 1;
}

/* Output channels are in so many groups, and each reads the input channels of its own. */
static inline int64_t pdnn_conv2d_groups(const struct pdnn_node *node) {
    return pdnn_conv2d_attr_or_one(node, PDNN_CONV2D_GROUPS);
}

/* The distance from one tap to the next; 1: taps are adjacent. */
static inline int64_t pdnn_conv2d_dilation_h(const struct pdnn_node *node) {
    return pdnn_conv2d_attr_or_one(node, PDNN_CONV2D_DILATION_H);
}

static inline int64_t pdnn_conv2d_dilation_w(const struct pdnn_node *node) {
    return pdnn_conv2d_attr_or_one(node, PDNN_CONV2D_DILATION_W);
}

#endif
