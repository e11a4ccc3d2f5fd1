/* What attention does to scores (sequences heads, n, m): masks, learned and given numbers that are added, and
 * windows beyond which a product of heads is not computed. */
#include "gen/onnx/step.h"

#include "models/op.h"

#include <math.h>
#include <string.h>

#define OUT(k) pdnn_trace_out(trace, node, k)

/* How many columns row i of (n, m) sees: those up to column i + m - n, m of them or fewer; -1: others. */
static int64_t window_of(const struct pdnn_value_of *by, int64_t n, int64_t m, bool is_zero_seen) {
    int64_t window = 0;
    for (int64_t j = 0; j < m; j++) /* the last row sees the last ones */
        window += (pdnn_numbers_at(by, (n - 1) * m + j) == 0) == is_zero_seen;
    for (int64_t i = 0; i < pdnn_numbers_different(by); i++) {
        const int64_t k = pdnn_numbers_place(by, i), right = k % m - k / m - (m - n);
        if (((pdnn_numbers_at(by, k) == 0) == is_zero_seen) != (right <= 0 && right > -window))
            return -1;
    }
    return window > 0 ? window : -1;
}

/* An input that scores are masked with. */
static int32_t mask_input(struct pdnn_trace *trace, int rank, const int64_t *dim) {
    struct pdnn_draft *program = &trace->program;
    for (int32_t i = 0; i < program->n_entries; i++)
        if (!program->entry[i]->op && strcmp(program->entry[i]->input, "mask") == 0 &&
            program->entry[i]->rank == rank &&
            memcmp(program->entry[i]->dim, dim, (size_t)rank * sizeof *dim) == 0)
            return i;
    struct pdnn_draft_entry *entry = pdnn_draft_add(program, NULL, NULL, rank, dim);
    entry->input = "mask";
    pdnn_draft_real(entry, "sequence_mask", -10000);
    return program->n_entries - 1;
}

/* What hides a score that it is added to, or put in the place of. */
static bool is_far_below(double number) {
    return number <= -100;
}

/* Scores (..., n, m) of which some are not seen: `by` says which, by true or false or by numbers far below 0.
 * False in *is_mask if it is none. */
bool pdnn_scores_mask(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                      const struct pdnn_value_of *scores, const struct pdnn_value_of *by, bool seen_if,
                      bool *is_mask) {
    const int rank = scores->rank;
    *is_mask = scores->kind == PDNN_VALUE_DATA && !scores->is_plain && rank >= 3 && by->rank <= rank &&
               (by->is_plain || (by->kind == PDNN_VALUE_NUMBERS && pdnn_strided_elements(by) > 1));
    if (!*is_mask)
        return true;
    const int64_t n = scores->dim[rank - 2], m = scores->dim[rank - 1];
    const int64_t matrices = pdnn_strided_elements(scores) / n / m,
                  sequences = rank == 3 ? matrices : matrices / scores->dim[rank - 3];
    const int64_t count = pdnn_strided_elements(by);
    for (int d = 0; d < by->rank; d++)
        *is_mask = *is_mask && (by->dim[d] == 1 || by->dim[d] == scores->dim[d + rank - by->rank]);
    const bool are_numbers = by->kind == PDNN_VALUE_NUMBERS, is_zero_seen = !by->is_whole || !seen_if;
    bool is_all = are_numbers;
    for (int64_t i = 0, last = are_numbers ? pdnn_numbers_different(by) : 0; i < last && *is_mask; i++) {
        const double value = pdnn_numbers_at(by, pdnn_numbers_place(by, i));
        *is_mask = by->is_whole || value == 0 || is_far_below(value);
        is_all = is_all && (value == 0) == is_zero_seen;
    }
    if (!*is_mask)
        return true;
    const int64_t window = are_numbers && n > 1 && count == n * m ? window_of(by, n, m, is_zero_seen) : -1;
    const bool is_causal = window > 0;
    if (is_all) {
        *OUT(0) = *scores;
        return true;
    }
    const int32_t from = pdnn_strided_entry(trace, scores, 3, (int64_t[]){matrices, n, m});
    int32_t bias = -1;
    if (from < 0)
        return false;
    if (!is_causal && by->is_plain)
        bias = mask_input(trace, 2, (int64_t[]){sequences, m});
    else if (!is_causal)
        bias = mask_input(
            trace, 3,
            (int64_t[]){pdnn_strided_elements(by) / n / m ? pdnn_strided_elements(by) / n / m : 1, n, m});
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "mask", (int32_t[]){from, bias, -1}, 3, (int64_t[]){matrices, n, m});
    pdnn_draft_size(entry, "sequences", sequences);
    if (is_causal)
        pdnn_draft_size(entry, "causal", 1);
    if (is_causal && window < m)
        pdnn_draft_size(entry, "window", window);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, scores->dim, OUT(0));
}

/* A learned number for each head and relative position in a square window, as Swin has. */
bool pdnn_scores_relative(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                          const struct pdnn_value_of *scores, const struct pdnn_value_of *weight,
                          bool *is_relative) {
    const struct Onnx__TensorProto *root = trace->onnx->graph->initializer[weight->base];
    const int rank = scores->rank;
    const int64_t side = rank >= 3 ? (int64_t)rint(sqrt((double)scores->dim[rank - 1])) : 0;
    *is_relative = side > 1 && scores->dim[rank - 2] == scores->dim[rank - 1] &&
                   side * side == scores->dim[rank - 1] && root->n_dims == 2 &&
                   root->dims[0] == (2 * side - 1) * (2 * side - 1) && root->dims[1] == scores->dim[rank - 3];
    if (!*is_relative)
        return true;
    const int64_t cells = side * side, dim[3] = {pdnn_strided_elements(scores) / cells / cells, cells, cells};
    const int32_t from = pdnn_strided_entry(trace, scores, 3, dim);
    if (from < 0)
        return false;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "relative_bias", (int32_t[]){from, -1}, 3, dim);
    pdnn_draft_size(entry, "heads", root->dims[1]);
    pdnn_draft_size(entry, "window", side);
    pdnn_draft_weight(entry, "table", weight->base);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, scores->dim, OUT(0));
}

bool pdnn_scores_are_hidden(const struct pdnn_value_of *fill) {
    double number;
    if (pdnn_numbers_scalar(fill, &number))
        return is_far_below(number);
    bool is_far = fill->kind == PDNN_VALUE_NUMBERS;
    for (int64_t i = 0; is_far && i < pdnn_numbers_different(fill); i++)
        is_far = is_far_below(pdnn_numbers_at(fill, pdnn_numbers_place(fill, i)));
    return is_far;
}

/* Whether the entry is scores that numbers may be added to: of a product of heads. */
static bool are_scores(const struct pdnn_trace *trace, int32_t entry) {
    const struct pdnn_draft_entry *x = trace->program.entry[entry];
    return x->op && x->rank == 3 && x->n_from &&
           (x->op == pdnn_op_matmul.name || x->op == pdnn_op_relative_bias.name ||
            strcmp(x->op, "mask") == 0);
}

bool pdnn_scores_add(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                     const struct pdnn_value_of *a, const struct pdnn_value_of *b, bool *is_added) {
    const struct pdnn_value_of *x = a->rank > b->rank || pdnn_strided_elements(a) > pdnn_strided_elements(b)
                                        ? a
                                        : b,
                               *y = x == a ? b : a;
    const int r = x->rank;
    int64_t all = 1, own = 1; /* sequences of the scores, and of what is added */
    *is_added = r >= 4 && y->rank >= 4 && y->rank <= r && !x->fine && are_scores(trace, x->base) &&
                pdnn_strided_is_compact(trace, x) && y->dim[y->rank - 3] == 1 && x->dim[r - 3] >= 1 &&
                y->dim[y->rank - 1] == x->dim[r - 1] &&
                (y->dim[y->rank - 2] == 1 || y->dim[y->rank - 2] == x->dim[r - 2]);
    for (int d = 0; *is_added && d < r - 3; d++) {
        const int at = d - (r - y->rank);
        *is_added = at < 0 || y->dim[at] == x->dim[d] || (y->dim[at] == 1 && own == 1);
        all *= x->dim[d];
        own *= at < 0 ? 1 : y->dim[at];
    }
    if (!*is_added)
        return true;
    const int64_t n = x->dim[r - 2], m = x->dim[r - 1], each = y->dim[y->rank - 2];
    *is_added = (each == n || own == all) && (n > 1 || own == all);
    if (!*is_added)
        return true;
    const int64_t dim[3] = {all * x->dim[r - 3], n, m};
    const bool is_row = each == 1 && own == all;
    const int32_t from = pdnn_strided_entry(trace, x, 3, dim),
                  by = from < 0 ? -1
                                : pdnn_strided_entry(trace, y, is_row ? 2 : 3,
                                                     is_row ? (int64_t[]){own, m} : (int64_t[]){own, n, m});
    if (by < 0)
        return false;
    pdnn_draft_size(pdnn_draft_add(&trace->program, "mask", (int32_t[]){from, by, -1}, 3, dim), "sequences",
                    all);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, r, x->dim, OUT(0));
}

int64_t pdnn_scores_seen(const struct pdnn_value_of *scores, const struct pdnn_value_of *by) {
    const int r = scores->rank;
    bool is_window = scores->kind == PDNN_VALUE_DATA && by->kind == PDNN_VALUE_NUMBERS && r >= 3 &&
                     by->rank >= 2 && pdnn_numbers_are_by_diagonal(by, by->rank, by->dim) &&
                     by->dim[by->rank - 2] == scores->dim[r - 2] &&
                     by->dim[by->rank - 1] == scores->dim[r - 1];
    for (int64_t i = 0; is_window && i < pdnn_numbers_different(by); i++) {
        const double value = pdnn_numbers_at(by, pdnn_numbers_place(by, i));
        is_window = value == 0 || value == 1;
    }
    return is_window ? window_of(by, scores->dim[r - 2], scores->dim[r - 1], false) : -1;
}

bool pdnn_scores_window(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                        const struct pdnn_value_of *scores, const struct pdnn_value_of *by, bool *is_window) {
    const int64_t window = pdnn_scores_seen(scores, by);
    const struct pdnn_draft_entry *of =
        scores->kind == PDNN_VALUE_DATA ? trace->program.entry[scores->base] : NULL;
    *is_window = window > 0 && of->op == pdnn_op_matmul.name && of->rank == 3 && !scores->fine &&
                 pdnn_strided_is_compact(trace, scores) && !pdnn_draft_find(of, "window");
    if (!*is_window)
        return true;
    const struct pdnn_value_of made = *scores;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, of->op, (int32_t[]){of->from[0], of->from[1], -1}, of->rank, of->dim);
    memcpy(entry->attribute, of->attribute, sizeof of->attribute);
    entry->n_attributes = of->n_attributes;
    pdnn_draft_size(entry, "window", window);
    *OUT(0) = made;
    OUT(0)->base = trace->program.n_entries - 1;
    return true;
}
