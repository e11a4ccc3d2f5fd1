#include "results/studies/direction_tests.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct pdnn_direction_facts *fact(const struct pdnn_evidence *e, size_t i) {
    return &e->facts[e->series.at[i]];
}

static const char *axis_text(const struct pdnn_evidence *e, size_t i) {
    return pdnn_selection_get(e->selection, e->series.at[i], e->axis);
}

/* The member with this value of the axis, or NULL. */
static const struct pdnn_direction_facts *fact_at(const struct pdnn_evidence *e, const char *value) {
    for (size_t i = 0; i < e->series.count; i++) {
        if (strcmp(axis_text(e, i), value) == 0)
            return fact(e, i);
    }
    return NULL;
}

static enum pdnn_verdict verdict_of(bool holds) {
    return holds ? PDNN_VERDICT_PASS : PDNN_VERDICT_FAIL;
}

static enum pdnn_verdict test_trend(const struct pdnn_direction *direction, const struct pdnn_evidence *e) {
    bool holds = true;
    double before = 0;
    for (size_t i = 0; i < e->series.count; i++) {
        double share = pdnn_facts_share(fact(e, i), direction->groups, direction->n_groups);
        holds = holds && (!i || (direction->grows ? share > before : share < before));
        pdnn_str_printf(e->numbers, "%s%.2f %%", i ? ", " : "", share);
        before = share;
    }
    return verdict_of(holds);
}

/* A group's percentage of the time of the repeated layers. */
static double layer_share(const struct pdnn_direction_facts *facts, enum pdnn_op_group group) {
    double sum_ns = 0;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++)
        sum_ns += facts->layer_group[g].time_ns;
    return sum_ns > 0 ? facts->layer_group[group].time_ns / sum_ns * 100 : 0;
}

/* "Hardly": no share changes by more than this many points. */
static const double hardly_points = 5;

static enum pdnn_verdict test_layer_shares(const struct pdnn_direction *direction,
                                           const struct pdnn_evidence *e) {
    double most = -1;
    size_t moved = 0;
    (void)direction;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++) {
        double least = INFINITY, greatest = -INFINITY;
        for (size_t i = 0; i < e->series.count; i++) {
            least = fmin(least, layer_share(fact(e, i), (enum pdnn_op_group)g));
            greatest = fmax(greatest, layer_share(fact(e, i), (enum pdnn_op_group)g));
        }
        if (greatest - least > most) {
            most = greatest - least;
            moved = g;
        }
    }
    pdnn_str_printf(e->numbers, "%s moves most, by %.2f points of the layers' time (",
                    pdnn_op_groups[moved].name, most);
    for (size_t i = 0; i < e->series.count; i++)
        pdnn_str_printf(e->numbers, "%s%.2f %%", i ? ", " : "",
                        layer_share(fact(e, i), (enum pdnn_op_group)moved));
    pdnn_str_printf(e->numbers, "), %.0f allowed", hardly_points);
    return verdict_of(most <= hardly_points);
}

static double optimizer_bytes(const struct pdnn_direction_facts *facts) {
    return (double)facts->group[PDNN_GROUP_STAGE1].byte_count +
           (double)facts->group[PDNN_GROUP_STAGE2].byte_count;
}

/* Equal up to rounding of doubles. */
static bool same(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* The number of sequences relative to `base`, which is the ratio of the products' FLOP. */
static double sequences(const struct pdnn_direction_facts *facts, const struct pdnn_direction_facts *base) {
    return (double)facts->matrix_flop / (double)base->matrix_flop;
}

static enum pdnn_verdict test_optimizer_work(const struct pdnn_direction *direction,
                                             const struct pdnn_evidence *e) {
    const struct pdnn_direction_facts *base = fact_at(e, "1");
    bool holds = true;
    (void)direction;
    if (!base || !base->matrix_flop || !(optimizer_bytes(base) > 0))
        return PDNN_VERDICT_NOT_COVERED;
    for (size_t i = 0; i < e->series.count; i++) {
        double k, part = optimizer_bytes(fact(e, i)) / sequences(fact(e, i), base) / optimizer_bytes(base);
        holds = pdnn_parse_double(axis_text(e, i), &k) && same(part * k, 1) && holds;
        pdnn_str_printf(e->numbers, "%s%.4g", i ? ", " : "", part);
    }
    pdnn_str_printf(e->numbers, " of the bytes per sequence of one micro-step");
    return verdict_of(holds);
}

/* The first micro-step's gradients become the sums. Each of the other k - 1 reads each weight's sum and
 * gradient and writes the sum. Sums within a micro-step (the gradients of a tied table) do not count. */
static enum pdnn_verdict test_accumulation(const struct pdnn_direction *direction,
                                           const struct pdnn_evidence *e) {
    const struct pdnn_direction_facts *base = fact_at(e, "1");
    bool holds = true;
    (void)direction;
    if (!base || !base->params)
        return PDNN_VERDICT_NOT_COVERED;
    for (size_t i = 0; i < e->series.count; i++) {
        const struct pdnn_direction_facts *facts = fact(e, i);
        double k;
        if (facts == base || !pdnn_parse_double(axis_text(e, i), &k))
            continue;
        double own = k * (double)base->group[PDNN_GROUP_ACCUMULATION].byte_count;
        double words = ((double)facts->group[PDNN_GROUP_ACCUMULATION].byte_count - own) / (k - 1) /
                       (double)(base->params * base->word_bytes);
        holds = holds && same(words, 3);
        pdnn_str_printf(e->numbers, "%s%.6gp", e->numbers->length ? ", " : "", words);
    }
    pdnn_str_printf(e->numbers, " words for each micro-step but the first, p = %" PRIu64, base->params);
    return verdict_of(holds);
}

static enum pdnn_verdict test_checkpoint(const struct pdnn_direction *direction,
                                         const struct pdnn_evidence *e) {
    const struct pdnn_direction_facts *none = fact_at(e, "none"), *layer = fact_at(e, "layer");
    (void)direction;
    if (!none || !layer || !none->matrix_flop || none->matrix_flop > UINT64_MAX / 4 ||
        layer->matrix_flop > UINT64_MAX / 3)
        return PDNN_VERDICT_NOT_COVERED;
    pdnn_str_printf(e->numbers, "%" PRIu64 " / %" PRIu64 " matrix FLOP of the layers = %.6g",
                    layer->matrix_flop, none->matrix_flop,
                    (double)layer->matrix_flop / (double)none->matrix_flop);
    return verdict_of(3 * layer->matrix_flop == 4 * none->matrix_flop);
}

/* Three separate products read T H words each, a single one reads them once: 4 T H + 3 H H
 * words instead of 6 T H + 3 H H. */
static enum pdnn_verdict test_qkv(const struct pdnn_direction *direction, const struct pdnn_evidence *e) {
    const struct pdnn_direction_facts *separate = fact_at(e, "separate"), *fused = fact_at(e, "fused");
    (void)direction;
    if (!separate || !fused || !separate->qkv_bytes || !fused->qkv_bytes)
        return PDNN_VERDICT_NOT_COVERED;
    double T = (double)separate->qkv_tokens, H = (double)separate->qkv_width;
    double before = (double)separate->qkv_bytes, after = (double)fused->qkv_bytes;
    pdnn_str_printf(e->numbers,
                    "%.2f %% fewer bytes, %" PRIu64 " instead of %" PRIu64
                    "; 2T / (6T + 3H) = %.2f %% at T = %.0f, H = %.0f",
                    (1 - after / before) * 100, fused->qkv_bytes, separate->qkv_bytes,
                    2 * T / (6 * T + 3 * H) * 100, T, H);
    return verdict_of(same(after * (6 * T + 3 * H), before * (4 * T + 3 * H)));
}

static const double other_pct = 3;

static enum pdnn_verdict test_other(const struct pdnn_direction *direction, const struct pdnn_evidence *e) {
    double most = 0;
    for (size_t i = 0; i < e->series.count; i++)
        most = fmax(most, pdnn_facts_share(fact(e, i), direction->groups, direction->n_groups));
    pdnn_str_printf(e->numbers, "%.2f %% at most, of %zu instance%s", most, e->series.count,
                    e->series.count == 1 ? "" : "s");
    return verdict_of(most < other_pct);
}

static double number_of(const struct pdnn_selection *selection, size_t at, const char *key) {
    double value;
    const char *text = pdnn_selection_get(selection, at, pdnn_csv_find(&selection->results, key));
    return pdnn_parse_double(text, &value) ? value : NAN;
}

const char pdnn_direction_minibatch[] = "minibatch";

static double minibatch_of(const struct pdnn_selection *selection, size_t at) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_selection_get(selection, at, selection->family));
    return family ? number_of(selection, at, family->params[family->minibatch_param].name) : NAN;
}

static bool same_tokens(const struct pdnn_selection *selection, size_t a, size_t b) {
    double a_length = number_of(selection, a, "length"), b_length = number_of(selection, b, "length");
    return a_length != b_length &&
           a_length * minibatch_of(selection, a) == b_length * minibatch_of(selection, b);
}

/* A different width, with equally many heads or equally wide ones, and a feed-forward network of the same
 * ratio to it; if that ratio is given as a word, the word must be the same. */
static bool same_build(const struct pdnn_selection *selection, size_t a, size_t b) {
    double ratio = number_of(selection, b, "hidden") / number_of(selection, a, "hidden");
    double heads = number_of(selection, b, "heads") / number_of(selection, a, "heads");
    double ffn = number_of(selection, b, "ffn") / number_of(selection, a, "ffn");
    int column = pdnn_csv_find(&selection->results, "ffn");
    bool same_word =
        strcmp(pdnn_selection_get(selection, a, column), pdnn_selection_get(selection, b, column)) == 0;
    return ratio != 1 && (heads == 1 || heads == ratio) && (isnan(ffn) ? same_word : ffn == ratio);
}

#define OF_OPTIMIZER .groups = {PDNN_GROUP_STAGE1, PDNN_GROUP_STAGE2}, .n_groups = 2
#define OF_PRODUCTS  .groups = {PDNN_GROUP_LINEAR, PDNN_GROUP_ATTENTION, PDNN_GROUP_FFN}, .n_groups = 3

const struct pdnn_direction pdnn_direction_rows[] = {
    {.name = "optimizer share falls with the batch",
     .needs = "training with two or more batches, such as 4, 16 and 32",
     .axes = {pdnn_direction_minibatch},
     .test = test_trend,
     OF_OPTIMIZER},
    {.name = "softmax share grows with the length at as many tokens",
     .needs = "training with two or more lengths of equal batch times length, such as 128 and 512",
     .axes = {"length", pdnn_direction_minibatch, "target", "predictions", "positions"},
     .alike = same_tokens,
     .test = test_trend,
     .groups = {PDNN_GROUP_SOFTMAX},
     .n_groups = 1,
     .grows = true},
    {.name = "GEMM share grows with the width",
     .needs = "training with two or more widths (hidden), heads or their width the same",
     .axes = {"hidden", "heads", "ffn"},
     .alike = same_build,
     .test = test_trend,
     OF_PRODUCTS,
     .grows = true},
    {.name = "optimizer share grows with the width",
     .needs = "training with two or more widths (hidden), heads or their width the same",
     .axes = {"hidden", "heads", "ffn"},
     .alike = same_build,
     .test = test_trend,
     OF_OPTIMIZER,
     .grows = true},
    {.name = "shares in the layers hardly move with their number",
     .needs = "training with two or more numbers of layers",
     .axes = {"layers"},
     .test = test_layer_shares},
    {.name = "embedding and output shares fall with the layers",
     .needs = "training with two or more numbers of layers",
     .axes = {"layers"},
     .test = test_trend,
     .groups = {PDNN_GROUP_EMBEDDING, PDNN_GROUP_OUTPUT},
     .n_groups = 2},
    {.name = "k-step accumulation divides optimizer work per sequence by k",
     .needs = "training with accumulate=1 and another number",
     .axes = {"accumulate"},
     .test = test_optimizer_work},
    {.name = "accumulation adds 3p words per micro-step",
     .needs = "training with accumulate=1 and another number",
     .axes = {"accumulate"},
     .test = test_accumulation},
    {.name = "checkpointing multiplies matrix FLOP by 4/3",
     .needs = "training with checkpoint=none and checkpoint=layer",
     .axes = {"checkpoint"},
     .test = test_checkpoint},
    {.name = "QKV fusion cuts the bytes of that GEMM",
     .needs = "training with qkv=separate and qkv=fused",
     .axes = {"qkv"},
     .test = test_qkv},
    {.name = "other stays below 3 %",
     .needs = "any instance of the transformer",
     .test = test_other,
     .groups = {PDNN_GROUP_OTHER},
     .n_groups = 1},
    {.name = NULL},
};
