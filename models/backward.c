#include "models/backward.h"

#include "models/op.h"
#include "models/optimizer.h"

#include <string.h>

struct pdnn_backward {
    struct pdnn_graph *graph;
    uint32_t *gradient; /* by forward tensor */
    bool *wanted;       /* by forward tensor: a weight, or computed from one */
    size_t n_tensors;   /* forward tensors */
};

bool pdnn_backward_wants(const struct pdnn_backward *backward, uint32_t tensor) {
    return backward->wanted[tensor];
}

uint32_t pdnn_backward_of(const struct pdnn_backward *backward, uint32_t tensor) {
    return backward->gradient[tensor];
}

static uint32_t gradient_tensor(struct pdnn_graph *graph, uint32_t target) {
    bool weight = graph->tensors[target].role == PDNN_ROLE_WEIGHT;
    return pdnn_graph_like(graph, target, weight ? PDNN_ROLE_WEIGHT_GRADIENT : PDNN_ROLE_GRADIENT);
}

void pdnn_backward_pass_on(struct pdnn_backward *backward, uint32_t target, uint32_t gradient) {
    struct pdnn_graph *graph = backward->graph;
    if (graph->err.status != PDNN_OK)
        return;
    uint32_t before = backward->gradient[target];
    if (before == PDNN_NONE) {
        backward->gradient[target] = gradient;
        return;
    }
    struct pdnn_node sum = {.op = &pdnn_op_add, .pass = PDNN_FORWARD, .n_inputs = 2, .n_outputs = 1};
    sum.input[0] = before;
    sum.input[1] = gradient;
    sum.output[0] = gradient_tensor(graph, target);
    backward->gradient[target] = sum.output[0];
    pdnn_graph_node(graph, &sum);
}

void pdnn_backward_refuse(struct pdnn_backward *backward, const char *reason) {
    if (backward->graph->err.status == PDNN_OK)
        pdnn_fail(&backward->graph->err, PDNN_UNSUPPORTED, "%s", reason);
}

void pdnn_backward_emit_all(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, const uint32_t *targets, const uint32_t *inputs) {
    struct pdnn_graph *graph = backward->graph;
    if (graph->err.status != PDNN_OK)
        return;
    struct pdnn_node node = {.op = forward->op, .pass = pass, .layer = forward->layer};
    while (node.n_inputs < PDNN_NODE_INPUTS && inputs[node.n_inputs] != PDNN_NONE) {
        node.input[node.n_inputs] = inputs[node.n_inputs];
        node.n_inputs++;
    }
    memcpy(node.attr, forward->attr, sizeof node.attr);
    memcpy(node.coef, forward->coef, sizeof node.coef);
    for (; targets[node.n_outputs] != PDNN_NONE; node.n_outputs++)
        node.output[node.n_outputs] = gradient_tensor(graph, targets[node.n_outputs]);
    graph->layer = forward->layer;
    pdnn_graph_node(graph, &node);
    for (int k = 0; k < node.n_outputs; k++)
        pdnn_backward_pass_on(backward, targets[k], node.output[k]);
}

void pdnn_backward_emit(struct pdnn_backward *backward, const struct pdnn_node *forward, enum pdnn_pass pass,
                        uint32_t target, const uint32_t *inputs) {
    pdnn_backward_emit_all(backward, forward, pass, (uint32_t[]){target, PDNN_NONE}, inputs);
}

static void mark_wanted(struct pdnn_backward *backward) {
    const struct pdnn_graph *graph = backward->graph;
    for (size_t i = 0; i < graph->n_tensors; i++)
        backward->wanted[i] = graph->tensors[i].role == PDNN_ROLE_WEIGHT;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool any = false;
        for (int k = 0; k < node->n_inputs; k++)
            any = any || backward->wanted[node->input[k]];
        for (int k = 0; k < node->n_outputs; k++)
            backward->wanted[node->output[k]] = any;
    }
}

static bool reached(const struct pdnn_backward *backward, const struct pdnn_node *node) {
    for (int k = 0; k < node->n_outputs; k++) {
        uint32_t output = node->output[k];
        if (output == backward->graph->loss || backward->gradient[output] != PDNN_NONE)
            return true;
    }
    return false;
}

static void update(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer, uint32_t weight,
                   uint32_t gradient, struct pdnn_layer layer) {
    struct pdnn_node node = {.op = optimizer->op, .pass = PDNN_UPDATE, .layer = layer};
    memcpy(node.coef, optimizer->coef, sizeof node.coef);
    node.input[node.n_inputs++] = weight;
    node.input[node.n_inputs++] = gradient;
    node.output[node.n_outputs++] = weight;
    for (int i = 0; i < optimizer->n_states; i++)
        node.input[node.n_inputs++] = node.output[node.n_outputs++] =
            pdnn_graph_like(graph, weight, PDNN_ROLE_STATE);
    if (optimizer->n_scalars) {
        struct pdnn_tensor scalars = {.role = PDNN_ROLE_STATE,
                                      .rank = 1,
                                      .dim = {optimizer->n_scalars},
                                      .fill = {PDNN_FILL_CONSTANT, 1},
                                      .of = weight};
        node.input[node.n_inputs++] = node.output[node.n_outputs++] = pdnn_graph_tensor(graph, &scalars);
    }
    pdnn_graph_node(graph, &node);
}

/* Updates follow the order in which the forward pass reads the weights. */
static void append_updates(struct pdnn_backward *backward, const struct pdnn_optimizer_def *optimizer,
                           size_t n_forward) {
    struct pdnn_graph *graph = backward->graph;
    for (size_t i = 0; i < n_forward; i++) {
        for (int k = 0; k < graph->nodes[i].n_inputs; k++) {
            uint32_t tensor = graph->nodes[i].input[k];
            uint32_t gradient = backward->gradient[tensor];
            if (graph->tensors[tensor].role != PDNN_ROLE_WEIGHT || gradient == PDNN_NONE)
                continue;
            update(graph, optimizer, tensor, gradient, graph->nodes[i].layer);
            backward->gradient[tensor] = PDNN_NONE;
        }
    }
}

void pdnn_backward_derive(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer) {
    if (graph->err.status != PDNN_OK)
        return;
    struct pdnn_backward backward = {.graph = graph, .n_tensors = graph->n_tensors};
    backward.gradient = pdnn_arena_alloc(graph->arena, graph->n_tensors, sizeof *backward.gradient);
    backward.wanted = pdnn_arena_alloc(graph->arena, graph->n_tensors, sizeof *backward.wanted);
    if (!backward.gradient || !backward.wanted) {
        pdnn_fail(&graph->err, PDNN_NO_MEMORY, "out of memory while deriving the backward pass");
        return;
    }
    memset(backward.gradient, 0xff, graph->n_tensors * sizeof *backward.gradient);
    mark_wanted(&backward);
    size_t n_forward = graph->n_nodes;
    for (size_t i = n_forward; i-- > 0;) {
        struct pdnn_node forward = graph->nodes[i]; /* a copy: the table may move while nodes are appended */
        if (forward.op->gradient && reached(&backward, &forward))
            forward.op->gradient(&backward, &forward);
    }
    append_updates(&backward, optimizer, n_forward);
}
