/* experts: y[r][o] = sum_i x[r][i] w[e][o][i], with e the expert that row r was dealt to
 * (models/cost/deal.h); dx = dy w_e; dw_e = dy^T x over the rows of expert e, and 0 if it has none. One node
 * for all experts. R rows, I inputs, O outputs, X experts. FLOP: 2 R I O in each pass. Bytes: of w only the
 * experts that have rows; dw is written whole. */
#include "models/attributes.h"
#include "models/cost/deal.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_EXPERTS_X); /* (R, I) */
    const struct pdnn_tensor *w = pdnn_node_in(graph, node, PDNN_EXPERTS_W); /* (X, O, I) */
    if (x->rank != 2 || w->rank != 3)
        return pdnn_fail(err, PDNN_INVALID, "experts: expected input (R, I) and weights (experts, O, I)");
    if (x->dim[1] != w->dim[2])
        return pdnn_fail(err, PDNN_INVALID,
                         "experts: input (R, I) and weights (experts, O, I) disagree: I is %" PRId64
                         " and %" PRId64,
                         x->dim[1], w->dim[2]);
    outputs[PDNN_EXPERTS_Y].rank = 2;
    outputs[PDNN_EXPERTS_Y].dim[0] = x->dim[0];
    outputs[PDNN_EXPERTS_Y].dim[1] = w->dim[1];
    return pdnn_deal_check("experts", x->dim[0], node->attr[PDNN_EXPERTS_ACTIVE], w->dim[0],
                           node->attr[PDNN_EXPERTS_SKEW], err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_EXPERTS_X], w = node->input[PDNN_EXPERTS_W],
             dy = pdnn_backward_of(backward, node->output[PDNN_EXPERTS_Y]);
    if (pdnn_backward_wants(backward, w))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_WEIGHTS, w,
            (uint32_t[]){[PDNN_EXPERTS_WEIGHTS_DY] = dy, [PDNN_EXPERTS_WEIGHTS_X] = x, PDNN_NONE});
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x,
                           (uint32_t[]){[PDNN_EXPERTS_DATA_DY] = dy, [PDNN_EXPERTS_DATA_W] = w, PDNN_NONE});
}

/* The weights or their gradient. */
static const struct pdnn_tensor *weights_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return node->pass == PDNN_BACKWARD_WEIGHTS ? pdnn_node_out(graph, node, PDNN_EXPERTS_WEIGHTS_DW)
                                               : pdnn_node_in(graph, node, PDNN_EXPERTS_W);
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    const int64_t *w = weights_of(graph, node)->dim;
    pdnn_count_add(count, 2 * pdnn_node_in(graph, node, 0)->dim[0], w[1], w[2]);
}

static struct pdnn_saturation saturation(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return (struct pdnn_saturation){
        pdnn_node_in(graph, node, 0)->dim[0],
        pdnn_deal_reach(weights_of(graph, node)->dim[0], node->attr[PDNN_EXPERTS_SKEW])};
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    const struct pdnn_tensor *w = weights_of(graph, node);
    bytes[PDNN_EXPERTS_W] =
        pdnn_tensor_bytes(w) / (uint64_t)w->dim[0] * (uint64_t)pdnn_deal_of_experts(graph, node).end;
}

/* Every multiply-add, by the indices of y, w and x. */
static void visit(struct pdnn_reference *r,
                  void (*multiply_add)(const struct pdnn_reference *r, int64_t y, int64_t w, int64_t x)) {
    const int64_t *dim = weights_of(r->graph, r->node)->dim, O = dim[1], I = dim[2];
    for (struct pdnn_deal deal = pdnn_deal_of_experts(r->graph, r->node); pdnn_deal_next(&deal);) {
        for (int64_t row = deal.first; row < deal.first + deal.count; row++) {
            for (int64_t i = 0; i < O * I; i++) {
                multiply_add(r, row * O + i / I, deal.expert * O * I + i, row * I + i % I);
                r->flop += 2;
            }
        }
    }
}

static void clear(struct pdnn_reference *r) {
    size_t elements = (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0));
    memset(pdnn_ref_out(r, 0), 0, elements * sizeof(double));
}

static void add_to_y(const struct pdnn_reference *r, int64_t y, int64_t w, int64_t x) {
    pdnn_ref_out(r, PDNN_EXPERTS_Y)[y] +=
        pdnn_ref_in(r, PDNN_EXPERTS_X)[x] * pdnn_ref_in(r, PDNN_EXPERTS_W)[w];
}

static void add_to_dx(const struct pdnn_reference *r, int64_t y, int64_t w, int64_t x) {
    pdnn_ref_out(r, PDNN_EXPERTS_DATA_DX)[x] +=
        pdnn_ref_in(r, PDNN_EXPERTS_DATA_DY)[y] * pdnn_ref_in(r, PDNN_EXPERTS_DATA_W)[w];
}

static void add_to_dw(const struct pdnn_reference *r, int64_t y, int64_t w, int64_t x) {
    pdnn_ref_out(r, PDNN_EXPERTS_WEIGHTS_DW)[w] +=
        pdnn_ref_in(r, PDNN_EXPERTS_WEIGHTS_DY)[y] * pdnn_ref_in(r, PDNN_EXPERTS_WEIGHTS_X)[x];
}

static void forward(struct pdnn_reference *r) {
    clear(r);
    visit(r, add_to_y);
}

static void backward_data(struct pdnn_reference *r) {
    clear(r);
    visit(r, add_to_dx);
}

static void backward_weights(struct pdnn_reference *r) {
    clear(r);
    visit(r, add_to_dw);
}

/* Experts have consecutive rows: a product of each that has any. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *w = pdnn_export_shape_in(onnx, PDNN_EXPERTS_W);
    const int64_t O = w->dim[1], I = w->dim[2];
    const uint32_t x = pdnn_export_in(onnx, PDNN_EXPERTS_X), weights = onnx->at->input[PDNN_EXPERTS_W];
    uint32_t *parts = pdnn_arena_room(onnx->arena, (size_t)w->dim[0], sizeof *parts);
    int n_parts = 0;
    for (struct pdnn_deal deal = pdnn_deal_of_experts(onnx->graph, onnx->at); pdnn_deal_next(&deal);) {
        const struct pdnn_export_part own = {weights, deal.expert * O * I, O * I};
        const uint32_t rows = pdnn_export_slice(onnx, x, 0, deal.first, deal.count);
        parts[n_parts++] =
            pdnn_export_op2(onnx, "Gemm", rows, pdnn_export_stored(onnx, 2, (int64_t[]){O, I}, 1, &own));
        pdnn_export_add_whole(onnx, "transB", 1);
    }
    return pdnn_export_concat(onnx, n_parts, parts, 0);
}

const struct pdnn_op_def pdnn_op_experts = {
    .name = "experts",
    .category = "linear gemm",
    .formula = "y[r] = x[r] w[e]^T, with e the expert of row r",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"w", PDNN_OPERAND_WEIGHT, .shape = "experts, out, x.columns", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_INIT, .inputs = "x.columns"}},
    .attributes = {{"active", PDNN_EXPERTS_ACTIVE, .fallback = "1"},
                   {"skew", PDNN_EXPERTS_SKEW},
                   {"experts", PDNN_SIZE, .required = true},
                   {"out", PDNN_SIZE, .required = true}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .bytes = bytes, .saturation = saturation},
             [PDNN_BACKWARD_DATA] =
                 {.flop = flop, .reference = backward_data, .bytes = bytes, .saturation = saturation},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = flop, .reference = backward_weights}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
