#include "runtime/backends/onednn/post_ops.h"

#include "models/op.h"

bool pdnn_onednn_post_op_find(const struct pdnn_op_def *op, enum pdnn_onednn_post_op *function) {
    static const struct {
        const struct pdnn_op_def *op;
        enum pdnn_onednn_post_op function;
    } rows[] = {
        {&pdnn_op_relu, PDNN_ONEDNN_RELU},           {&pdnn_op_sigmoid, PDNN_ONEDNN_SIGMOID},
        {&pdnn_op_tanh, PDNN_ONEDNN_TANH},           {&pdnn_op_gelu, PDNN_ONEDNN_GELU},
        {&pdnn_op_gelu_tanh, PDNN_ONEDNN_GELU_TANH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].op == op) {
            *function = rows[i].function;
            return true;
        }
    }
    return false;
}

enum pdnn_status pdnn_onednn_post_op_refuse(const struct pdnn_node *node, int i, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: %s %s cannot take %s as post-op %d; use fuse=none",
                     node->op->name, pdnn_pass_name(node->pass), node->posts[i].op->name, i + 1);
}
