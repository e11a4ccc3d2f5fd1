/* top_k: y = x where x is among the k largest of its row, else -infinity; of equal values the first count as
 * larger. dx = dy where x was kept, else 0. R rows, C columns. FLOP: a comparison for each value and each of
 * the k largest; backward moves data. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <math.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_TOP_K_X);
    int64_t k = node->attr[PDNN_TOP_K_K];
    if (x->rank != 2 || k < 1 || k > x->dim[1])
        return pdnn_fail(err, PDNN_INVALID,
                         "top_k: expected a matrix and k from 1 to its columns, k is %" PRId64
                         " and there are %" PRId64,
                         k, x->dim[x->rank - 1]);
    return pdnn_pointwise_infer(graph, node, outputs, err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t y = node->output[PDNN_TOP_K_Y], dy = pdnn_backward_of(backward, y);
    if (pdnn_backward_wants(backward, node->input[PDNN_TOP_K_X]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_TOP_K_X],
                           (uint32_t[]){[PDNN_TOP_K_BACK_DY] = dy, [PDNN_TOP_K_BACK_Y] = y, PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_TOP_K_X);
    pdnn_count_add(count, x->dim[0], x->dim[1], node->attr[PDNN_TOP_K_K]);
}

/* Takes the largest value that is left, k times. */
static void forward(struct pdnn_reference *r) {
    const int64_t *dim = pdnn_node_in(r->graph, r->node, PDNN_TOP_K_X)->dim, C = dim[1];
    for (int64_t row = 0; row < dim[0]; row++) {
        const double *x = pdnn_ref_in(r, PDNN_TOP_K_X) + row * C;
        double *y = r->scratch;
        for (int64_t i = 0; i < C; i++)
            y[i] = -INFINITY;
        for (int64_t taken = 0; taken < r->node->attr[PDNN_TOP_K_K]; taken++) {
            int64_t best = -1;
            for (int64_t i = 0; i < C; i++) {
                if (y[i] == -INFINITY && (best < 0 || x[i] > x[best]))
                    best = i;
                r->flop += 1;
            }
            if (best >= 0)
                y[best] = x[best];
        }
        for (int64_t i = 0; i < C; i++)
            pdnn_ref_out(r, PDNN_TOP_K_Y)[row * C + i] = y[i];
    }
}

static int64_t scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return pdnn_node_in(graph, node, PDNN_TOP_K_X)->dim[1];
}

static void backward_data(struct pdnn_reference *r) {
    const double *dy = pdnn_ref_in(r, PDNN_TOP_K_BACK_DY), *y = pdnn_ref_in(r, PDNN_TOP_K_BACK_Y);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_TOP_K_BACK_Y));
    for (int64_t i = 0; i < elements; i++)
        pdnn_ref_out(r, PDNN_TOP_K_BACK_DX)[i] = y[i] == -INFINITY ? 0 : dy[i];
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *x = pdnn_export_shape_in(onnx, PDNN_TOP_K_X);
    const uint32_t k = pdnn_export_wholes(onnx, 1, &onnx->at->attr[PDNN_TOP_K_K]);
    const uint32_t largest = pdnn_export_op2(onnx, "TopK", pdnn_export_in(onnx, PDNN_TOP_K_X), k),
                   place = pdnn_export_second(onnx);
    const uint32_t y =
        pdnn_export_op(onnx, "ScatterElements", 3,
                       (uint32_t[]){pdnn_export_spread(onnx, 2, x->dim, -INFINITY), place, largest});
    pdnn_export_add_whole(onnx, "axis", 1);
    return y;
}

const struct pdnn_op_def pdnn_op_top_k = {
    .name = "top_k",
    .category = "softmax",
    .formula = "y = x where x is among the k largest of its row, else -infinity",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"k", PDNN_TOP_K_K, .required = true}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .scratch = scratch, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = pdnn_no_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 1e-7,
    .onnx.write = nodes,
};
