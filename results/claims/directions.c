#include "results/claims/directions.h"

#include "base/units.h"
#include "models/dtype.h"
#include "models/graph.h"
#include "results/query/gemms.h"
#include "results/query/op_groups.h"
#include "results/query/shares.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What one instance of a transformer measured and counted, in the form that directions compare: sums over its
 * rows of ops.csv. */
struct facts {
    bool has_ops, trains;
    double step_ns;
    struct pdnn_op_sum group[PDNN_OP_GROUP_COUNT];       /* all rows */
    struct pdnn_op_sum layer_group[PDNN_OP_GROUP_COUNT]; /* rows of repeated layers only */
    uint64_t params, word_bytes;
    uint64_t matrix_flop;          /* 2 M N K of the layers' products; PDNN_ABSENT if it does not fit */
    uint64_t qkv_bytes;            /* of the forward products for queries, keys and values, without biases */
    int64_t qkv_tokens, qkv_width; /* T and H of one of these products; 0: there is none */
};

static bool is_layer_product(enum pdnn_op_group group) {
    return group == PDNN_GROUP_LINEAR || group == PDNN_GROUP_ATTENTION || group == PDNN_GROUP_FFN;
}

/* Excludes attention to a source, whose tokens may differ. */
static bool is_qkv(const struct pdnn_op_record *op) {
    static const char *const stems[] = {"query", "key", "value", "qkv"};
    bool found = false;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        found = found || pdnn_layer_has_stem(op->layer, stems[i]);
    return found && strcmp(op->pass, pdnn_pass_name(PDNN_FORWARD)) == 0;
}

/* A bias fused into the product reads one word per output unit; subtracted, the bytes
 * are those of the product alone. */
static uint64_t bias_bytes(const struct pdnn_op_record *op, const struct pdnn_gemm_shape *shape,
                           uint64_t word_bytes) {
    return strstr(op->shape, "+bias") ? op->count * (uint64_t)shape->m * word_bytes : 0;
}

static void add_product(struct facts *facts, const struct pdnn_op_record *op,
                        const struct pdnn_gemm_shape *shape) {
    uint64_t flop = pdnn_gemm_flop(shape, op->count);
    bool fits = flop != PDNN_ABSENT && facts->matrix_flop != PDNN_ABSENT;
    facts->matrix_flop = fits ? facts->matrix_flop + flop : PDNN_ABSENT;
    if (!is_qkv(op) || shape->batch != 1)
        return;
    facts->qkv_bytes += op->byte_count - bias_bytes(op, shape, facts->word_bytes);
    facts->qkv_tokens = shape->n;
    facts->qkv_width = shape->k;
}

/* Adds up the rows. params, word_bytes and trains are set by then. */
static void add_up(const struct pdnn_family_def *family, const struct pdnn_op_rows *rows,
                   struct facts *facts) {
    facts->step_ns = rows->step_ns;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pdnn_op_record *op = &rows->op[i];
        enum pdnn_op_group group = pdnn_op_group_of(family, op);
        struct pdnn_gemm_shape shape;
        if (isnan(op->time_ns_median))
            continue;
        facts->has_ops = true;
        pdnn_op_sum_add(&facts->group[group], op);
        if (!pdnn_op_is_outer(family, op))
            pdnn_op_sum_add(&facts->layer_group[group], op);
        if (is_layer_product(group) && pdnn_gemm_parse(op, &shape))
            add_product(facts, op, &shape);
    }
}

/* Percentage of the step. */
static double share_of(const struct facts *facts, unsigned groups) {
    double ns = 0;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++)
        ns += groups >> g & 1 ? facts->group[g].time_ns : 0;
    return ns / facts->step_ns * 100;
}

struct direction;

/* What a direction is checked on: the instances of one set, in ascending order of the axis. */
struct evidence {
    const struct pdnn_selection *selection;
    struct facts *facts; /* by chosen row */
    struct pdnn_arena *arena;
    struct pdnn_table *table;
    const struct direction *direction;
    struct pdnn_axes axes; /* the first is the key in question; none: every instance is tested */
    struct pdnn_series series;
    struct pdnn_str *numbers;
};

enum { AXES_MAX = 5 };

struct direction {
    const char *name, *needs;
    /* Keys in which instances may differ: the one in question first, then keys tied to it. None: each
     * instance is tested by itself, in training or not. */
    const char *axes[AXES_MAX];
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
    /* Runs the test and appends its numbers. "Cannot be told": it needs other instances. */
    enum pdnn_verdict (*test)(const struct evidence *e);
    unsigned groups; /* whose share is tested: a bit each */
    bool grows;      /* along the axis; false: falls */
};

static const struct facts *fact(const struct evidence *e, size_t i) {
    return &e->facts[e->series.at[i]];
}

static const char *axis_text(const struct evidence *e, size_t i) {
    return pdnn_selection_get(e->selection, e->series.at[i], e->axes.column[0]);
}

static double axis_number(const struct evidence *e, size_t i) {
    return pdnn_selection_number(e->selection, e->series.at[i], e->axes.column[0]);
}

/* The member with this value of the axis, or NULL. */
static const struct facts *fact_at(const struct evidence *e, const char *value) {
    for (size_t i = 0; i < e->series.count; i++) {
        if (strcmp(axis_text(e, i), value) == 0)
            return fact(e, i);
    }
    return NULL;
}

static enum pdnn_verdict verdict_of(bool holds) {
    return holds ? PDNN_HOLDS : PDNN_DOES_NOT_HOLD;
}

static enum pdnn_verdict test_trend(const struct evidence *e) {
    bool holds = true;
    double before = 0;
    for (size_t i = 0; i < e->series.count; i++) {
        double share = share_of(fact(e, i), e->direction->groups);
        holds = holds && (!i || (e->direction->grows ? share > before : share < before));
        pdnn_str_printf(e->numbers, "%s%.2f %%", i ? ", " : "", share);
        before = share;
    }
    return verdict_of(holds);
}

/* A group's percentage of the time of the repeated layers. */
static double layer_share(const struct facts *facts, enum pdnn_op_group group) {
    double sum_ns = 0;
    for (size_t g = 0; g < PDNN_OP_GROUP_COUNT; g++)
        sum_ns += facts->layer_group[g].time_ns;
    return sum_ns > 0 ? facts->layer_group[group].time_ns / sum_ns * 100 : 0;
}

/* "Hardly": no share changes by more than this many points. */
static const double hardly_points = 5;

static enum pdnn_verdict test_layer_shares(const struct evidence *e) {
    double most = -1;
    size_t moved = 0;
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

static double optimizer_bytes(const struct facts *facts) {
    return (double)facts->group[PDNN_GROUP_UPDATE].byte_count +
           (double)facts->group[PDNN_GROUP_STAGE1].byte_count +
           (double)facts->group[PDNN_GROUP_STAGE2].byte_count;
}

/* Equal up to rounding of doubles. */
static bool same(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* The number of sequences relative to `base`, which is the ratio of the products' FLOP. */
static double sequences(const struct facts *facts, const struct facts *base) {
    return (double)facts->matrix_flop / (double)base->matrix_flop;
}

static enum pdnn_verdict test_optimizer_work(const struct evidence *e) {
    const struct facts *base = fact_at(e, "1");
    bool holds = true;
    if (!base || !base->matrix_flop || !(optimizer_bytes(base) > 0))
        return PDNN_CANNOT_BE_TOLD;
    for (size_t i = 0; i < e->series.count; i++) {
        double part = optimizer_bytes(fact(e, i)) / sequences(fact(e, i), base) / optimizer_bytes(base);
        holds = same(part * axis_number(e, i), 1) && holds;
        pdnn_str_printf(e->numbers, "%s%.4g", i ? ", " : "", part);
    }
    pdnn_str_printf(e->numbers, " of the bytes per sequence of one micro-step");
    return verdict_of(holds);
}

/* The first micro-step's gradients become the sums. Each of the other k - 1 reads each weight's sum and
 * gradient and writes the sum. Sums within a micro-step (the gradients of a tied table) do not count. */
static enum pdnn_verdict test_accumulation(const struct evidence *e) {
    const struct facts *base = fact_at(e, "1");
    bool holds = true;
    if (!base || !base->params)
        return PDNN_CANNOT_BE_TOLD;
    for (size_t i = 0; i < e->series.count; i++) {
        const struct facts *facts = fact(e, i);
        double k = axis_number(e, i);
        if (facts == base || isnan(k))
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

static enum pdnn_verdict test_checkpoint(const struct evidence *e) {
    const struct facts *none = fact_at(e, "none"), *layer = fact_at(e, "layer");
    if (!none || !layer || !none->matrix_flop || none->matrix_flop > UINT64_MAX / 4 ||
        layer->matrix_flop > UINT64_MAX / 3)
        return PDNN_CANNOT_BE_TOLD;
    pdnn_str_printf(e->numbers, "%" PRIu64 " / %" PRIu64 " matrix FLOP of the layers = %.6g",
                    layer->matrix_flop, none->matrix_flop,
                    (double)layer->matrix_flop / (double)none->matrix_flop);
    return verdict_of(3 * layer->matrix_flop == 4 * none->matrix_flop);
}

/* Three separate products read T H words each, a single one reads them once: 4 T H + 3 H H
 * words instead of 6 T H + 3 H H. */
static enum pdnn_verdict test_qkv(const struct evidence *e) {
    const struct facts *separate = fact_at(e, "separate"), *fused = fact_at(e, "fused");
    if (!separate || !fused || !separate->qkv_bytes || !fused->qkv_bytes)
        return PDNN_CANNOT_BE_TOLD;
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

static enum pdnn_verdict test_other(const struct evidence *e) {
    double most = 0;
    for (size_t i = 0; i < e->series.count; i++)
        most = fmax(most, share_of(fact(e, i), e->direction->groups));
    pdnn_str_printf(e->numbers, "%.2f %% at most, of %zu instance%s", most, e->series.count,
                    e->series.count == 1 ? "" : "s");
    return verdict_of(most < other_pct);
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

/* A different width, with equally many heads or equally wide ones, and a feed-forward network of the same
 * ratio to it. */
static bool same_build(const struct pdnn_selection *selection, size_t a, size_t b) {
    double ratio = number_of(selection, b, "hidden") / number_of(selection, a, "hidden");
    double heads = number_of(selection, b, "heads") / number_of(selection, a, "heads");
    double ffn = number_of(selection, b, "ffn") / number_of(selection, a, "ffn");
    return ratio != 1 && (heads == 1 || heads == ratio) && (isnan(ffn) || ffn == ratio);
}

#define OF(group)    (1u << PDNN_GROUP_##group)
#define OF_OPTIMIZER .groups = OF(UPDATE) | OF(STAGE1) | OF(STAGE2)

/* How to pick the instances to compare, and what must hold between them. Ends with a row without a name. */
static const struct direction directions[] = {
    {.name = "optimizer share falls with the batch",
     .needs = "training with two or more batches, such as 4, 16 and 32",
     .axes = {minibatch},
     .test = test_trend,
     OF_OPTIMIZER},
    {.name = "softmax share grows with the length at as many tokens",
     .needs = "training with two or more lengths of equal batch times length, such as 128 and 512",
     .axes = {"length", minibatch, "target", "predictions", "positions"},
     .alike = same_tokens,
     .test = test_trend,
     .groups = OF(SOFTMAX),
     .grows = true},
    {.name = "GEMM share grows with the width",
     .needs = "training with two or more widths (hidden), heads or their width the same",
     .axes = {"hidden", "heads", "ffn"},
     .alike = same_build,
     .test = test_trend,
     .groups = OF(LINEAR) | OF(ATTENTION) | OF(FFN),
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
     .groups = OF(EMBEDDING) | OF(OUTPUT)},
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
     .groups = OF(OTHER)},
    {.name = NULL},
};

/* The row's family if its layers have the attention that the directions are about, else NULL. */
static const struct pdnn_family_def *studied_family(const struct pdnn_selection *selection, size_t at) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_selection_get(selection, at, selection->family));
    for (size_t i = 0; family && i < family->n_layers; i++) {
        if (family->layers[i].part == PDNN_LAYER_ATTENTION)
            return family;
    }
    return NULL;
}

/* False if there is no instance to check. */
static bool collect_facts(struct evidence *e, struct pdnn_ops_reader *reader) {
    const struct pdnn_selection *selection = e->selection;
    int params = selection->results.at[PDNN_RESULT_PARAMS],
        mode = pdnn_results_setting(&selection->results, PDNN_SETTING_MODE);
    int dtype = pdnn_results_setting(&selection->results, PDNN_SETTING_DTYPE);
    bool found = false;
    for (size_t at = 0; at < selection->count; at++) {
        struct facts *facts = &e->facts[at];
        const struct pdnn_family_def *family = studied_family(selection, at);
        double value = 0;
        if (!family)
            continue;
        found = true;
        const struct pdnn_op_rows rows = pdnn_selection_rows(selection, at, reader);
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
            if (strcmp(pdnn_dtype_name(d), pdnn_selection_get(selection, at, dtype)) == 0)
                facts->word_bytes = pdnn_dtype_bytes(d);
        }
        facts->trains = strcmp(pdnn_selection_get(selection, at, mode), "train") == 0;
        value = pdnn_selection_number(selection, at, params);
        facts->params = value > 0 ? (uint64_t)value : 0;
        add_up(family, &rows, facts);
    }
    return found;
}

/* "length 128, 512; batch 32, 8": the axes that differ, and whether any of it is extrapolated. */
static void append_compared(const struct evidence *e, struct pdnn_str *text) {
    for (size_t k = 0; k < e->axes.count; k++) {
        const int column = e->axes.column[k];
        const char *first = pdnn_selection_get(e->selection, e->series.at[0], column);
        bool differ = false; /* equal texts are one pointer */
        for (size_t i = 1; i < e->series.count; i++)
            differ = differ || pdnn_selection_get(e->selection, e->series.at[i], column) != first;
        for (size_t i = 0; i < e->series.count && differ; i++)
            pdnn_str_printf(text, "%s%s%s%s", i || !text->length ? "" : "; ",
                            i ? ", " : pdnn_results_name(&e->selection->results, column), i ? "" : " ",
                            pdnn_selection_get(e->selection, e->series.at[i], column));
    }
    bool extrapolated = false;
    for (size_t i = 0; i < e->series.count; i++)
        extrapolated = extrapolated || pdnn_selection_extrapolated(e->selection, e->series.at[i]);
    if (extrapolated)
        pdnn_str_printf(text, "%sextrapolated", text->length ? "; " : "");
}

/* A row of the direction, whose texts it frees. */
static void add_row(const struct evidence *e, enum pdnn_verdict verdict, struct pdnn_str *text) {
    size_t row = pdnn_table_add_row(e->table);
    pdnn_table_set_text(e->table, row, PDNN_DIRECTION_NAME, e->direction->name);
    pdnn_table_set_text(e->table, row, PDNN_DIRECTION_VERDICT, pdnn_verdict_name(verdict));
    for (size_t column = PDNN_DIRECTION_NUMBERS; column < PDNN_DIRECTION_COLUMNS; column++) {
        pdnn_table_set_text(e->table, row, column, pdnn_str_text(&text[column]));
        pdnn_str_finish(&text[column]);
    }
}

/* Tests a set; false if it takes other instances. */
static bool check_set(struct evidence *e) {
    struct pdnn_str text[PDNN_DIRECTION_COLUMNS] = {{0}};
    e->numbers = &text[PDNN_DIRECTION_NUMBERS];
    enum pdnn_verdict verdict = e->direction->test(e);
    if (verdict == PDNN_CANNOT_BE_TOLD) {
        pdnn_str_finish(e->numbers);
        return false;
    }
    append_compared(e, &text[PDNN_DIRECTION_COMPARED]);
    if (e->axes.count) {
        pdnn_selection_where(e->selection, e->series.at[0], &e->axes, &text[PDNN_DIRECTION_WHERE]);
        pdnn_selection_pattern(e->selection, e->series.at[0], &e->axes, &text[PDNN_DIRECTION_ID]);
    }
    add_row(e, verdict, text);
    return true;
}

/* Leaves out instances without rows and, if there is an axis, those that do not train. */
static void keep_usable(const struct evidence *e, struct pdnn_series *series) {
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        const struct facts *facts = &e->facts[series->at[i]];
        if (facts->has_ops && (facts->trains || !e->axes.count))
            series->at[count++] = series->at[i];
    }
    series->count = count;
}

/* The sets of instances that differ in the direction's axes alone; without axes one of all. */
static size_t find_sets(struct evidence *e, struct pdnn_series **sets) {
    const size_t count = e->selection->count;
    size_t n_sets = 1;
    e->axes = (struct pdnn_axes){.alike = e->direction->alike};
    for (size_t k = 0; k < AXES_MAX && e->direction->axes[k]; k++) {
        const char *axis = e->direction->axes[k];
        const int column = axis == minibatch ? -1 : pdnn_results_named(&e->selection->results, axis);
        if (axis == minibatch)
            pdnn_axes_add_minibatch(e->selection, &e->axes);
        else if (column >= 0)
            e->axes.column[e->axes.count++] = column;
        if (!e->axes.count)
            return 0;
    }
    if (e->axes.count) {
        pdnn_selection_series(e->selection, &e->axes, e->arena, sets, &n_sets);
        return n_sets;
    }
    *sets = pdnn_arena_alloc(e->arena, 1, sizeof **sets);
    (*sets)->at = pdnn_arena_alloc(e->arena, count + 1, sizeof *(*sets)->at);
    while ((*sets)->count < count) {
        (*sets)->at[(*sets)->count] = (*sets)->count;
        (*sets)->count++;
    }
    return 1;
}

static void check_direction(struct evidence *e) {
    struct pdnn_series *sets = NULL;
    const size_t n_sets = find_sets(e, &sets);
    bool covered = false;
    for (size_t i = 0; i < n_sets; i++) {
        keep_usable(e, &sets[i]);
        e->series = sets[i];
        if (sets[i].count >= (e->axes.count ? 2 : 1) && check_set(e))
            covered = true;
    }
    struct pdnn_str text[PDNN_DIRECTION_COLUMNS] = {{0}};
    if (covered)
        return;
    pdnn_str_printf(&text[PDNN_DIRECTION_COMPARED], "%s", e->direction->needs);
    add_row(e, PDNN_CANNOT_BE_TOLD, text);
}

void pdnn_directions_check(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                           struct pdnn_arena *arena, struct pdnn_table *table) {
    struct evidence e = {.selection = selection, .arena = arena, .table = table};
    e.facts = pdnn_arena_alloc(arena, selection->count + 1, sizeof *e.facts);
    const bool found = collect_facts(&e, reader);
    for (e.direction = directions; e.direction->name && found; e.direction++)
        check_direction(&e);
}

static const struct pdnn_column_def columns[PDNN_DIRECTION_COLUMNS] = {
    {"direction", .align = PDNN_ALIGN_WRAP, .help = "what must hold in measured runs of BERT training"},
    {"verdict", .help = "holds, does not hold or cannot be told"},
    {"numbers", .align = PDNN_ALIGN_WRAP, .help = "what the verdict is based on, in the order of `compared`"},
    {"compared", "compared, or needed", .align = PDNN_ALIGN_WRAP,
     .help = "the instances compared; if it cannot be told: those that are missing"},
    {"condition", .align = PDNN_ALIGN_WRAP,
     .help = "what distinguishes this set of instances from others in the sweep"},
    {"id", .help = "the id of all of them, with a star for what differs"},
};
const struct pdnn_table_def pdnn_directions_def = {
    "directions", "what must hold in measured runs of BERT training", columns, PDNN_DIRECTION_COLUMNS};
