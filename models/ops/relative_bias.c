/* relative_bias: y[b h + k][i][j] = x[b h + k][i][j] + table[r(i, j)][k]: a learned number for each head and
 * each relative position of query i and key j; dtable[r][k] = sum over the b, i, j with r(i, j) = r of
 * dy[b h + k][i][j], and dx = dy. Scores are (B*h, n, m): B sequences of h heads, n queries, m keys, and the
 * queries have the last n of the m positions. r is one of two:
 * - window w (Liu and others, 2021): n = m = w^2 positions in a square, at row a and column c of which
 *   position i = a w + c is; r = (a_i - a_j + w - 1) (2w - 1) + c_i - c_j + w - 1, of (2w - 1)^2.
 * - buckets (Raffel and others, 2020): of the distance d = j - (i + m - n). Half of the buckets are for
 *   d > 0; if causal, all are for d <= 0, and what is not seen, d > 0, stays as it is. Of these K buckets the
 * first e = K/2 have one distance each, and the others follow the logarithm: e + floor((K - e) log(|d| / e) /
 * log(distance / e)), at most K - 1. FLOP: one addition for each score seen, in both passes. Bytes: of x, y
 * and dy what is seen, of the table the rows that are met. */
#include "base/memory.h"
#include "models/attributes.h"
#include "models/ops/score_rows.h"
#include "models/relative_bias.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <stdlib.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_X);
    const struct pdnn_tensor *table =
        node->n_inputs == PDNN_RELATIVE_BIAS_INPUTS ? pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_TABLE) : x;
    outputs[PDNN_RELATIVE_BIAS_Y].rank = x->rank;
    memcpy(outputs[PDNN_RELATIVE_BIAS_Y].dim, x->dim, sizeof x->dim);
    return pdnn_relative_bias_check(node->attr, x, table, err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_RELATIVE_BIAS_Y]);
    if (pdnn_backward_wants(backward, node->input[PDNN_RELATIVE_BIAS_TABLE]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_WEIGHTS, node->input[PDNN_RELATIVE_BIAS_TABLE],
                           (uint32_t[]){dy, PDNN_NONE});
    if (pdnn_backward_wants(backward, node->input[PDNN_RELATIVE_BIAS_X]))
        pdnn_backward_pass_on(backward, node->input[PDNN_RELATIVE_BIAS_X], dy);
}

static struct pdnn_score_rows rows_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *scores = pdnn_node_in(graph, node, 0);
    return pdnn_score_rows_of(scores, scores->dim[0] / node->attr[PDNN_RELATIVE_BIAS_HEADS],
                              node->attr[PDNN_RELATIVE_BIAS_CAUSAL], 0);
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    pdnn_count_add(count, rows.matrices, pdnn_score_rows_elements(&rows), 1);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    bytes[0] = pdnn_score_rows_bytes(&rows, pdnn_node_in(graph, node, 0)->dtype);
    if (node->pass != PDNN_FORWARD)
        return;
    const struct pdnn_tensor *table = pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_TABLE);
    const struct pdnn_relative_bias_places places =
        pdnn_relative_bias_places_of(node->attr, pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_X), table);
    bytes[PDNN_RELATIVE_BIAS_INPUTS] = bytes[PDNN_RELATIVE_BIAS_X];
    bytes[PDNN_RELATIVE_BIAS_TABLE] =
        (uint64_t)(pdnn_relative_bias_met(&places) * table->dim[1]) * pdnn_dtype_bytes(table->dtype);
}

static const int32_t *index_of(const struct pdnn_relative_bias_places *places, struct pdnn_reference *r) {
    int32_t *index = (void *)r->scratch;
    pdnn_relative_bias_index(places, index);
    return index;
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_RELATIVE_BIAS_X), *table = pdnn_ref_in(r, PDNN_RELATIVE_BIAS_TABLE);
    double *y = pdnn_ref_out(r, PDNN_RELATIVE_BIAS_Y);
    const struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    const struct pdnn_relative_bias_places places =
        pdnn_relative_bias_places_of(r->node->attr, pdnn_node_in(r->graph, r->node, PDNN_RELATIVE_BIAS_X),
                                     pdnn_node_in(r->graph, r->node, PDNN_RELATIVE_BIAS_TABLE));
    const int32_t *index = index_of(&places, r);
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        int64_t i = row % rows.n, head = row / rows.n % rows.heads;
        for (int64_t j = 0; j < rows.m; j++) {
            bool is_seen = j < pdnn_score_rows_seen(&rows, i);
            y[row * rows.m + j] =
                x[row * rows.m + j] +
                (is_seen ? table[index[pdnn_relative_bias_cell(&places, i, j)] * rows.heads + head] : 0);
            r->flop += is_seen;
        }
    }
}

static void backward_weights(struct pdnn_reference *r) {
    const double *dy = pdnn_ref_in(r, PDNN_RELATIVE_BIAS_BACK_DY);
    double *dtable = pdnn_ref_out(r, PDNN_RELATIVE_BIAS_BACK_DTABLE);
    const struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(
        r->node->attr, pdnn_node_in(r->graph, r->node, PDNN_RELATIVE_BIAS_BACK_DY),
        pdnn_node_out(r->graph, r->node, PDNN_RELATIVE_BIAS_BACK_DTABLE));
    const int32_t *index = index_of(&places, r);
    for (int64_t k = 0; k < places.rows * rows.heads; k++)
        dtable[k] = 0;
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        int64_t i = row % rows.n, head = row / rows.n % rows.heads;
        for (int64_t j = 0; j < pdnn_score_rows_seen(&rows, i); j++) {
            dtable[index[pdnn_relative_bias_cell(&places, i, j)] * rows.heads + head] += dy[row * rows.m + j];
            r->flop += 1;
        }
    }
}

static int64_t scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(
        node->attr, pdnn_node_in(graph, node, 0),
        node->pass == PDNN_FORWARD ? pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_TABLE)
                                   : pdnn_node_out(graph, node, PDNN_RELATIVE_BIAS_BACK_DTABLE));
    return pdnn_relative_bias_cells(&places);
}

/* The table's row of each pair of positions. */
static uint32_t rows_of_pairs(struct pdnn_export *onnx, const struct pdnn_score_rows *rows) {
    const struct pdnn_relative_bias_places places =
        pdnn_relative_bias_places_of(onnx->at->attr, pdnn_export_shape_in(onnx, PDNN_RELATIVE_BIAS_X),
                                     pdnn_export_shape_in(onnx, PDNN_RELATIVE_BIAS_TABLE));
    const int64_t n = rows->n, m = rows->m;
    const uint32_t kept = pdnn_export_kept(onnx, 0);
    if (kept != PDNN_NONE)
        return kept;
    int32_t *index = pdnn_alloc((size_t)pdnn_relative_bias_cells(&places), sizeof *index);
    int64_t *row = pdnn_alloc((size_t)(n * m), sizeof *row);
    pdnn_relative_bias_index(&places, index);
    for (int64_t i = 0; i < n * m; i++)
        row[i] = index[pdnn_relative_bias_cell(&places, i / m, i % m)];
    free(index);
    return pdnn_export_take(onnx, 0, 2, (int64_t[]){n, m}, row);
}

/* 1 where a pair is seen, else 0. */
static uint32_t seen_pairs(struct pdnn_export *onnx, const struct pdnn_score_rows *rows) {
    const uint32_t kept = pdnn_export_kept(onnx, 1);
    return kept != PDNN_NONE
               ? kept
               : pdnn_export_keep(
                     onnx, 1, pdnn_export_band(onnx, rows->n, rows->m, INT64_MIN, rows->m - rows->n + 1, 1));
}

/* What is added is (heads, queries, keys), and 0 where a pair is not seen. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_score_rows rows = rows_of(onnx->graph, onnx->at);
    const int64_t B = rows.matrices / rows.heads;
    const uint32_t x = pdnn_export_scores_in(onnx, PDNN_RELATIVE_BIAS_X, B);
    uint32_t y = pdnn_export_op2(onnx, "Gather", pdnn_export_in(onnx, PDNN_RELATIVE_BIAS_TABLE),
                                 rows_of_pairs(onnx, &rows));
    y = pdnn_export_transpose(onnx, y, 3, (int64_t[]){2, 0, 1});
    if (pdnn_score_rows_elements(&rows) < rows.n * rows.m)
        y = pdnn_export_op2(onnx, "Mul", y, seen_pairs(onnx, &rows));
    return pdnn_export_give_scores(onnx, pdnn_export_op2(onnx, "Add", x, y), B);
}

const struct pdnn_op_def pdnn_op_relative_bias = {
    .name = "relative_bias",
    .category = "positions",
    .formula = "y = x + table[relative position, in a window or in buckets][head]",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"table", PDNN_OPERAND_WEIGHT, .shape = "window > 0 ? (2 * window - 1)^2 : buckets, heads",
                  .fill = PDNN_FILL_UNIFORM, .scale = 1}},
    .attributes = {{"heads", PDNN_RELATIVE_BIAS_HEADS, .required = true},
                   {"window", PDNN_RELATIVE_BIAS_WINDOW},
                   {"causal", PDNN_RELATIVE_BIAS_CAUSAL},
                   {"distance", PDNN_RELATIVE_BIAS_DISTANCE, .fallback = "128"},
                   {"buckets", PDNN_SIZE, .fallback = "32"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] =
                 {.flop = flop, .reference = forward, .bytes = bytes, .in_place = 1, .scratch = scratch},
             [PDNN_BACKWARD_WEIGHTS] =
                 {.flop = flop, .reference = backward_weights, .bytes = bytes, .scratch = scratch}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
