/* multiply: y = a * b, elementwise; b may repeat over a (models/graph.h). da = dy * b, and db is the
 * sum of dy * a over the elements that meet the same one of b. If b is as large as a, these are nodes of one
 * form. Otherwise both come from one read of dy. FLOP per element of a: one multiplication for y and for da,
 * one and an addition for db; just one multiplication if b is as large as a. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <string.h>

enum { SUM_FLOP = 2 };

/* What a backward-data node computes: from (dy, the other operand) one gradient, a sum if it is smaller than
 * dy; from (dy, b, a) those of a and b. */
static bool is_both(const struct pdnn_node *node) {
    return node->n_inputs > PDNN_MULTIPLY_BACK_A;
}

static bool is_sum(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return !pdnn_tensor_same_shape(pdnn_node_in(graph, node, 0), pdnn_node_out(graph, node, 0));
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_MULTIPLY_Y]);
    uint32_t a = node->input[PDNN_MULTIPLY_A], b = node->input[PDNN_MULTIPLY_B];
    bool wants_a = pdnn_backward_wants(backward, a), wants_b = pdnn_backward_wants(backward, b);
    if (wants_a && wants_b && !pdnn_pointwise_is_equal(pdnn_backward_graph(backward), node)) {
        pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, (uint32_t[]){a, b, PDNN_NONE},
                               (uint32_t[]){dy, b, a, PDNN_NONE});
        return;
    }
    if (wants_a)
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, a, (uint32_t[]){dy, b, PDNN_NONE});
    if (wants_b)
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, b, (uint32_t[]){dy, a, PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, 1, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    int64_t each = is_both(node) ? 1 + SUM_FLOP : is_sum(graph, node) ? SUM_FLOP : 1;
    pdnn_pointwise_flop(graph, node, each, count);
}

static double product(double a, double b) {
    return a * b;
}

static void forward(struct pdnn_reference *r) {
    pdnn_pointwise_reference(r, product);
}

/* db = sum of dy * a. */
static void sum_products(struct pdnn_reference *r, int a, int db) {
    const struct pdnn_tensor *large = pdnn_node_in(r->graph, r->node, PDNN_MULTIPLY_BACK_DY);
    const struct pdnn_tensor *small = pdnn_node_out(r->graph, r->node, db);
    const double *dy = pdnn_ref_in(r, PDNN_MULTIPLY_BACK_DY), *from = pdnn_ref_in(r, a);
    double *to = pdnn_ref_out(r, db);
    struct pdnn_broadcast broadcast;
    if (!pdnn_broadcast_of(large, small, &broadcast))
        return;
    memset(to, 0, (size_t)pdnn_tensor_elements(small) * sizeof *to);
    for (int64_t i = 0; i < pdnn_tensor_elements(large); i++) {
        to[pdnn_broadcast_at(&broadcast, i)] += dy[i] * from[i];
        r->flop += SUM_FLOP;
    }
}

static void backward_data(struct pdnn_reference *r) {
    if (is_both(r->node)) /* before da overwrites dy */
        sum_products(r, PDNN_MULTIPLY_BACK_A, PDNN_MULTIPLY_BACK_DB);
    if (is_both(r->node) || !is_sum(r->graph, r->node))
        pdnn_pointwise_reference(r, product);
    else
        sum_products(r, PDNN_MULTIPLY_BACK_OTHER, PDNN_MULTIPLY_BACK_DX);
}

static uint32_t nodes(struct pdnn_export *onnx) {
    return pdnn_export_broadcast(onnx, "Mul");
}

const struct pdnn_op_def pdnn_op_multiply = {
    .name = "multiply",
    .category = "multiply",
    .formula = "y = a * b; b may repeat over rows or pixels",
    .operands = {{"a", PDNN_OPERAND_DATA},
                 {"b", PDNN_OPERAND_WEIGHT, .or_data = true, .shape = "a[1]", .fill = PDNN_FILL_NEAR_ONE,
                  .scale = 0.25}},
    .outputs = {"y"},
    .infer = pdnn_pointwise_infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
