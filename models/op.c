#include "models/op.h"

#include <string.h>

#define ROW(name) &pdnn_op_##name,
const struct pdnn_op_def *const pdnn_ops[] = {PDNN_OPS(ROW) NULL};

const struct pdnn_op_def *pdnn_op_find(const char *name) {
    for (size_t i = 0; pdnn_ops[i]; i++) {
        if (strcmp(pdnn_ops[i]->name, name) == 0)
            return pdnn_ops[i];
    }
    return NULL;
}

struct pdnn_node pdnn_post_node(const struct pdnn_node *host, const struct pdnn_post *post) {
    struct pdnn_node node = {
        .op = post->op, .pass = post->pass, .n_inputs = 1, .n_outputs = 1, .layer = host->layer};
    if (post->pass == PDNN_FORWARD) {
        node.input[0] = node.output[0] = host->output[0];
        if (post->input != PDNN_NONE)
            node.input[node.n_inputs++] = post->input;
    } else {
        node.input[0] = post->input;
        node.output[0] = post->output;
    }
    return node;
}
