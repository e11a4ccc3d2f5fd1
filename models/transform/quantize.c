#include "models/transform/quantize.h"

#include "models/attributes.h"
#include "models/op.h"
#include "models/ops/pointwise.h"
#include "models/forward.h"

#include <string.h>

/* What is known about each tensor of the original graph. */
struct pass {
    struct pdnn_graph *graph;
    bool is_fused;
    bool *is_non_negative;
    uint32_t *readers;          /* number of readers */
    uint32_t *values, *x_scale; /* the quantized tensor and its scale, or PDNN_NONE */
};

/* Whether the node's result is never negative. */
static bool is_non_negative(const struct pass *pass, const struct pdnn_node *node) {
    const struct pdnn_post *post = node->n_posts ? &node->posts[node->n_posts - 1] : NULL;
    const struct pdnn_op_def *last = post ? post->op : node->op;
    if (last == &pdnn_op_pool2d)
        return pass->is_non_negative[node->input[0]];
    return last->pointwise && last->pointwise->non_negative && (post ? post->coef : node->coef)[0] >= 0;
}

static void pass_init(struct pass *pass, struct pdnn_graph *graph) {
    size_t n = graph->n_tensors;
    pass->is_non_negative = pdnn_arena_alloc(graph->arena, n, sizeof *pass->is_non_negative);
    pass->readers = pdnn_arena_alloc(graph->arena, n, sizeof *pass->readers);
    pass->values = pdnn_arena_alloc(graph->arena, n, sizeof *pass->values);
    pass->x_scale = pdnn_arena_alloc(graph->arena, n, sizeof *pass->x_scale);
    memset(pass->values, 0xff, n * sizeof *pass->values);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        struct pdnn_access access[PDNN_NODE_ACCESSES];
        for (int k = pdnn_node_accesses(node, access); k-- > 0;)
            pass->readers[access[k].tensor] += !access[k].is_written;
        if (node->n_outputs)
            pass->is_non_negative[node->output[0]] = is_non_negative(pass, node);
    }
}

static bool is_quantized(const struct pass *pass, const struct pdnn_node *node) {
    if (node->op != &pdnn_op_dense && node->op != &pdnn_op_conv2d)
        return false;
    uint32_t x = node->input[PDNN_QUANTIZED_X], w = node->input[PDNN_QUANTIZED_W];
    return pass->graph->tensors[w].role == PDNN_ROLE_WEIGHT && pass->readers[w] == 1 &&
           (node->op == &pdnn_op_dense || pass->is_non_negative[x]);
}

/* Quantizes the activation, before its first reader. */
static void quantize_input(struct pass *pass, uint32_t x, struct pdnn_layer layer) {
    struct pdnn_graph *graph = pass->graph;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_QUANTIZE_NON_NEGATIVE] = pass->is_non_negative[x]};
    if (pass->values[x] != PDNN_NONE)
        return;
    graph->layer = layer;
    pass->values[x] = pdnn_graph_forward(graph, &pdnn_op_quantize, (uint32_t[]){x, PDNN_NONE}, attrs);
    pass->x_scale[x] = pdnn_graph_last_output(graph, 1);
}

/* Turns the weights into int8 in place; returns their scales (O). */
static uint32_t quantize_weights(struct pdnn_graph *graph, uint32_t w) {
    struct pdnn_tensor scale = {.role = PDNN_ROLE_STATE,
                                .dtype = PDNN_F32,
                                .rank = 1,
                                .dim = {graph->tensors[w].dim[0]},
                                .fill = {.kind = PDNN_FILL_WEIGHT_SCALE},
                                .of = w};
    graph->tensors[w].dtype = PDNN_INT8;
    return pdnn_graph_tensor(graph, &scale);
}

static void rewrite(struct pass *pass, struct pdnn_node node) {
    struct pdnn_graph *graph = pass->graph;
    uint32_t x = node.input[PDNN_QUANTIZED_X], y = node.output[0];
    uint32_t input[] = {x, node.input[PDNN_QUANTIZED_W], PDNN_NONE, PDNN_NONE}, output = y;
    quantize_input(pass, x, node.layer);
    if (graph->err.status != PDNN_OK)
        return;
    uint32_t w_scale = quantize_weights(graph, input[PDNN_QUANTIZED_W]);
    node.input = input;
    node.output = &output;
    input[PDNN_QUANTIZED_X] = pass->values[x];
    if (pass->is_fused) {
        input[node.n_inputs++] = pass->x_scale[x];
        input[node.n_inputs++] = w_scale;
        pdnn_graph_node(graph, &node);
        return;
    }
    struct pdnn_tensor sums = graph->tensors[y];
    sums.dtype = PDNN_S32;
    output = pdnn_graph_tensor(graph, &sums);
    pdnn_graph_node(graph, &node);
    struct pdnn_node back = {.op = &pdnn_op_dequantize,
                             .pass = PDNN_FORWARD,
                             .n_inputs = 3,
                             .n_outputs = 1,
                             .input = (uint32_t[]){output, pass->x_scale[x], w_scale},
                             .output = &y,
                             .layer = node.layer};
    pdnn_graph_node(graph, &back);
}

void pdnn_quantize(struct pdnn_graph *graph, bool is_fused) {
    struct pass pass = {.graph = graph, .is_fused = is_fused};
    const struct pdnn_node *nodes = graph->nodes;
    size_t n_nodes = graph->n_nodes;
    if (graph->err.status != PDNN_OK)
        return;
    pass_init(&pass, graph);
    graph->nodes = NULL; /* the old ones stay in the arena until it is freed */
    graph->n_nodes = graph->node_room = 0;
    for (size_t i = 0; i < n_nodes && graph->err.status == PDNN_OK; i++) {
        if (is_quantized(&pass, &nodes[i]))
            rewrite(&pass, nodes[i]);
        else
            pdnn_graph_node(graph, &nodes[i]);
    }
}
