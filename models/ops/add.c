/* add: y = a + b, elementwise; b may repeat over a (models/graph.h). The gradient of a, and of b if
 * it is as large, is dy itself; otherwise db is the sum of dy over the elements that meet the same one of b.
 * The backward passes with two inputs are sums of two gradients of one tensor: backward-data for an
 * activation, backward-weights for a weight. FLOP: one addition per element of y, or of dy. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <string.h>

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_ADD_Y]), b = node->input[PDNN_ADD_B];
    if (pdnn_backward_wants(backward, node->input[PDNN_ADD_A]))
        pdnn_backward_pass_on(backward, node->input[PDNN_ADD_A], dy);
    if (!pdnn_backward_wants(backward, b))
        return;
    if (pdnn_pointwise_is_equal(pdnn_backward_graph(backward), node))
        pdnn_backward_pass_on(backward, b, dy);
    else
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, b, (uint32_t[]){dy, PDNN_NONE});
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, 1, count);
}

static double sum(double a, double b) {
    return a + b;
}

static void forward(struct pdnn_reference *r) {
    pdnn_pointwise_reference(r, sum);
}

static void backward_data(struct pdnn_reference *r) {
    if (r->node->n_inputs > 1) {
        pdnn_pointwise_reference(r, sum);
        return;
    }
    const struct pdnn_tensor *dy = pdnn_node_in(r->graph, r->node, 0),
                             *db = pdnn_node_out(r->graph, r->node, 0);
    const double *from = pdnn_ref_in(r, 0);
    double *to = pdnn_ref_out(r, 0);
    struct pdnn_broadcast broadcast;
    if (!pdnn_broadcast_of(dy, db, &broadcast))
        return;
    memset(to, 0, (size_t)pdnn_tensor_elements(db) * sizeof *to);
    for (int64_t i = 0; i < pdnn_tensor_elements(dy); i++) {
        to[pdnn_broadcast_at(&broadcast, i)] += from[i];
        r->flop += 1;
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    return pdnn_export_broadcast(onnx, "Add");
}

const struct pdnn_op_def pdnn_op_add = {
    .name = "add",
    .category = "add",
    .formula = "y = a + b; b may repeat over rows or pixels",
    .operands = {{"a", PDNN_OPERAND_DATA}, {"b", PDNN_OPERAND_DATA}},
    .outputs = {"y"},
    .infer = pdnn_pointwise_infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] =
                 {.flop = flop, .reference = forward, .in_place = 1, .is_post = pdnn_pointwise_is_equal},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = backward_data, .in_place = 1},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = flop, .reference = forward, .in_place = 1}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
