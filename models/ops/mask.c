/* mask: y = x + bias, and -infinity in the columns j > i + m - n that causal row i does not see, and with a
 * window in those before the last so many of the others. The bias is data: (B, m), added to all rows of all
 * heads of its sequence, or (W, n, m), a matrix for all heads of each of W sequences in turn. The gradient of
 * x is dy, and 0 where y is -infinity. Scores are (B*h, n, m): B sequences of h heads, n queries, m keys.
 * FLOP: one addition per visible element. Bytes: only the visible elements of x and dy are read. */
#include "base/memory.h"
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/score_rows.h"
#include "models/onnx/nodes.h"

#include <math.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *bias =
        node->n_inputs > PDNN_MASK_BIAS ? pdnn_node_in(graph, node, PDNN_MASK_BIAS) : NULL;
    if (node->attr[PDNN_MASK_WINDOW] < 0 || (node->attr[PDNN_MASK_WINDOW] && !node->attr[PDNN_MASK_CAUSAL]))
        return pdnn_fail(err, PDNN_INVALID, "mask: a window is for what is causal");
    return pdnn_score_rows_infer(node, pdnn_node_in(graph, node, PDNN_MASK_X), bias,
                                 node->attr[PDNN_MASK_SEQUENCES], outputs, err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_MASK_Y]);
    if (!pdnn_backward_wants(backward, node->input[PDNN_MASK_X]))
        return;
    if (node->attr[PDNN_MASK_CAUSAL])
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_MASK_X],
                           (uint32_t[]){dy, PDNN_NONE});
    else
        pdnn_backward_pass_on(backward, node->input[PDNN_MASK_X], dy);
}

static struct pdnn_score_rows rows_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return pdnn_score_rows_of(pdnn_node_in(graph, node, PDNN_MASK_X), node->attr[PDNN_MASK_SEQUENCES],
                              node->attr[PDNN_MASK_CAUSAL], node->attr[PDNN_MASK_WINDOW]);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    pdnn_count_add(count, rows.matrices, pdnn_score_rows_elements(&rows), node->n_inputs > PDNN_MASK_BIAS);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    bytes[PDNN_MASK_X] = pdnn_score_rows_bytes(&rows, pdnn_node_in(graph, node, PDNN_MASK_X)->dtype);
}

static void forward(struct pdnn_reference *r) {
    struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        const double *x = pdnn_ref_in(r, PDNN_MASK_X) + row * rows.m;
        double *y = pdnn_ref_out(r, PDNN_MASK_Y) + row * rows.m;
        int64_t sequence = row / rows.n / rows.heads, first = pdnn_score_rows_first(&rows, row % rows.n);
        bool has_bias = r->node->n_inputs > PDNN_MASK_BIAS;
        const double *bias = has_bias
                                 ? pdnn_ref_in(r, PDNN_MASK_BIAS) +
                                       pdnn_score_rows_bias(pdnn_node_in(r->graph, r->node, PDNN_MASK_BIAS),
                                                            sequence, row % rows.n)
                                 : NULL;
        int64_t end = first + pdnn_score_rows_seen(&rows, row % rows.n);
        for (int64_t j = 0; j < rows.m; j++)
            y[j] = j >= first && j < end ? x[j] : -INFINITY;
        for (int64_t j = first; bias && j < end; j++) {
            y[j] += bias[j];
            r->flop += 1;
        }
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        int64_t first = pdnn_score_rows_first(&rows, row % rows.n);
        int64_t end = first + pdnn_score_rows_seen(&rows, row % rows.n);
        for (int64_t j = 0; j < rows.m; j++)
            pdnn_ref_out(r, PDNN_MASK_Y)[row * rows.m + j] =
                j >= first && j < end ? pdnn_ref_in(r, PDNN_MASK_X)[row * rows.m + j] : 0;
    }
}

/* 0 where a row sees a column, else -infinity: of what is left, and right of it. */
static uint32_t unseen(struct pdnn_export *onnx, const struct pdnn_score_rows *rows) {
    const int64_t n = rows->n, m = rows->m, left = pdnn_score_rows_first(rows, n - 1) - (n - 1);
    uint32_t y = pdnn_export_kept(onnx, 0);
    if (y != PDNN_NONE)
        return y;
    y = pdnn_export_band(onnx, n, m, m - n + 1, INT64_MAX, -INFINITY);
    if (pdnn_score_rows_first(rows, n - 1) > 0)
        y = pdnn_export_op2(onnx, "Add", y, pdnn_export_band(onnx, n, m, INT64_MIN, left, -INFINITY));
    return pdnn_export_keep(onnx, 0, y);
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_score_rows rows = rows_of(onnx->graph, onnx->at);
    const int64_t n = rows.n, m = rows.m, heads = rows.heads, B = rows.matrices / heads;
    if (pdnn_score_rows_count(&rows) < n)
        return pdnn_export_refuse(onnx, "has no form where a row sees nothing");
    uint32_t y = pdnn_export_scores_in(onnx, PDNN_MASK_X, B);
    if (onnx->at->n_inputs > PDNN_MASK_BIAS) {
        const struct pdnn_tensor *shape =
            pdnn_export_shape_in(onnx, PDNN_MASK_BIAS); /* (B, m) or (W, n, m) */
        const int64_t W = shape->dim[0], each = shape->rank == 3 ? n : 1;
        const uint32_t bias =
            pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_MASK_BIAS), 4, (int64_t[]){W, 1, each, m});
        if (W < B)
            y = pdnn_export_reshape(onnx, y, 5, (int64_t[]){B / W, W, heads, n, m});
        y = pdnn_export_op2(onnx, "Add", y, bias);
        if (W < B)
            y = pdnn_export_reshape(onnx, y, 4, (int64_t[]){B, heads, n, m});
    }
    if (pdnn_score_rows_elements(&rows) < n * m)
        y = pdnn_export_op2(onnx, "Add", y, unseen(onnx, &rows));
    return pdnn_export_give_scores(onnx, y, B);
}

const struct pdnn_op_def pdnn_op_mask = {
    .name = "mask",
    .category = "softmax",
    .formula = "y = x + bias, -infinity beyond what a causal row sees",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"bias", PDNN_OPERAND_DATA, .optional = true}},
    .attributes = {{"sequences", PDNN_MASK_SEQUENCES, .required = true},
                   {"causal", PDNN_MASK_CAUSAL},
                   {"window", PDNN_MASK_WINDOW}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1, .bytes = bytes},
             [PDNN_BACKWARD_DATA] =
                 {.flop = pdnn_no_flop, .reference = backward_data, .in_place = 1, .bytes = bytes}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
