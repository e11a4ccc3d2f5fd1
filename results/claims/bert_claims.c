/* The directions in which shares and counts move in BERT training, checked on measured rows: instances that
 * agree in everything except the axis in question and keys tied to it. */
#include "results/claims/claim.h"

#include "models/dtype.h"
#include "models/graph.h"
#include "results/query/gemms.h"
#include "results/query/op_groups.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What one instance of a transformer measured and counted: sums over its rows of ops.csv. */
struct facts {
    double step_ns;
    struct pdnn_op_sum group[PDNN_OP_GROUP_COUNT];       /* all rows */
    struct pdnn_op_sum layer_group[PDNN_OP_GROUP_COUNT]; /* rows of repeated layers only */
    uint64_t params, word_bytes;
    uint64_t matrix_flop;          /* 2 M N K of the layers' products; PDNN_ABSENT if it does not fit */
    uint64_t qkv_bytes;            /* of the forward products for queries, keys and values, without biases */
    int64_t qkv_tokens, qkv_width; /* T and H of one of these products; 0: there is none */
};

#define OF(group)    (1u << PDNN_GROUP_##group)
#define OF_PRODUCTS  (OF(LINEAR) | OF(ATTENTION) | OF(FFN))
#define OF_OPTIMIZER (OF(UPDATE) | OF(STAGE1) | OF(STAGE2))

/* Excludes attention to a source, whose tokens may differ. */
static bool is_qkv(const char *layer) {
    return pdnn_layer_has_stem(layer, "query") || pdnn_layer_has_stem(layer, "key") ||
           pdnn_layer_has_stem(layer, "value") || pdnn_layer_has_stem(layer, "qkv");
}

static void add_product(struct facts *facts, const struct pdnn_op_record *op,
                        const struct pdnn_gemm_shape *shape) {
    uint64_t flop = pdnn_gemm_flop(shape, op->count);
    bool fits = flop != PDNN_ABSENT && facts->matrix_flop != PDNN_ABSENT;
    facts->matrix_flop = fits ? facts->matrix_flop + flop : PDNN_ABSENT;
    if (!is_qkv(op->layer) || strcmp(op->pass, pdnn_pass_name(PDNN_FORWARD)) != 0 || shape->batch != 1)
        return;
    /* A bias fused into the product reads one word per output unit. */
    const uint64_t bias_words = strstr(op->shape, "+bias") ? op->count * (uint64_t)shape->m : 0;
    facts->qkv_bytes += op->byte_count - bias_words * facts->word_bytes;
    facts->qkv_tokens = shape->n;
    facts->qkv_width = shape->k;
}

static const char *setting_of(const struct pdnn_selection *rows, size_t at, enum pdnn_setting setting) {
    return pdnn_selection_get(rows, at, pdnn_results_setting(&rows->results, setting));
}

/* False if the instance is no transformer, or has no rows. */
static bool read_facts(const struct pdnn_question *q, size_t at, struct facts *facts) {
    const struct pdnn_selection *rows = q->rows;
    const struct pdnn_family_def *family = pdnn_claim_family(rows, at);
    const double params = pdnn_selection_value(rows, at, PDNN_RESULT_PARAMS);
    if (!family || !pdnn_network_has_attention(family))
        return false;
    const struct pdnn_op_rows ops = pdnn_selection_rows(rows, at, q->data->readers);
    bool has_ops = false;
    *facts = (struct facts){.step_ns = ops.step_ns, .params = params > 0 ? (uint64_t)params : 0};
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        if (strcmp(pdnn_dtype_name(d), setting_of(rows, at, PDNN_SETTING_DTYPE)) == 0)
            facts->word_bytes = pdnn_dtype_bytes(d);
    for (size_t i = 0; i < ops.count; i++) {
        const struct pdnn_op_record *op = &ops.op[i];
        enum pdnn_op_group group = pdnn_op_group_of(family, op);
        struct pdnn_gemm_shape shape;
        if (isnan(op->time_ns_median))
            continue;
        has_ops = true;
        pdnn_op_sum_add(&facts->group[group], op);
        if (!pdnn_op_is_outer(family, op))
            pdnn_op_sum_add(&facts->layer_group[group], op);
        if ((OF_PRODUCTS >> group & 1) && pdnn_gemm_parse(op, &shape))
            add_product(facts, op, &shape);
    }
    return has_ops;
}

static double ns_of(const struct pdnn_op_sum group[PDNN_OP_GROUP_COUNT], unsigned groups) {
    double ns = 0;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++)
        ns += groups >> g & 1 ? group[g].time_ns : 0;
    return ns;
}

/* Percentage of the step. */
static double share_of(const struct facts *facts, unsigned groups) {
    return ns_of(facts->group, groups) / facts->step_ns * 100;
}

/* Instances that differ in a claim's axes alone, in ascending order of the first. */
struct pdnn_claim_set {
    struct pdnn_question *q;
    struct pdnn_axes axes;
    struct pdnn_series series;
    struct facts *facts;     /* by member */
    struct pdnn_str numbers; /* what the test says of them */
};

static double axis_number(const struct pdnn_claim_set *set, size_t i) {
    return pdnn_selection_number(set->q->rows, set->series.at[i], set->axes.column[0]);
}

/* The member with this value of the axis, or NULL. */
static const struct facts *fact_at(const struct pdnn_claim_set *set, const char *value) {
    for (size_t i = 0; i < set->series.count; i++)
        if (strcmp(pdnn_selection_get(set->q->rows, set->series.at[i], set->axes.column[0]), value) == 0)
            return &set->facts[i];
    return NULL;
}

static enum pdnn_verdict verdict_of(bool holds) {
    return holds ? PDNN_HOLDS : PDNN_DOES_NOT_HOLD;
}

static enum pdnn_verdict test_trend(struct pdnn_claim_set *set) {
    bool holds = true;
    double before = 0;
    for (size_t i = 0; i < set->series.count; i++) {
        double share = share_of(&set->facts[i], set->q->claim.groups);
        holds = holds && (!i || (set->q->claim.rule == PDNN_GROWS ? share > before : share < before));
        pdnn_str_printf(&set->numbers, "%s%.2f %%", i ? ", " : "", share);
        before = share;
    }
    return verdict_of(holds);
}

/* A group's percentage of the time of the repeated layers. */
static double layer_share(const struct facts *facts, size_t group) {
    const double sum_ns = ns_of(facts->layer_group, ~0u);
    return sum_ns > 0 ? facts->layer_group[group].time_ns / sum_ns * 100 : 0;
}

/* "Hardly": no share changes by more than `factor` points. */
static enum pdnn_verdict test_layer_shares(struct pdnn_claim_set *set) {
    double most = -1;
    size_t moved = 0;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++) {
        double least = INFINITY, greatest = -INFINITY;
        for (size_t i = 0; i < set->series.count; i++) {
            least = fmin(least, layer_share(&set->facts[i], g));
            greatest = fmax(greatest, layer_share(&set->facts[i], g));
        }
        if (greatest - least > most) {
            most = greatest - least;
            moved = g;
        }
    }
    pdnn_str_printf(&set->numbers, "%s moves most, by %.2f points of the layers' time (",
                    pdnn_op_groups[moved].name, most);
    for (size_t i = 0; i < set->series.count; i++)
        pdnn_str_printf(&set->numbers, "%s%.2f %%", i ? ", " : "", layer_share(&set->facts[i], moved));
    pdnn_str_printf(&set->numbers, "), %.0f allowed", set->q->claim.factor);
    return verdict_of(most <= set->q->claim.factor);
}

static double optimizer_bytes(const struct facts *facts) {
    return (double)facts->group[PDNN_GROUP_UPDATE].byte_count +
           (double)facts->group[PDNN_GROUP_STAGE1].byte_count +
           (double)facts->group[PDNN_GROUP_STAGE2].byte_count;
}

/* Equal up to rounding of doubles. */
static bool same(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static enum pdnn_verdict test_optimizer_work(struct pdnn_claim_set *set) {
    const struct facts *base = fact_at(set, "1");
    bool holds = true;
    if (!base || !base->matrix_flop || !(optimizer_bytes(base) > 0))
        return PDNN_CANNOT_BE_TOLD;
    for (size_t i = 0; i < set->series.count; i++) {
        /* The number of sequences grows as the products' FLOP do. */
        const double sequences = (double)set->facts[i].matrix_flop / (double)base->matrix_flop,
                     part = optimizer_bytes(&set->facts[i]) / sequences / optimizer_bytes(base);
        holds = same(part * axis_number(set, i), 1) && holds;
        pdnn_str_printf(&set->numbers, "%s%.4g", i ? ", " : "", part);
    }
    pdnn_str_printf(&set->numbers, " of the bytes per sequence of one micro-step");
    return verdict_of(holds);
}

/* The first micro-step's gradients become the sums. Each of the other k - 1 reads each weight's sum and
 * gradient and writes the sum. Sums within a micro-step (the gradients of a tied table) do not count. */
static enum pdnn_verdict test_accumulation(struct pdnn_claim_set *set) {
    const struct facts *base = fact_at(set, "1");
    bool holds = true;
    if (!base || !base->params)
        return PDNN_CANNOT_BE_TOLD;
    for (size_t i = 0; i < set->series.count; i++) {
        const struct facts *facts = &set->facts[i];
        double k = axis_number(set, i);
        if (facts == base || isnan(k))
            continue;
        double own = k * (double)base->group[PDNN_GROUP_ACCUMULATION].byte_count;
        double words = ((double)facts->group[PDNN_GROUP_ACCUMULATION].byte_count - own) / (k - 1) /
                       (double)(base->params * base->word_bytes);
        holds = holds && same(words, 3);
        pdnn_str_printf(&set->numbers, "%s%.6gp", set->numbers.length ? ", " : "", words);
    }
    pdnn_str_printf(&set->numbers, " words for each micro-step but the first, p = %" PRIu64, base->params);
    return verdict_of(holds);
}

static enum pdnn_verdict test_checkpoint(struct pdnn_claim_set *set) {
    const struct facts *none = fact_at(set, "none"), *layer = fact_at(set, "layer");
    if (!none || !layer || !none->matrix_flop || none->matrix_flop > UINT64_MAX / 4 ||
        layer->matrix_flop > UINT64_MAX / 3)
        return PDNN_CANNOT_BE_TOLD;
    pdnn_str_printf(&set->numbers, "%" PRIu64 " / %" PRIu64 " matrix FLOP of the layers = %.6g",
                    layer->matrix_flop, none->matrix_flop,
                    (double)layer->matrix_flop / (double)none->matrix_flop);
    return verdict_of(3 * layer->matrix_flop == 4 * none->matrix_flop);
}

/* Three separate products read T H words each, a single one reads them once: 4 T H + 3 H H
 * words instead of 6 T H + 3 H H. */
static enum pdnn_verdict test_qkv(struct pdnn_claim_set *set) {
    const struct facts *separate = fact_at(set, "separate"), *fused = fact_at(set, "fused");
    if (!separate || !fused || !separate->qkv_bytes || !fused->qkv_bytes)
        return PDNN_CANNOT_BE_TOLD;
    double T = (double)separate->qkv_tokens, H = (double)separate->qkv_width;
    double before = (double)separate->qkv_bytes, after = (double)fused->qkv_bytes;
    pdnn_str_printf(&set->numbers,
                    "%.2f %% fewer bytes, %" PRIu64 " instead of %" PRIu64
                    "; 2T / (6T + 3H) = %.2f %% at T = %.0f, H = %.0f",
                    (1 - after / before) * 100, fused->qkv_bytes, separate->qkv_bytes,
                    2 * T / (6 * T + 3 * H) * 100, T, H);
    return verdict_of(same(after * (6 * T + 3 * H), before * (4 * T + 3 * H)));
}

static double number_of(const struct pdnn_selection *selection, size_t at, const char *key) {
    return pdnn_selection_number(selection, at, pdnn_results_named(&selection->results, key));
}

/* A placeholder axis for the family's minibatch parameter, whatever its name. */
static const char minibatch[] = "minibatch";

static bool same_tokens(const struct pdnn_selection *selection, size_t a, size_t b) {
    const double a_length = number_of(selection, a, "length"), b_length = number_of(selection, b, "length");
    return a_length != b_length && a_length * pdnn_selection_examples(selection, a) ==
                                       b_length * pdnn_selection_examples(selection, b);
}

/* Another width, with as many heads or as wide ones, and a feed-forward network of the same ratio to it. */
static bool same_build(const struct pdnn_selection *selection, size_t a, size_t b) {
    double ratio = number_of(selection, b, "hidden") / number_of(selection, a, "hidden");
    double heads = number_of(selection, b, "heads") / number_of(selection, a, "heads");
    double ffn = number_of(selection, b, "ffn") / number_of(selection, a, "ffn");
    return ratio != 1 && (heads == 1 || heads == ratio) && (isnan(ffn) || ffn == ratio);
}

/* "length 128, 512; batch 32, 8": the axes that differ, and whether any of it is extrapolated. */
static void append_compared(const struct pdnn_claim_set *set, struct pdnn_str *text) {
    const size_t *at = set->series.at;
    bool extrapolated = false;
    for (size_t k = 0; k < set->axes.count; k++) {
        const int column = set->axes.column[k];
        bool differ = false; /* equal texts are one pointer */
        for (size_t i = 1; i < set->series.count; i++)
            differ = differ || pdnn_selection_get(set->q->rows, at[i], column) !=
                                   pdnn_selection_get(set->q->rows, at[0], column);
        for (size_t i = 0; i < set->series.count && differ; i++)
            pdnn_str_printf(text, "%s%s%s%s", i || !text->length ? "" : "; ",
                            i ? ", " : pdnn_results_name(&set->q->rows->results, column), i ? "" : " ",
                            pdnn_selection_get(set->q->rows, at[i], column));
    }
    for (size_t i = 0; i < set->series.count; i++)
        extrapolated = extrapolated || pdnn_selection_extrapolated(set->q->rows, at[i]);
    if (extrapolated)
        pdnn_str_printf(text, "%sextrapolated", text->length ? "; " : "");
}

/* Says what the test finds of the members that train and have rows, unless it takes others. */
static void check_set(struct pdnn_question *q, struct pdnn_claim_set *set) {
    struct pdnn_str text[PDNN_CLAIM_COLUMNS] = {{0}};
    size_t count = 0;
    set->facts = pdnn_arena_alloc(&q->arena, set->series.count, sizeof *set->facts);
    for (size_t i = 0; i < set->series.count; i++)
        if (strcmp(setting_of(q->rows, set->series.at[i], PDNN_SETTING_MODE), "train") == 0 &&
            read_facts(q, set->series.at[i], &set->facts[count]))
            set->series.at[count++] = set->series.at[i];
    set->series.count = count;
    const enum pdnn_verdict verdict = count > 1 ? q->claim.test(set) : PDNN_CANNOT_BE_TOLD;
    if (verdict != PDNN_CANNOT_BE_TOLD) {
        const size_t row = pdnn_claim_say(q, verdict, "%s", pdnn_str_text(&set->numbers));
        append_compared(set, &text[PDNN_CLAIM_COMPARED]);
        pdnn_selection_where(set->q->rows, set->series.at[0], &set->axes, &text[PDNN_CLAIM_WHERE]);
        pdnn_selection_pattern(set->q->rows, set->series.at[0], &set->axes, true, &text[PDNN_CLAIM_ID]);
        for (size_t column = PDNN_CLAIM_COMPARED; column < PDNN_CLAIM_COLUMNS; column++) {
            pdnn_table_set_text(q->table, row, column, pdnn_str_text(&text[column]));
            pdnn_str_finish(&text[column]);
        }
    }
    pdnn_str_finish(&set->numbers);
}

/* Takes `axes`, the keys in which instances may differ: the one in question first, then keys tied to it;
 * `alike`, what else two of them must have in common; `test`; and what that takes. Says nothing where the
 * tables lack the first axis. */
static void check_sets(struct pdnn_question *q) {
    struct pdnn_claim_set set = {.q = q, .axes = {.alike = q->claim.alike}};
    struct pdnn_series *series;
    size_t n = 0;
    for (size_t k = 0; k < PDNN_CLAIM_AXES && q->claim.axes[k] && (!k || set.axes.count); k++) {
        const int column = pdnn_results_named(&q->rows->results, q->claim.axes[k]);
        if (q->claim.axes[k] == minibatch)
            pdnn_axes_add_minibatch(q->rows, &set.axes);
        else if (column >= 0)
            set.axes.column[set.axes.count++] = column;
    }
    if (set.axes.count)
        pdnn_selection_series(q->rows, &set.axes, &q->arena, &series, &n);
    for (size_t i = 0; i < n; i++) {
        set.series = series[i];
        if (set.series.count > 1)
            check_set(q, &set);
    }
}

/* Of every instance by itself, in training or not. Takes `groups` and `factor`, a percentage. */
static void check_share_below(struct pdnn_question *q) {
    struct facts facts;
    double most = 0;
    size_t n = 0;
    bool extrapolated = false;
    for (size_t at = 0; at < q->rows->count; at++)
        if (read_facts(q, at, &facts)) {
            n++;
            most = fmax(most, share_of(&facts, q->claim.groups));
            extrapolated = extrapolated || pdnn_selection_extrapolated(q->rows, at);
        }
    if (!n)
        return;
    const size_t row = pdnn_claim_say(q, verdict_of(most < q->claim.factor),
                                      "%.2f %% at most, of %zu instance%s", most, n, n == 1 ? "" : "s");
    pdnn_table_set_text(q->table, row, PDNN_CLAIM_COMPARED, extrapolated ? "extrapolated" : "");
}

static const struct pdnn_claim claims[] = {
    {.text = "optimizer share falls with the batch",
     .axes = {minibatch},
     .test = test_trend,
     .rule = PDNN_FALLS,
     .groups = OF_OPTIMIZER,
     .needs = "training with two or more batches, such as 4, 16 and 32"},
    {.text = "softmax share grows with the length at as many tokens",
     .axes = {"length", minibatch, "target", "predictions", "positions"},
     .alike = same_tokens,
     .test = test_trend,
     .rule = PDNN_GROWS,
     .groups = OF(SOFTMAX),
     .needs = "training with two or more lengths of equal batch times length, such as 128 and 512"},
    {.text = "GEMM share grows with the width",
     .axes = {"hidden", "heads", "ffn"},
     .alike = same_build,
     .test = test_trend,
     .rule = PDNN_GROWS,
     .groups = OF_PRODUCTS,
     .needs = "training with two or more widths (hidden), heads or their width the same"},
    {.text = "optimizer share grows with the width",
     .axes = {"hidden", "heads", "ffn"},
     .alike = same_build,
     .test = test_trend,
     .rule = PDNN_GROWS,
     .groups = OF_OPTIMIZER,
     .needs = "training with two or more widths (hidden), heads or their width the same"},
    {.text = "shares in the layers hardly move with their number",
     .axes = {"layers"},
     .test = test_layer_shares,
     .factor = 5,
     .needs = "training with two or more numbers of layers"},
    {.text = "embedding and output shares fall with the layers",
     .axes = {"layers"},
     .test = test_trend,
     .rule = PDNN_FALLS,
     .groups = OF(EMBEDDING) | OF(OUTPUT),
     .needs = "training with two or more numbers of layers"},
    {.text = "k-step accumulation divides optimizer work per sequence by k",
     .axes = {"accumulate"},
     .test = test_optimizer_work,
     .needs = "training with accumulate=1 and another number"},
    {.text = "accumulation adds 3p words per micro-step",
     .axes = {"accumulate"},
     .test = test_accumulation,
     .needs = "training with accumulate=1 and another number"},
    {.text = "checkpointing multiplies matrix FLOP by 4/3",
     .axes = {"checkpoint"},
     .test = test_checkpoint,
     .needs = "training with checkpoint=none and checkpoint=layer"},
    {.text = "QKV fusion cuts the bytes of that GEMM",
     .axes = {"qkv"},
     .test = test_qkv,
     .needs = "training with qkv=separate and qkv=fused"},
    {.text = "other stays below 3 %",
     .check = check_share_below,
     .groups = OF(OTHER),
     .factor = 3,
     .needs = "any instance of the transformer"},
    {.text = NULL},
};

const struct pdnn_claim_list pdnn_bert_claims = {claims, check_sets, .network = pdnn_network_has_attention};
