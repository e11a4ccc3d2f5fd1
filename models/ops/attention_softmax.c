/* attention_softmax: scale, bias by relative position, mask, softmax and dropout of attention scores in one
 * pass:
 *   p = softmax(factor x + relative + bias) over the columns that a row sees, 0 elsewhere;
 *   y = p * mask / (1 - percent/100);
 *   dp = dy * mask / (1 - percent/100);  ds = p (dp - sum(dp p));  dx = factor ds
 * Scores are (B*h, n, m): B sequences of h heads, n queries, m keys; causal row i sees columns
 * j <= i + m - n, and with a window only the last so many of them. The bias is data, as that of a mask
 * (models/ops/mask.c). With heads, each of them has a number for each relative position, from a table
 * (models/ops/relative_bias.c), whose gradient is the sum of the ds that it was added to. Inputs: x, the bias
 * if has_bias is set, the table, and, in training with a percentage, the counter of models/ops/dropout.c,
 * whose mask is used; the outputs are then y, p and the counter.
 * Otherwise the only output is y, which equals p. A row that sees nothing, or only -infinity, gives 0
 * everywhere with gradient 0. FLOP per visible element: scale, biases, the softmax (models/ops/score_rows.h),
 * dropout; one addition for the counter. Backward: dropout, the softmax, scale, the table's sum. Bytes: only
 * the visible elements of x, p and dy are read. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/score_rows.h"
#include "models/relative_bias.h"

static bool drops(const struct pdnn_node *node) {
    return node->attr[PDNN_ATTENTION_SOFTMAX_TRAIN] && node->attr[PDNN_ATTENTION_SOFTMAX_PERCENT] > 0;
}

static const int64_t *relative_of(const struct pdnn_node *node) {
    return node->attr + PDNN_ATTENTION_SOFTMAX_RELATIVE;
}

static bool has_table(const struct pdnn_node *node) {
    return relative_of(node)[PDNN_RELATIVE_BIAS_HEADS] > 0;
}

/* The forward input. */
static int table_of(const struct pdnn_node *node) {
    return 1 + (node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS] != 0);
}

/* Index of the counter input; in forward it is the last input. */
static int counter_of(const struct pdnn_node *node) {
    return node->pass == PDNN_FORWARD ? node->n_inputs - 1 : PDNN_ATTENTION_SOFTMAX_BACK_COUNTER;
}

static struct pdnn_score_rows rows_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return pdnn_score_rows_of(pdnn_node_in(graph, node, 0), node->attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES],
                              node->attr[PDNN_ATTENTION_SOFTMAX_CAUSAL],
                              node->attr[PDNN_ATTENTION_SOFTMAX_WINDOW]);
}

/* A row adds to what it sees, and causal positions are those before it. */
static enum pdnn_status check_table(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                    struct pdnn_err *err) {
    if (relative_of(node)[PDNN_RELATIVE_BIAS_CAUSAL] && !node->attr[PDNN_ATTENTION_SOFTMAX_CAUSAL])
        return pdnn_fail(err, PDNN_INVALID,
                         "attention_softmax: causal relative positions of rows that are not causal");
    if (pdnn_node_in(graph, node, PDNN_ATTENTION_SOFTMAX_X)->dim[0] !=
        node->attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES] * relative_of(node)[PDNN_RELATIVE_BIAS_HEADS])
        return pdnn_fail(err, PDNN_INVALID, "attention_softmax: a table of other heads than the scores'");
    return pdnn_relative_bias_check(relative_of(node), pdnn_node_in(graph, node, PDNN_ATTENTION_SOFTMAX_X),
                                    pdnn_node_in(graph, node, table_of(node)), err);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const int64_t *attr = node->attr;
    bool has_bias = attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS];
    int64_t percent = attr[PDNN_ATTENTION_SOFTMAX_PERCENT];
    if (node->n_inputs != 1 + has_bias + has_table(node) + drops(node) || percent < 0 ||
        percent > PDNN_DROPOUT_PERCENT_MAX ||
        (drops(node) && !pdnn_is_dropout_counter(pdnn_node_in(graph, node, counter_of(node)))))
        return pdnn_fail(err, PDNN_INVALID,
                         "attention_softmax: expected scores, a bias, a table and a counter (1) where the "
                         "attributes say so, and 0 to %d percent",
                         PDNN_DROPOUT_PERCENT_MAX);
    enum pdnn_status status = pdnn_score_rows_infer(
        node, pdnn_node_in(graph, node, PDNN_ATTENTION_SOFTMAX_X),
        has_bias ? pdnn_node_in(graph, node, PDNN_ATTENTION_SOFTMAX_BIAS) : NULL,
        attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES], &outputs[PDNN_ATTENTION_SOFTMAX_Y], err);
    if (status == PDNN_OK && has_table(node))
        status = check_table(graph, node, err);
    if (status != PDNN_OK || !drops(node))
        return status;
    outputs[PDNN_ATTENTION_SOFTMAX_P] = outputs[PDNN_ATTENTION_SOFTMAX_Y];
    outputs[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER].rank = 1;
    outputs[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER].dim[0] = 1;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t inputs[] = {
        [PDNN_ATTENTION_SOFTMAX_BACK_DY] = pdnn_backward_of(backward, node->output[PDNN_ATTENTION_SOFTMAX_Y]),
        [PDNN_ATTENTION_SOFTMAX_BACK_P] =
            node->output[drops(node) ? PDNN_ATTENTION_SOFTMAX_P : PDNN_ATTENTION_SOFTMAX_Y],
        [PDNN_ATTENTION_SOFTMAX_BACK_COUNTER] = drops(node) ? node->input[counter_of(node)] : PDNN_NONE,
        PDNN_NONE};
    const uint32_t
        x = node->input[PDNN_ATTENTION_SOFTMAX_X],
        table = has_table(node) ? node->input[table_of(node)] : PDNN_NONE,
        targets[] = {
            [PDNN_ATTENTION_SOFTMAX_BACK_DX] = x, [PDNN_ATTENTION_SOFTMAX_BACK_DTABLE] = table, PDNN_NONE};
    if (pdnn_backward_wants(backward, x) || (has_table(node) && pdnn_backward_wants(backward, table)))
        pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    int64_t seen = pdnn_score_rows_elements(&rows);
    int64_t per_element =
        1 + node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS] + has_table(node) + PDNN_SOFTMAX_FLOP + drops(node);
    pdnn_count_add(count, rows.matrices, seen, per_element);
    pdnn_count_add(count, rows.matrices, seen - pdnn_score_rows_count(&rows), 1); /* comparisons */
    pdnn_count_add(count, pdnn_dropout_counts(node, PDNN_ATTENTION_SOFTMAX_NEW_COUNTER), 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    pdnn_count_add(count, rows.matrices, pdnn_score_rows_elements(&rows),
                   drops(node) + PDNN_SOFTMAX_BACKWARD_FLOP + 1 + has_table(node));
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct pdnn_score_rows rows = rows_of(graph, node);
    const bool has_bias = node->pass == PDNN_FORWARD && node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS];
    for (int i = 0; i < node->n_inputs; i++) {
        const struct pdnn_tensor *tensor = pdnn_node_in(graph, node, i);
        if (tensor->rank == 3 && !(has_bias && i == PDNN_ATTENTION_SOFTMAX_BIAS))
            bytes[i] = pdnn_score_rows_bytes(&rows, tensor->dtype);
    }
    if (node->pass != PDNN_FORWARD || !has_table(node))
        return;
    const struct pdnn_tensor *table = pdnn_node_in(graph, node, table_of(node));
    const struct pdnn_relative_bias_places places =
        pdnn_relative_bias_places_of(relative_of(node), pdnn_node_in(graph, node, 0), table);
    bytes[table_of(node)] =
        (uint64_t)(pdnn_relative_bias_met(&places) * table->dim[1]) * pdnn_dtype_bytes(table->dtype);
}

/* The table of a node, and where its rows go. */
struct relative {
    struct pdnn_relative_bias_places places;
    const int32_t *index; /* NULL: there is no table */
    int64_t heads;
};

static int64_t scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const bool is_forward = node->pass == PDNN_FORWARD;
    if (!has_table(node))
        return 0;
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(
        relative_of(node), pdnn_node_in(graph, node, 0),
        is_forward ? pdnn_node_in(graph, node, table_of(node))
                   : pdnn_node_out(graph, node, PDNN_ATTENTION_SOFTMAX_BACK_DTABLE));
    return pdnn_relative_bias_cells(&places);
}

static struct relative begin_relative(struct pdnn_reference *r, const struct pdnn_tensor *table) {
    struct relative relative = {.heads = relative_of(r->node)[PDNN_RELATIVE_BIAS_HEADS]};
    if (!table)
        return relative;
    relative.places =
        pdnn_relative_bias_places_of(relative_of(r->node), pdnn_node_in(r->graph, r->node, 0), table);
    int32_t *index = (void *)r->scratch;
    pdnn_relative_bias_index(&relative.places, index);
    relative.index = index;
    return relative;
}

/* The table's element for column j of a row of all matrices. */
static int64_t element_at(const struct relative *relative, int64_t row, int64_t j) {
    const int64_t n = relative->places.n;
    return relative->index[pdnn_relative_bias_cell(&relative->places, row % n, j)] * relative->heads +
           row / n % relative->heads;
}

/* Writes what a row sees to y, scaled and with bias. */
static void scale_and_mask(struct pdnn_reference *r, const double *x, const double *bias, double *y,
                           int64_t seen) {
    double factor = r->node->coef[PDNN_ATTENTION_SOFTMAX_FACTOR];
    for (int64_t j = 0; j < seen; j++) {
        y[j] = factor * x[j];
        r->flop += 1;
    }
    for (int64_t j = 0; bias && j < seen; j++) {
        y[j] += bias[j];
        r->flop += 1;
    }
}

/* y = x * mask, for the scores from element `first` on; y may be x. */
static void drop(struct pdnn_reference *r, const double *x, int64_t first, double *y, int64_t seen) {
    struct pdnn_dropout_mask mask =
        pdnn_dropout_mask_of(r, counter_of(r->node), r->node->attr[PDNN_ATTENTION_SOFTMAX_PERCENT]);
    for (int64_t j = 0; j < seen; j++) {
        y[j] = x[j] * pdnn_dropout_mask_at(&mask, first + j);
        r->flop += 1;
    }
}

static void forward(struct pdnn_reference *r) {
    struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    bool has_bias = r->node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS];
    const struct pdnn_tensor *of_bias =
        has_bias ? pdnn_node_in(r->graph, r->node, PDNN_ATTENTION_SOFTMAX_BIAS) : NULL;
    const double *table = has_table(r->node) ? pdnn_ref_in(r, table_of(r->node)) : NULL;
    const struct relative relative =
        begin_relative(r, table ? pdnn_node_in(r->graph, r->node, table_of(r->node)) : NULL);
    if (drops(r->node))
        pdnn_dropout_count(r, counter_of(r->node), PDNN_ATTENTION_SOFTMAX_NEW_COUNTER);
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        int64_t sequence = row / rows.n / rows.heads, before = pdnn_score_rows_first(&rows, row % rows.n);
        int64_t first = row * rows.m + before, seen = pdnn_score_rows_seen(&rows, row % rows.n);
        double *y = pdnn_ref_out(r, PDNN_ATTENTION_SOFTMAX_Y) + first,
               *p = drops(r->node) ? pdnn_ref_out(r, PDNN_ATTENTION_SOFTMAX_P) + first : y;
        scale_and_mask(r, pdnn_ref_in(r, PDNN_ATTENTION_SOFTMAX_X) + first,
                       has_bias ? pdnn_ref_in(r, PDNN_ATTENTION_SOFTMAX_BIAS) +
                                      pdnn_score_rows_bias(of_bias, sequence, row % rows.n) + before
                                : NULL,
                       p, seen);
        for (int64_t j = 0; table && j < seen; j++) {
            p[j] += table[element_at(&relative, row, before + j)];
            r->flop += 1;
        }
        if (seen > 0)
            pdnn_softmax_row(r, p, p, seen);
        if (drops(r->node))
            drop(r, p, first, y, seen);
        for (int64_t j = -before; j < rows.m - before; j++) {
            if (j < 0 || j >= seen)
                y[j] = p[j] = 0;
        }
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct pdnn_score_rows rows = rows_of(r->graph, r->node);
    double factor = r->node->coef[PDNN_ATTENTION_SOFTMAX_FACTOR];
    double *dtable = has_table(r->node) ? pdnn_ref_out(r, PDNN_ATTENTION_SOFTMAX_BACK_DTABLE) : NULL;
    const struct relative relative = begin_relative(
        r, dtable ? pdnn_node_out(r->graph, r->node, PDNN_ATTENTION_SOFTMAX_BACK_DTABLE) : NULL);
    for (int64_t k = 0; dtable && k < relative.places.rows * relative.heads; k++)
        dtable[k] = 0;
    for (int64_t row = 0; row < rows.matrices * rows.n; row++) {
        int64_t before = pdnn_score_rows_first(&rows, row % rows.n), first = row * rows.m + before;
        int64_t seen = pdnn_score_rows_seen(&rows, row % rows.n);
        const double *dy = pdnn_ref_in(r, PDNN_ATTENTION_SOFTMAX_BACK_DY) + first;
        double *dx = pdnn_ref_out(r, 0) + first;
        if (drops(r->node))
            drop(r, dy, first, dx, seen);
        pdnn_softmax_row_backward(r, drops(r->node) ? dx : dy,
                                  pdnn_ref_in(r, PDNN_ATTENTION_SOFTMAX_BACK_P) + first, dx, seen);
        for (int64_t j = 0; dtable && j < seen; j++) {
            dtable[element_at(&relative, row, before + j)] += dx[j];
            r->flop += 1;
        }
        for (int64_t j = -before; j < rows.m - before; j++) {
            bool is_seen = j >= 0 && j < seen;
            dx[j] = is_seen ? factor * dx[j] : 0;
            r->flop += is_seen;
        }
    }
}

const struct pdnn_op_def pdnn_op_attention_softmax = {
    .name = "attention_softmax",
    .category = "softmax",
    .formula = "y = dropout(softmax(factor x + relative bias + mask))",
    .attributes = {{"sequences", PDNN_ATTENTION_SOFTMAX_SEQUENCES},
                   {"causal", PDNN_ATTENTION_SOFTMAX_CAUSAL},
                   {"has_bias", PDNN_ATTENTION_SOFTMAX_HAS_BIAS},
                   {"percent", PDNN_ATTENTION_SOFTMAX_PERCENT},
                   {"train", PDNN_ATTENTION_SOFTMAX_TRAIN},
                   {"window", PDNN_ATTENTION_SOFTMAX_WINDOW},
                   {"heads", PDNN_ATTENTION_SOFTMAX_RELATIVE + PDNN_RELATIVE_BIAS_HEADS},
                   {"square", PDNN_ATTENTION_SOFTMAX_RELATIVE + PDNN_RELATIVE_BIAS_WINDOW},
                   {"before", PDNN_ATTENTION_SOFTMAX_RELATIVE + PDNN_RELATIVE_BIAS_CAUSAL},
                   {"distance", PDNN_ATTENTION_SOFTMAX_RELATIVE + PDNN_RELATIVE_BIAS_DISTANCE},
                   {"factor", PDNN_ATTENTION_SOFTMAX_FACTOR, .coefficient = true}},
    .coef = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = 1},
    .outputs = {"y", "p", "new_counter"},
    .updates = {[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER] = PDNN_UPDATES_LAST},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop,
                               .reference = forward,
                               .in_place = 1,
                               .bytes = bytes,
                               .scratch = scratch},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop,
                                     .reference = backward_data,
                                     .in_place = 1,
                                     .bytes = bytes,
                                     .scratch = scratch}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_ROW,
};
