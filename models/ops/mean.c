/* mean: y[o][i] = sum over k of x[o][k][i] / n; dx[o][k][i] = dy[o][i] / n. x is (o, k, i): along rows,
 * sequences of n rows each, which become one row, x (B n, C) to y (B, C); along columns, rows of n columns,
 * which become one column, x (R, n) to y (R, 1).
 * FLOP: one per element of x in both passes. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>

/* As (outer, n, inner); `x` is also dx. */
static struct pdnn_view view_of(const struct pdnn_node *node, const struct pdnn_tensor *x) {
    if (node->attr[PDNN_MEAN_ALONG] == PDNN_MEAN_COLUMNS)
        return (struct pdnn_view){x->dim[0], x->dim[1], 1};
    return (struct pdnn_view){node->attr[PDNN_MEAN_SEQUENCES], x->dim[0] / node->attr[PDNN_MEAN_SEQUENCES],
                              x->dim[1]};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    int64_t sequences = node->attr[PDNN_MEAN_SEQUENCES];
    bool by_row = node->attr[PDNN_MEAN_ALONG] == PDNN_MEAN_ROWS;
    if (node->n_inputs != 1 || x->rank != 2)
        return pdnn_fail(err, PDNN_INVALID, "mean: expected one matrix");
    if (by_row && (sequences < 1 || x->dim[0] % sequences))
        return pdnn_fail(err, PDNN_INVALID, "mean: sequences=%" PRId64 " does not divide %" PRId64 " rows",
                         sequences, x->dim[0]);
    struct pdnn_view view = view_of(node, x);
    outputs[0].rank = 2;
    outputs[0].dim[0] = view.outer;
    outputs[0].dim[1] = view.inner;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

/* n - 1 additions and a division for each result. */
static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_out(graph, node, 0)), 1, 1);
}

static void forward(struct pdnn_reference *r) {
    struct pdnn_view x = view_of(r->node, pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < x.outer * x.inner; i++) {
        const double *first = pdnn_ref_in(r, 0) + i / x.inner * x.n * x.inner + i % x.inner;
        double sum = first[0];
        for (int64_t k = 1; k < x.n; k++) {
            sum += first[k * x.inner];
            r->flop += 1;
        }
        pdnn_ref_out(r, 0)[i] = sum / (double)x.n;
        r->flop += 1;
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct pdnn_view dx = view_of(r->node, pdnn_node_out(r->graph, r->node, 0));
    for (int64_t i = 0; i < dx.outer * dx.n * dx.inner; i++) {
        int64_t place = i / (dx.n * dx.inner) * dx.inner + i % dx.inner;
        pdnn_ref_out(r, 0)[i] = pdnn_ref_in(r, 0)[place] / (double)dx.n;
        r->flop += 1;
    }
}

static const char *const along[] = {[PDNN_MEAN_ROWS] = "rows", [PDNN_MEAN_COLUMNS] = "columns", NULL};

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_view x = view_of(onnx->at, pdnn_export_shape_in(onnx, PDNN_MEAN_X));
    const bool along_columns = onnx->at->attr[PDNN_MEAN_ALONG] == PDNN_MEAN_COLUMNS;
    uint32_t y = pdnn_export_in(onnx, PDNN_MEAN_X);
    if (!along_columns)
        y = pdnn_export_reshape(onnx, y, 3, (int64_t[]){x.outer, x.n, x.inner});
    y = pdnn_export_op1(onnx, "ReduceMean", y);
    pdnn_export_add_wholes(onnx, "axes", 1, (int64_t[]){1});
    pdnn_export_add_whole(onnx, "keepdims", along_columns);
    return y;
}

const struct pdnn_op_def pdnn_op_mean = {
    .name = "mean",
    .category = "pooling",
    .formula = "y = mean of x's rows, or columns",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"along", PDNN_MEAN_ALONG, .words = along},
                   {"sequences", PDNN_MEAN_SEQUENCES, .fallback = "1"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
