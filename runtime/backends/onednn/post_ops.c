#include "runtime/backends/onednn/post_ops.h"

#include "models/op.h"

/* Only the ops that are functions. */
static const struct pdnn_op_def *const ops[PDNN_ONEDNN_POST_OP_COUNT] = {
    [PDNN_ONEDNN_RELU] = &pdnn_op_relu,           [PDNN_ONEDNN_SIGMOID] = &pdnn_op_sigmoid,
    [PDNN_ONEDNN_TANH] = &pdnn_op_tanh,           [PDNN_ONEDNN_GELU] = &pdnn_op_gelu,
    [PDNN_ONEDNN_GELU_TANH] = &pdnn_op_gelu_tanh,
};

bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, enum pdnn_onednn_post_op *function) {
    for (int i = 0; i < PDNN_ONEDNN_POST_OP_COUNT; i++) {
        if (ops[i] == op) {
            *function = (enum pdnn_onednn_post_op)i;
            return true;
        }
    }
    return false;
}

const char *pdnn_onednn_post_op_name(enum pdnn_onednn_post_op post_op) {
    return ops[post_op] ? ops[post_op]->name : "sum";
}

enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: %s %s cannot take %s as post-op %d; use fuse=none",
                     node->op->name, pdnn_pass_name(node->pass), node->posts[i].op->name, i + 1);
}
