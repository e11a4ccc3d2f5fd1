/* bias: y[n][c] = x[n][c] + b[c]; dx = dy itself; db[c] = sum_n dy[n][c]. On an image,
 * the same at every pixel.
 * N minibatch, C units or channels, L pixels (1 without an image). */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_BIAS_X); /* (N, C) or (N, C, H, W) */
    const struct pdnn_tensor *b = pdnn_node_in(graph, node, PDNN_BIAS_B); /* (C) */
    if (node->n_inputs != 2 || (x->rank != 2 && x->rank != 4) || b->rank != 1 || x->dim[1] != b->dim[0])
        return pdnn_fail(err, PDNN_INVALID,
                         "bias: input (N, C, ...) and bias (C) disagree: C is %" PRId64 " and %" PRId64,
                         x->dim[1], b->dim[0]);
    outputs[PDNN_BIAS_Y].rank = x->rank;
    memcpy(outputs[PDNN_BIAS_Y].dim, x->dim, sizeof x->dim);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_BIAS_Y]);
    if (pdnn_backward_wants(backward, node->input[PDNN_BIAS_B]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_WEIGHTS, node->input[PDNN_BIAS_B],
                           (uint32_t[]){dy, PDNN_NONE});
    if (pdnn_backward_wants(backward, node->input[PDNN_BIAS_X]))
        pdnn_backward_pass_on(backward, node->input[PDNN_BIAS_X], dy);
}

/* One addition per element in both passes. */
static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), 1, 1);
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_BIAS_X), *b = pdnn_ref_in(r, PDNN_BIAS_B);
    double *y = pdnn_ref_out(r, PDNN_BIAS_Y);
    const struct pdnn_tensor *t = pdnn_node_in(r->graph, r->node, PDNN_BIAS_X);
    int64_t elements = pdnn_tensor_elements(t), C = t->dim[1], L = elements / (t->dim[0] * C);
    for (int64_t i = 0; i < elements; i++) {
        y[i] = x[i] + b[i / L % C];
        r->flop += 1;
    }
}

static void backward_weights(struct pdnn_reference *r) {
    const double *dy = pdnn_ref_in(r, PDNN_BIAS_BACK_DY);
    double *db = pdnn_ref_out(r, PDNN_BIAS_BACK_DB);
    const struct pdnn_tensor *t = pdnn_node_in(r->graph, r->node, PDNN_BIAS_BACK_DY);
    int64_t elements = pdnn_tensor_elements(t), C = t->dim[1], L = elements / (t->dim[0] * C);
    for (int64_t c = 0; c < C; c++)
        db[c] = 0;
    for (int64_t i = 0; i < elements; i++) {
        db[i / L % C] += dy[i];
        r->flop += 1;
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    uint32_t b = pdnn_export_in(onnx, PDNN_BIAS_B);
    const struct pdnn_tensor *x = pdnn_export_shape_in(onnx, PDNN_BIAS_X);
    const uint32_t product = pdnn_export_into_product(onnx, b);
    if (product != PDNN_NONE)
        return product;
    if (x->rank == 4)
        b = pdnn_export_reshape(onnx, b, 4, (int64_t[]){1, x->dim[1], 1, 1});
    return pdnn_export_op2(onnx, "Add", pdnn_export_in(onnx, PDNN_BIAS_X), b);
}

const struct pdnn_op_def pdnn_op_bias = {
    .name = "bias",
    .category = "bias",
    .formula = "y = x + b",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"b", PDNN_OPERAND_WEIGHT, .shape = "x[1]", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_LINEAR, .inputs = "x.inputs"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = flop, .reference = backward_weights}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
