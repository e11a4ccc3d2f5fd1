#include "runtime/backends/onednn/library/post_ops.h"

#include "models/op.h"

#include <dnnl.h>

#define ROW(name, NAME, algorithm, alpha, beta)                                                              \
    {&pdnn_op_##name, PDNN_##NAME##_FORWARD, dnnl_eltwise_##algorithm, alpha, beta},
static const struct pdnn_onednn_activation activations[] = {PDNN_POST_OPS(ROW)};

bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, const double *coef,
                              struct pdnn_onednn_post_op *post_op) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        const struct pdnn_onednn_activation *row = &activations[i];
        if (row->op != op)
            continue;
        bool has_coefs = op->attributes[0].coefficient;
        *post_op = (struct pdnn_onednn_post_op){row, has_coefs ? (float)coef[0] : row->alpha,
                                                has_coefs ? (float)coef[1] : row->beta};
        return true;
    }
    return false;
}

enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: %s %s cannot take %s as post-op %d; use fuse=none",
                     node->op->name, pdnn_pass_name(node->pass), node->posts[i].op->name, i + 1);
}
