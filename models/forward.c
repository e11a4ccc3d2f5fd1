#include "models/forward.h"

#include "models/attributes.h"

#include <string.h>

void pdnn_graph_replay(struct pdnn_graph *graph) {
    graph->replays = true;
    graph->next_replayed = 0;
}

/* The next weight or state, which must match the tensor. */
static uint32_t replay(struct pdnn_graph *graph, const struct pdnn_tensor *tensor) {
    for (uint32_t i = graph->next_replayed; i < graph->n_tensors && graph->err.status == PDNN_OK; i++) {
        const struct pdnn_tensor *old = &graph->tensors[i];
        if (old->role != PDNN_ROLE_WEIGHT && old->role != PDNN_ROLE_STATE)
            continue;
        graph->next_replayed = i + 1;
        if (old->role == tensor->role && pdnn_tensor_same_shape(old, tensor))
            return i;
        break;
    }
    if (graph->err.status == PDNN_OK)
        pdnn_fail(&graph->err, PDNN_INTERNAL, "the micro-steps of this model have different weights");
    return 0;
}

/* What keeps its content between steps: weights, and state that no optimizer created. */
static uint32_t kept(struct pdnn_graph *graph, const struct pdnn_tensor *shape, const int64_t *dim) {
    struct pdnn_tensor tensor = *shape;
    tensor.of = PDNN_NONE;
    memcpy(tensor.dim, dim, (size_t)tensor.rank * sizeof *dim);
    return graph->replays ? replay(graph, &tensor) : pdnn_graph_tensor(graph, &tensor);
}

uint32_t pdnn_graph_weight(struct pdnn_graph *graph, int rank, const int64_t *dim, struct pdnn_fill fill) {
    enum pdnn_dtype dtype = rank > 1 ? graph->dtype : PDNN_F32;
    struct pdnn_tensor weight = {
        .role = PDNN_ROLE_WEIGHT, .dtype = graph->has_masters ? PDNN_F32 : dtype, .rank = rank, .fill = fill};
    uint32_t made = kept(graph, &weight, dim);
    if (weight.dtype == dtype)
        return made;
    return pdnn_graph_forward(graph, &pdnn_op_cast, (uint32_t[]){made, PDNN_NONE}, NULL);
}

uint32_t pdnn_graph_state(struct pdnn_graph *graph, int rank, const int64_t *dim, struct pdnn_fill fill) {
    enum pdnn_dtype dtype = rank > 1 && pdnn_dtype_is_half(graph->dtype) ? graph->dtype : PDNN_F32;
    struct pdnn_tensor state = {.role = PDNN_ROLE_STATE, .dtype = dtype, .rank = rank, .fill = fill};
    return kept(graph, &state, dim);
}

uint32_t pdnn_graph_forward(struct pdnn_graph *graph, const struct pdnn_op_def *op, const uint32_t *inputs,
                            const int64_t *attrs) {
    return pdnn_graph_forward_with(graph, op, inputs, attrs, NULL);
}

uint32_t pdnn_graph_forward_with(struct pdnn_graph *graph, const struct pdnn_op_def *op,
                                 const uint32_t *inputs, const int64_t *attrs, const double *coefs) {
    struct pdnn_tensor outputs[PDNN_OUTPUTS];
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_OUTPUTS];
    struct pdnn_node node = {.op = op, .pass = PDNN_FORWARD, .input = input, .output = output};
    if (graph->err.status != PDNN_OK)
        return 0;
    for (; inputs[node.n_inputs] != PDNN_NONE; node.n_inputs++) {
        if (node.n_inputs == PDNN_NODE_INPUTS) {
            pdnn_fail(&graph->err, PDNN_INVALID, "%s: more than %d inputs", op->name, PDNN_NODE_INPUTS);
            return 0;
        }
        input[node.n_inputs] = inputs[node.n_inputs];
    }
    memcpy(node.coef, coefs ? coefs : op->coef, sizeof node.coef);
    if (attrs)
        memcpy(node.attr, attrs, sizeof node.attr);
    for (int i = 0; op->outputs[i]; i++)
        outputs[i] = (struct pdnn_tensor){
            .role = PDNN_ROLE_ACTIVATION, .dtype = pdnn_node_in(graph, &node, 0)->dtype, .of = PDNN_NONE};
    if (op->infer(graph, &node, outputs, &graph->err) != PDNN_OK)
        return 0;
    for (int i = 0; op->outputs[i] && outputs[i].rank; i++) {
        int updated = pdnn_op_updated(op, i, node.n_inputs);
        node.output[node.n_outputs++] =
            updated ? node.input[updated - 1] : pdnn_graph_tensor(graph, &outputs[i]);
    }
    pdnn_graph_node(graph, &node);
    return graph->err.status != PDNN_OK ? 0 : output[0];
}

uint32_t pdnn_graph_forward_again(struct pdnn_graph *graph, uint32_t like, const uint32_t *data, int n_data) {
    const uint32_t at = pdnn_graph_node(graph, &graph->nodes[like]);
    struct pdnn_node *node = &graph->nodes[at];
    node->layer = graph->layer;
    for (int i = 0; i < node->n_inputs; i++)
        node->input[i] = i < n_data ? data[i] : pdnn_graph_copy(graph, node->input[i]);
    for (int i = 0; i < node->n_outputs; i++) {
        int updated = pdnn_op_updated(node->op, i, node->n_inputs);
        node->output[i] = updated ? node->input[updated - 1] : pdnn_graph_copy(graph, node->output[i]);
    }
    return at;
}

uint32_t pdnn_graph_f32(struct pdnn_graph *graph, uint32_t tensor) {
    if (graph->err.status != PDNN_OK || !pdnn_dtype_is_half(graph->tensors[tensor].dtype))
        return tensor;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CAST_TO_F32] = 1};
    return pdnn_graph_forward(graph, &pdnn_op_cast, (uint32_t[]){tensor, PDNN_NONE}, attrs);
}
