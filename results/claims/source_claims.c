/* Claims about one platform. */
#include "results/claims/claim.h"
#include "results/query/op_groups.h"
#include "results/query/shares.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *minibatch_of(const struct pdnn_family_def *family) {
    return family->params[family->minibatch_param].name;
}

static const char *depth_of(const struct pdnn_family_def *family) {
    return family->depth_param >= 0 ? family->params[family->depth_param].name : NULL;
}

/* Whether the key is what the claim is about in this family, whatever it calls it. Families do not say which
 * of their parameters are widths. */
static bool is_about(const struct pdnn_claim *claim, const struct pdnn_family_def *family, const char *key) {
    static const char *const widths[] = {"nodes", "filters", "hidden", "embedding", "ffn"};
    bool is = family && claim->key && claim->key(family) && strcmp(claim->key(family), key) == 0;
    for (size_t k = 0; !claim->key && k < sizeof widths / sizeof *widths; k++)
        is = is || strcmp(widths[k], key) == 0;
    return is;
}

/* The series along a key of which the rows have different values; none if they have not. In the arena. */
static size_t series_along(const struct pdnn_selection *rows, int key, struct pdnn_arena *arena,
                           struct pdnn_axes *axis, struct pdnn_series **series) {
    size_t count = 0;
    *axis = (struct pdnn_axes){{key}, .count = 1};
    if (key >= 0 && pdnn_selection_key(rows, key)->values)
        pdnn_selection_series(rows, axis, arena, series, &count);
    return count;
}

/* What numbers say, and how many ratios are above 1. */
struct changes {
    struct pdnn_mean log;
    size_t n_up;
};

/* What one key does to the rate when nothing else changes, along `key`, or widths without it: rows that are
 * equal in every other key form a series, and the least and the greatest number of the key give one ratio.
 * Each series counts once, however many values it has. */
static struct pdnn_mean rates(struct pdnn_question *q) {
    const struct pdnn_selection *rows = q->rows;
    struct changes changes = {.n_up = 0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    for (int key = rows->results.first_key; key < rows->results.end_key; key++) {
        const char *name = pdnn_results_name(&rows->results, key);
        const size_t n = series_along(rows, key, &q->arena, &axis, &series);
        for (size_t i = 0; i < n; i++) {
            const size_t *at = series[i].at;
            size_t last = series[i].count - 1;
            while (last && isnan(pdnn_selection_number(rows, at[last], key)))
                last--;
            const double from = pdnn_selection_value(rows, at[0], PDNN_RESULT_GFLOPS),
                         to = pdnn_selection_value(rows, at[last], PDNN_RESULT_GFLOPS);
            if (!is_about(&q->claim, pdnn_claim_family(rows, at[0]), name) || !(from > 0) || !(to > 0) ||
                !(pdnn_selection_number(rows, at[0], key) < pdnn_selection_number(rows, at[last], key)))
                continue;
            changes.n_up += to > from;
            pdnn_mean_add(&changes.log, log(to / from), 0);
        }
    }
    q->claim.of =
        pdnn_arena_printf(&q->arena, "series that differ in nothing else, %zu of them rising", changes.n_up);
    return changes.log;
}

/* The share of op time bound by memory: in all ops of the claim's networks, or without, in non-products. Ops
 * that may be bound by it or by something else are left out. */
static struct pdnn_mean memory(struct pdnn_question *q) {
    pdnn_network *network = q->claim.network;
    struct pdnn_mean shares = {.n = 0};
    for (size_t at = 0; at < q->rows->count; at++) {
        const struct pdnn_op_rows rows = pdnn_selection_rows(q->rows, at, q->data->readers);
        const struct pdnn_family_def *family = pdnn_claim_family(q->rows, at);
        double total = 0, bound = 0;
        for (size_t i = 0; i < rows.count; i++) {
            const struct pdnn_op_record *op = &rows.op[i];
            const bool is_undecided = op->place.bound & (op->place.bound - 1);
            if (!(op->time_ns_median > 0) || is_undecided ||
                (!network && pdnn_category_is_product(op->category)))
                continue;
            total += op->time_ns_median;
            bound += op->place.bound == PDNN_BOUND_MEMORY ? op->time_ns_median : 0;
        }
        if (total > 0 && (!network || (family && network(family))))
            pdnn_mean_add(&shares, bound / total, 0);
    }
    return shares;
}

static bool is_dense_or_convolutional(const struct pdnn_family_def *family) {
    return pdnn_network_is_fully_connected(family) || pdnn_network_is_convolutional(family);
}

/* Of training steps on several ranks. */
static struct pdnn_mean communication(struct pdnn_question *q) {
    const int mode = pdnn_results_setting(&q->rows->results, PDNN_SETTING_MODE);
    struct pdnn_mean shares = {.n = 0};
    for (size_t at = 0; at < q->rows->count; at++) {
        double exposed = pdnn_selection_value(q->rows, at, PDNN_RESULT_EXPOSED_NS);
        if (!isnan(exposed) && strcmp(pdnn_selection_get(q->rows, at, mode), "train") == 0)
            pdnn_mean_add(&shares, exposed / pdnn_selection_step_ns(q->rows, at), 0);
    }
    return shares;
}

/* Of convolutional networks with less FLOP than the geometric mean of those whose input was prepared. */
static struct pdnn_mean input(struct pdnn_question *q) {
    struct pdnn_mean size = {.n = 0}, shares = {.n = 0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < q->rows->count; at++) {
            const struct pdnn_family_def *family = pdnn_claim_family(q->rows, at);
            double pct = pdnn_selection_value(q->rows, at, PDNN_RESULT_INFEED_PCT);
            double flop = log(pdnn_selection_value(q->rows, at, PDNN_RESULT_IN_BOUNDS_FLOP_COUNT));
            if (!family || !pdnn_network_is_convolutional(family) || isnan(pct) || !isfinite(flop))
                continue;
            if (!pass)
                pdnn_mean_add(&size, flop, 0);
            else if (flop <= size.mean)
                pdnn_mean_add(&shares, pct / 100, 0);
        }
    }
    return shares;
}

/* Adds a model's step with one value of a setting and with another: the logarithm of their ratio; or, where
 * the other has `times` the cores, the fraction that they do not share, f = (U1 / UN - 1) / (N - 1), U: the
 * utilization of what each number of threads has (Wang et al., section 5). */
static void add_change(struct changes *changes, double plain_ns, double other_ns, double half, double times) {
    const double ratio = plain_ns / other_ns;
    changes->n_up += ratio > 1;
    if (times > 1)
        pdnn_mean_add(&changes->log, pdnn_amdahl_fraction(ratio / times, times), 0);
    else
        pdnn_mean_add(&changes->log, log(ratio), half);
}

/* The steps of models that ran with a setting's plain value and with others, the last of which counts: of the
 * rows, or of two platforms that differ in nothing else. times: NaN for none of the others. */
static struct changes find_changes(struct pdnn_question *q, enum pdnn_setting setting, const char *plain,
                                   double (*times)(const char *value)) {
    struct changes changes = {.n_up = 0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    const int column = pdnn_results_setting(&q->rows->results, setting);
    size_t count = series_along(q->rows, column, &q->arena, &axis, &series);
    for (size_t i = 0; i < count; i++) {
        double plain_ns = NAN, other_ns = NAN, most = NAN;
        for (size_t k = 0; k < series[i].count; k++) {
            const char *value = pdnn_selection_get(q->rows, series[i].at[k], column);
            const double step_ns = pdnn_selection_step_ns(q->rows, series[i].at[k]);
            if (strcmp(value, plain) == 0)
                plain_ns = step_ns;
            if (!isnan(times(value))) {
                other_ns = step_ns;
                most = times(value);
            }
        }
        if (!isnan(plain_ns) && !isnan(other_ns))
            add_change(&changes, plain_ns, other_ns, 0, most);
    }
    if (changes.log.n || !pdnn_claim_differ_only_in(q, pdnn_settings[setting].name))
        return changes;
    for (size_t pair = 0; pair < q->pairs->pairs.n_rows; pair++)
        for (int side = 0; side < PDNN_SIDES; side++) {
            const double most = times(pdnn_comparison_setting(q->pairs, pair, 1 - side, setting));
            if (!isnan(most) && strcmp(pdnn_comparison_setting(q->pairs, pair, side, setting), plain) == 0)
                add_change(&changes, pdnn_pair_ns(q->pairs, pair, side),
                           pdnn_pair_ns(q->pairs, pair, 1 - side), pdnn_pair_half(q->pairs, pair), most);
        }
    if (changes.log.n)
        q->source = PDNN_CLAIM_OF_BOTH;
    return changes;
}

static double is_16_bits(const char *dtype) {
    return strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0 ? 1 : NAN;
}

static struct pdnn_mean speed_in_16_bits(struct pdnn_question *q) {
    const struct changes changes = find_changes(q, PDNN_SETTING_DTYPE, "f32", is_16_bits);
    q->claim.of = pdnn_arena_printf(&q->arena, "pairs, %zu of them rising", changes.n_up);
    return changes.log;
}

static double several(const char *threads) {
    int64_t n;
    return pdnn_parse_i64(threads, &n) && n > 1 ? (double)n : NAN;
}

static struct pdnn_mean unscaled(struct pdnn_question *q) {
    return find_changes(q, PDNN_SETTING_THREADS, "1", several).log;
}

/* That all fit says something only where models came near the limit. */
static void largest_need_memory(struct pdnn_question *q) {
    static const double near = 0.5;
    const struct pdnn_selection *rows = q->rows;
    double refused = INFINITY, largest = 0, limit; /* the smallest that was refused; bytes; NaN: unknown */
    size_t n_refused = 0;
    struct pdnn_str value = {0};
    pdnn_environment_get(rows->results.directory[q->source], "limit_memory_bytes", &value);
    if (!pdnn_parse_double(pdnn_str_text(&value), &limit) || !(limit > 0))
        limit = NAN;
    pdnn_str_finish(&value);
    for (size_t at = 0; at < rows->count + rows->left_out; at++) {
        const enum pdnn_outcome outcome = pdnn_outcome_find(pdnn_selection_get(rows, at, rows->status));
        /* What only the library knows beforehand is known where it was allocated. */
        const double predicted = pdnn_selection_value(rows, at, PDNN_RESULT_MEMORY_BYTES),
                     bytes = isnan(predicted) ? pdnn_selection_value(rows, at, PDNN_RESULT_PLAN_BYTES)
                                              : predicted;
        if (at < rows->count) {
            largest = fmax(largest, bytes);
        } else if (outcome == PDNN_OUTCOME_OOM_PREDICTED || outcome == PDNN_OUTCOME_OOM) {
            n_refused++;
            refused = fmin(refused, bytes);
        }
    }
    const size_t n = rows->count + n_refused;
    const char *sizes = "";
    char from[PDNN_UNIT_TEXT], to[PDNN_UNIT_TEXT], most[PDNN_UNIT_TEXT];
    pdnn_format_bytes(from, refused);
    pdnn_format_bytes(to, largest);
    pdnn_format_bytes(most, limit);
    if (isfinite(refused) && largest > 0)
        sizes = pdnn_arena_printf(
            &q->arena, ", the smallest of them with %s of tensors; the largest that ran has %s", from, to);
    if (!n)
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "No model ended ok or was refused for its memory.");
    else if (n_refused)
        pdnn_claim_say(q, PDNN_HOLDS, "Models that did not fit the memory limit: %zu of %zu%s.", n_refused, n,
                       sizes);
    else if (!(largest > 0))
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "What memory the models took is not known.");
    else
        pdnn_claim_say(q, largest > near * limit ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD,
                       "All models that ran fit (%zu); the largest has %s of tensors, with a limit of %s.", n,
                       to, isnan(limit) ? "unknown size" : most);
}

static const struct pdnn_claim claims[] = {
    {.text = "Utilization grows with the minibatch.",
     .check = pdnn_claim_check_ratio,
     .collect = rates,
     .key = minibatch_of,
     .factor = 1,
     .what = "From the smallest to the largest minibatch the FLOP rate is multiplied by",
     .few = "Series that differ in nothing but the minibatch",
     .needs = "A sweep with several minibatches, each with the same models."},
    {.text = "Utilization grows with the width of layers.",
     .check = pdnn_claim_check_ratio,
     .collect = rates,
     .factor = 1,
     .what = "From the smallest to the largest width the FLOP rate is multiplied by",
     .few = "Series that differ in nothing but the width",
     .needs = "A sweep with several widths, each with the same other hyper-parameters."},
    {.text = "Ops other than matrix products are bound by memory.",
     .check = pdnn_claim_check_share,
     .collect = memory,
     .factor = 0.5,
     .what = "Outside matrix products, convolutions and recurrent layers",
     .of = "a model's op time is bound by memory",
     .few = "Models with rows in ops.csv for such ops",
     .needs = "The ops.csv of a sweep with roofs."},
    {.text = "Part of the work does not scale with the cores.",
     .check = pdnn_claim_check_share,
     .collect = unscaled,
     .what = "Of models that ran on one thread and on several",
     .of = "the work does not scale",
     .few = "Models that ran both on one thread and on several",
     .needs = "A sweep with threads: [1, all]."},
    {1, "Utilization does not depend on depth.", pdnn_claim_check_ratio, .collect = rates, .key = depth_of,
     .rule = PDNN_WITHIN, .factor = 1.1,
     .what = "From the smallest to the largest depth the FLOP rate is multiplied by",
     .few = "Series that differ in nothing but the depth",
     .needs = "A sweep with several depths, each with the same other hyper-parameters."},
    {2, "A quarter or more of the op time of fully connected and convolutional networks is bound by memory.",
     pdnn_claim_check_share, .collect = memory, .network = is_dense_or_convolutional, .factor = 0.25,
     .what = "In fully connected and convolutional networks", .of = "a model's op time is bound by memory",
     .few = "Models with rows in ops.csv for such ops",
     .needs = "The ops.csv of a sweep of such networks, with roofs."},
    {3, "Communication between devices costs a tenth or more of a training step.", pdnn_claim_check_share,
     .collect = communication, .factor = 0.1, .what = "On several ranks",
     .of = "a training step waits for gradients of other ranks",
     .few = "Models that trained on several ranks", .needs = "A sweep with mode: train on several ranks."},
    {4, "Small convolutional networks wait a tenth or more of a step for their input.",
     pdnn_claim_check_share, .collect = input, .factor = 0.1,
     .what = "In the smaller half of convolutional networks", .of = "a step waits for the next minibatch",
     .few = "Such networks that prepared their input beside the steps",
     .needs = "A sweep of convolutional networks with data: generated, or from files."},
    {6, "The largest models need more memory than there is.", largest_need_memory,
     .needs = "Models whose tensors need more than half of the limit."},
    {13, "16-bit types make models faster.", pdnn_claim_check_ratio, .collect = speed_in_16_bits, .factor = 1,
     .what = "From f32 to 16 bits the speed of a step is multiplied by",
     .few = "Models that ran both in f32 and in a 16-bit type", .needs = "A sweep with dtype: [f32, bf16]."},
    {.text = NULL},
};

const struct pdnn_claim_list pdnn_source_claims = {claims, .is_of_pairs = false};
