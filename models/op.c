#include "models/op.h"

#include "models/attributes.h"

#include <string.h>

#define ROW(name) &pdnn_op_##name,
const struct pdnn_op_def *const pdnn_ops[] = {PDNN_OPS(ROW) NULL};

#define WORD(name, NAME) #name,
const char *const pdnn_activation_words[] = {PDNN_ACTIVATIONS(WORD) NULL};

#define BY_WORD(name, NAME) &pdnn_op_##name,
const struct pdnn_op_def *const pdnn_activations[] = {PDNN_ACTIVATIONS(BY_WORD)};

const struct pdnn_op_def *pdnn_op_find(const char *name) {
    for (size_t i = 0; pdnn_ops[i]; i++) {
        if (strcmp(pdnn_ops[i]->name, name) == 0)
            return pdnn_ops[i];
    }
    return NULL;
}

const char *pdnn_operand_kind_name(enum pdnn_operand_kind kind) {
    static const char *const names[PDNN_OPERAND_COUNT] = {
        [PDNN_OPERAND_NONE] = "",       [PDNN_OPERAND_DATA] = "data",     [PDNN_OPERAND_IDS] = "ids",
        [PDNN_OPERAND_LABEL] = "label", [PDNN_OPERAND_WEIGHT] = "weight", [PDNN_OPERAND_STATE] = "state"};
    return names[kind];
}

static bool has(const struct pdnn_op_def *const *row, const struct pdnn_op_def *op) {
    while (row && *row && *row != op)
        row++;
    return row && *row;
}

#define ACTIVATION(name, NAME, algorithm, alpha, beta) &pdnn_op_##name,

bool pdnn_op_takes(const struct pdnn_op_def *host, enum pdnn_pass pass, const struct pdnn_op_def *post) {
    static const struct pdnn_op_def *const activations[] = {PDNN_POST_OPS(ACTIVATION) NULL};
    return has(host->pass[pass].posts, post) ||
           (host->pass[pass].takes_activations && has(activations, post));
}

struct pdnn_node pdnn_post_node(const struct pdnn_node *host, const struct pdnn_post *post,
                                uint32_t operands[PDNN_POST_OPERANDS]) {
    struct pdnn_node node = {.op = post->op,
                             .pass = post->pass,
                             .n_inputs = 1,
                             .n_outputs = 1,
                             .input = operands + 1,
                             .output = operands,
                             .layer = host->layer};
    memcpy(node.coef, post->coef, sizeof node.coef);
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
        uint32_t operands[PDNN_POST_OPERANDS];
        struct pdnn_node post = pdnn_post_node(host, &host->posts[k], operands);
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
