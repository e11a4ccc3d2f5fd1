#include "models/op.h"

#include "models/attributes.h"

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

bool pdnn_op_takes(const struct pdnn_op_def *host, enum pdnn_pass pass, const struct pdnn_op_def *post) {
    const struct pdnn_op_def *const *row = host->pass[pass].posts;
    while (row && *row && *row != post)
        row++;
    return row && *row;
}

struct pdnn_node pdnn_post_node(const struct pdnn_node *host, const struct pdnn_post *post) {
    struct pdnn_node node = {
        .op = post->op, .pass = post->pass, .n_inputs = 1, .n_outputs = 1, .layer = host->layer};
    if (post->pass == PDNN_BACKWARD_WEIGHTS) {
        node.input[0] = post->input;
        node.output[0] = post->output;
        return node;
    }
    node.input[0] = node.output[0] = post->pass == PDNN_FORWARD ? host->output[0] : host->input[0];
    if (post->input != PDNN_NONE)
        node.input[node.n_inputs++] = post->input;
    return node;
}

enum pdnn_dtype pdnn_node_dtype(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    enum pdnn_dtype first = pdnn_node_in(graph, node, 0)->dtype;
    return first == PDNN_S32 ? PDNN_F32 : first;
}

static void run_posts(struct pdnn_reference *r, const struct pdnn_node *host, bool before) {
    for (int k = 0; k < host->n_posts; k++) {
        if ((host->posts[k].pass == PDNN_BACKWARD_DATA) != before)
            continue;
        struct pdnn_node post = pdnn_post_node(host, &host->posts[k]);
        r->node = &post;
        post.op->pass[post.pass].reference(r);
    }
}

void pdnn_reference_run(struct pdnn_reference *r, const struct pdnn_node *node) {
    run_posts(r, node, true);
    r->node = node;
    node->op->pass[node->pass].reference(r);
    run_posts(r, node, false);
    r->node = node;
}

void pdnn_no_flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *flop) {
    (void)graph, (void)node, (void)flop;
}

bool pdnn_quantized_is_scaled(const struct pdnn_node *node) {
    return node->pass == PDNN_FORWARD && node->n_inputs == PDNN_QUANTIZED_W_SCALE + 1;
}
