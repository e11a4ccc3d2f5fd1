/* scale: y = factor x; dx = factor dy. FLOP: one multiplication per element. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, 1, count);
}

static void multiply(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, 0);
    double *y = pdnn_ref_out(r, 0), factor = r->node->coef[PDNN_SCALE_FACTOR];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++) {
        y[i] = factor * x[i];
        r->flop += 1;
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    int64_t sequences;
    const uint32_t x = pdnn_export_either_in(onnx, &sequences),
                   y = pdnn_export_op2(onnx, "Mul", x,
                                       pdnn_export_number(onnx, onnx->at->coef[PDNN_SCALE_FACTOR]));
    return pdnn_export_give_either(onnx, y, sequences);
}

const struct pdnn_op_def pdnn_op_scale = {
    .name = "scale",
    .category = "softmax",
    .formula = "y = factor x",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"factor", PDNN_SCALE_FACTOR, .coefficient = true, .required = true}},
    .coef = {[PDNN_SCALE_FACTOR] = 1},
    .outputs = {"y"},
    .infer = pdnn_pointwise_infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = multiply, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = multiply, .in_place = 1}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
