/* relative_bias: y[b h + k][i][j] = x[b h + k][i][j] + table[r(i, j)][k]: a learned number for each head and
 * each relative position of query i and key j; dtable[r][k] = sum over the b, i, j with r(i, j) = r of
 * dy[b h + k][i][j], and dx = dy. Scores are (B*h, n, m): B sequences of h heads, n queries, m keys, and the
 * queries have the last n of the m positions. r is one of two:
 * - window w (Liu and others, 2021): n = m = w^2 positions in a square, at row a and column c of which
 *   position i = a w + c is; r = (a_i - a_j + w - 1) (2w - 1) + c_i - c_j + w - 1, of (2w - 1)^2.
 * - buckets (Raffel and others, 2020): of the distance d = j - (i + m - n). Half of the buckets are for
 *   d > 0; if causal, all are for d <= 0, and what is not seen, d > 0, stays as it is. Of these K buckets the
 * first e = K/2 have one distance each, and the others follow the logarithm: e + floor((K - e) log(|d| / e) /
 * log(distance / e)), at most K - 1. FLOP: one addition for each score seen, in both passes. Bytes: of x and
 * dy what is seen. */
#include "models/attributes.h"
#include "models/ops/score_rows.h"
#include "models/relative_bias.h"
#include "models/transform/backward.h"

#include <inttypes.h>
#include <string.h>

enum { WINDOW_MAX = 1024 };

static enum pdnn_status check_window(const struct pdnn_relative_bias_places *places, struct pdnn_err *err) {
    const int64_t w = places->window, line = 2 * w - 1;
    if (w < 0 || w > WINDOW_MAX || places->is_causal)
        return pdnn_fail(err, PDNN_INVALID, "relative_bias: window=%" PRId64 " is %s", w,
                         places->is_causal ? "not causal" : "not between 0 and 1024");
    if (w * w != places->n || w * w != places->m || places->rows != line * line)
        return pdnn_fail(err, PDNN_INVALID,
                         "relative_bias: window=%" PRId64 " is for %" PRId64 " queries and keys and a table "
                         "of %" PRId64 " rows, not %" PRId64 ", %" PRId64 " and %" PRId64,
                         w, w * w, line * line, places->n, places->m, places->rows);
    return PDNN_OK;
}

static enum pdnn_status check_buckets(const struct pdnn_relative_bias_places *places, struct pdnn_err *err) {
    int64_t exact = (places->is_causal ? places->rows : places->rows / 2) / 2;
    if (exact < 1 || places->rows % (places->is_causal ? 1 : 2))
        return pdnn_fail(err, PDNN_INVALID, "relative_bias: buckets=%" PRId64 " are not %s", places->rows,
                         places->is_causal ? "2 or more" : "4 or more, and even");
    if (places->distance <= exact)
        return pdnn_fail(err, PDNN_INVALID,
                         "relative_bias: distance=%" PRId64 " is not above %" PRId64
                         ", up to which buckets=%" PRId64 " have a distance each",
                         places->distance, exact, places->rows);
    return PDNN_OK;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_X);
    const struct pdnn_tensor *table =
        node->n_inputs > PDNN_RELATIVE_BIAS_TABLE ? pdnn_node_in(graph, node, PDNN_RELATIVE_BIAS_TABLE) : x;
    int64_t heads = node->attr[PDNN_RELATIVE_BIAS_HEADS];
    if (node->n_inputs != PDNN_RELATIVE_BIAS_INPUTS || x->rank != 3 || heads < 1 || x->dim[0] % heads ||
        table->rank != 2 || table->dim[0] > INT32_MAX || table->dim[1] != heads)
        return pdnn_fail(
            err, PDNN_INVALID,
            "relative_bias: expected scores (B*h, n, m) and a table (rows, h) of h=%" PRId64 " heads", heads);
    outputs[PDNN_RELATIVE_BIAS_Y].rank = 3;
    memcpy(outputs[PDNN_RELATIVE_BIAS_Y].dim, x->dim, sizeof x->dim);
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(node->attr, x, table);
    return places.window ? check_window(&places, err) : check_buckets(&places, err);
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
}

/* The table's row for query i and key j. */
static int64_t row_at(const struct pdnn_relative_bias_places *places, const int32_t *index, int64_t i,
                      int64_t j) {
    return index[places->window ? i * places->m + j : j - i + places->n - 1];
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
                x[row * rows.m + j] + (is_seen ? table[row_at(&places, index, i, j) * rows.heads + head] : 0);
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
            dtable[row_at(&places, index, i, j) * rows.heads + head] += dy[row * rows.m + j];
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
};
