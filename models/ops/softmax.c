/* softmax: y = softmax(x) along the last dimension; dx = y (dy - sum(dy y)). A row of only -infinity gives 0
 * everywhere, with gradient 0. FLOP: per row as in models/ops/score_rows.h. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/pointwise.h"
#include "models/ops/score_rows.h"

static int64_t columns_of(const struct pdnn_tensor *tensor) {
    return tensor->dim[tensor->rank - 1];
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t y = node->output[PDNN_SOFTMAX_Y], dy = pdnn_backward_of(backward, y);
    if (pdnn_backward_wants(backward, node->input[PDNN_SOFTMAX_X]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_SOFTMAX_X],
                           (uint32_t[]){[PDNN_SOFTMAX_BACK_DY] = dy, [PDNN_SOFTMAX_BACK_Y] = y, PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    int64_t columns = columns_of(x), rows = pdnn_tensor_elements(x) / columns;
    pdnn_count_add(count, rows, columns, PDNN_SOFTMAX_FLOP);
    pdnn_count_add(count, rows, columns - 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, PDNN_SOFTMAX_BACKWARD_FLOP, count);
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_SOFTMAX_X);
    int64_t columns = columns_of(x), elements = pdnn_tensor_elements(x);
    for (int64_t i = 0; i < elements; i += columns)
        pdnn_softmax_row(r, pdnn_ref_in(r, PDNN_SOFTMAX_X) + i, pdnn_ref_out(r, PDNN_SOFTMAX_Y) + i, columns);
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *y = pdnn_node_in(r->graph, r->node, PDNN_SOFTMAX_BACK_Y);
    int64_t columns = columns_of(y), elements = pdnn_tensor_elements(y);
    for (int64_t i = 0; i < elements; i += columns)
        pdnn_softmax_row_backward(r, pdnn_ref_in(r, PDNN_SOFTMAX_BACK_DY) + i,
                                  pdnn_ref_in(r, PDNN_SOFTMAX_BACK_Y) + i,
                                  pdnn_ref_out(r, PDNN_SOFTMAX_BACK_DX) + i, columns);
}

const struct pdnn_op_def pdnn_op_softmax = {
    .name = "softmax",
    .category = "softmax",
    .formula = "y = exp(x) / sum(exp(x)) along the last dimension",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .outputs = {"y"},
    .infer = pdnn_pointwise_infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_ROW,
    .onnx.type = "Softmax",
};
