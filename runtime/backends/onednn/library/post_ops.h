/* The activations that oneDNN can fuse into a primitive as post-ops: those of the build's list that have a
 * name there. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_POST_OPS_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_POST_OPS_H

#include "runtime/backends/onednn/library/request.h"
#include "runtime/kernels/rows/elementwise.h"

struct pdnn_onednn_activation {
    const struct pdnn_op_def *op;
    enum pdnn_elementwise forward; /* our own kernel; its coefficients are alpha and beta */
    int algorithm;                 /* a dnnl_alg_kind_t */
    float alpha, beta;             /* what it is called with; an op with coefficients: its defaults */
};

/* With the node's coefficients, if the op has any. False if the op is not an activation that oneDNN fuses. */
bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, const double *coef,
                              struct pdnn_onednn_post_op *post_op);

/* Fails with PDNN_UNSUPPORTED: the node's i-th post cannot be fused. */
enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err);

#endif
