/* Claims about one platform. */
#include "results/claims/claims.h"
#include "results/claims/op_times.h"
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
static bool is_about(const struct pdnn_report_claim *claim, const struct pdnn_family_def *family,
                     const char *key) {
    static const char *const widths[] = {"nodes", "filters", "hidden", "embedding", "ffn"};
    bool is = family && claim->key && claim->key(family) && strcmp(claim->key(family), key) == 0;
    for (size_t k = 0; !claim->key && k < sizeof widths / sizeof *widths; k++)
        is = is || strcmp(widths[k], key) == 0;
    return is;
}

/* What one key does to a number when nothing else changes: rows that are equal in every other key form a
 * series, and its two ends give one ratio. Each series counts once, however many values it has. */
struct changes {
    struct pdnn_mean log; /* of last over first, a number per series; or what was made of it */
    size_t n_up;          /* series whose last value is greater than the first */
};

/* The series along a key of which the rows have different values; none if they have not. In the arena. */
static size_t series_along(const struct pdnn_selection *rows, int key, struct pdnn_arena *arena,
                           struct pdnn_axes *axis, struct pdnn_series **series) {
    size_t count = 0;
    *axis = (struct pdnn_axes){{key}, .count = 1};
    if (key >= 0 && pdnn_selection_key(rows, key)->values)
        pdnn_selection_series(rows, axis, arena, series, &count);
    return count;
}

/* The members of a series that have the least and the greatest number of its key; false if that is one
 * number. */
static bool find_ends(const struct pdnn_selection *rows, const struct pdnn_axes *axis,
                      const struct pdnn_series *series, size_t end[2]) {
    size_t count = series->count;
    while (count && isnan(pdnn_selection_number(rows, series->at[count - 1], axis->column[0])))
        count--;
    end[0] = series->at[0];
    end[1] = series->at[count ? count - 1 : 0];
    return pdnn_selection_number(rows, end[0], axis->column[0]) <
           pdnn_selection_number(rows, end[1], axis->column[0]);
}

static void rate_along(const struct pdnn_selection *rows, const struct pdnn_report_claim *claim, int key,
                       struct changes *changes) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    size_t count = series_along(rows, key, &arena, &axis, &series), end[2];
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_family_def *family =
            pdnn_family_find(pdnn_selection_get(rows, series[i].at[0], rows->family));
        if (!is_about(claim, family, pdnn_results_name(&rows->results, key)) ||
            !find_ends(rows, &axis, &series[i], end))
            continue;
        double from = pdnn_selection_value(rows, end[0], PDNN_RESULT_GFLOPS);
        double to = pdnn_selection_value(rows, end[1], PDNN_RESULT_GFLOPS);
        if (!(from > 0) || !(to > 0))
            continue;
        changes->n_up += to > from;
        pdnn_mean_add(&changes->log, log(to / from), 0);
    }
    pdnn_arena_finish(&arena);
}

/* Takes `what` changes; `key`, or widths without it; `few`. */
static void rate_follows(struct pdnn_report_question *q) {
    const struct pdnn_report_claim *claim = q->claim;
    struct changes changes = {.n_up = 0};
    for (int key = q->rows->results.first_key; key < q->rows->results.end_key; key++) {
        const char *name = pdnn_results_name(&q->rows->results, key);
        size_t f = 0;
        while (pdnn_families[f] && !is_about(claim, pdnn_families[f], name))
            f++;
        if (pdnn_families[f])
            rate_along(q->rows, claim, key, &changes);
    }
    char begins[128], of[64];
    snprintf(begins, sizeof begins, "From the smallest to the largest %s the FLOP rate is multiplied by",
             claim->what);
    snprintf(of, sizeof of, "series that differ in nothing else, %zu of them rising", changes.n_up);
    pdnn_report_conclude(q, &changes.log, begins, of);
}

/* Whether a mean share is above a bound. Takes `collect`; `what` has the share and `of` what it is of; `few`
 * is what too few models did; `factor`, the bound. */
static void share_is_large(struct pdnn_report_question *q) {
    const struct pdnn_report_claim *claim = q->claim;
    struct pdnn_mean shares = claim->collect(q);
    struct pdnn_mean_interval share = pdnn_mean_interval(&shares);
    char text[PDNN_REPORT_RATIO];
    if (isnan(share.at)) {
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "%s: %zu; at least 3 are needed.", claim->few, shares.n);
        return;
    }
    const struct pdnn_mean_interval pct = {share.at * 100, fmax(fmin(0, share.at), share.low) * 100,
                                           fmin(1, share.high) * 100};
    pdnn_report_say(q, pdnn_report_apply(q, share), "%s, %s %%) of %s, mean of %zu models.", claim->what,
                    pdnn_report_ratio(text, pct, " % (95 % interval "), claim->of, shares.n);
}

static struct pdnn_mean memory_of_networks(struct pdnn_report_question *q) {
    return q->times->memory_of_networks[q->source];
}

static struct pdnn_mean memory_of_others(struct pdnn_report_question *q) {
    return q->times->memory_of_others[q->source];
}

/* Of training steps on several ranks. */
static struct pdnn_mean communication(struct pdnn_report_question *q) {
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
static struct pdnn_mean input(struct pdnn_report_question *q) {
    struct pdnn_mean size = {.n = 0}, shares = {.n = 0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < q->rows->count; at++) {
            const struct pdnn_family_def *family =
                pdnn_family_find(pdnn_selection_get(q->rows, at, q->rows->family));
            double pct = pdnn_selection_value(q->rows, at, PDNN_RESULT_INFEED_PCT);
            double flop = log(pdnn_selection_value(q->rows, at, PDNN_RESULT_IN_BOUNDS_FLOP_COUNT));
            if (!family || !pdnn_report_is_convolutional(family) || isnan(pct) || !isfinite(flop))
                continue;
            if (!pass)
                pdnn_mean_add(&size, flop, 0);
            else if (flop <= size.mean)
                pdnn_mean_add(&shares, pct / 100, 0);
        }
    }
    return shares;
}

/* A model's step with one value of a setting and with another, and half of the logarithm of the interval of
 * their ratio. */
struct change {
    double plain_ns, other_ns, half;
    const char *other;
};

/* The steps of models that ran with a setting's plain value and with others, the last of which counts: of the
 * rows, or of two platforms that differ in nothing else. */
static void add_changes(struct pdnn_report_question *q, enum pdnn_setting setting, const char *plain,
                        bool (*is_other)(const char *value),
                        void (*add)(const struct change *change, struct changes *changes),
                        struct changes *changes) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    int column[PDNN_SIDES] = {pdnn_results_setting(&q->rows->results, setting)};
    size_t count = series_along(q->rows, column[0], &arena, &axis, &series);
    for (size_t i = 0; i < count; i++) {
        struct change change = {NAN, NAN, 0, NULL};
        for (size_t k = 0; k < series[i].count; k++) {
            const char *value = pdnn_selection_get(q->rows, series[i].at[k], column[0]);
            const double step = pdnn_selection_step_ns(q->rows, series[i].at[k]);
            if (strcmp(value, plain) == 0)
                change.plain_ns = step;
            else if (is_other(value))
                change = (struct change){change.plain_ns, step, 0, value};
        }
        if (!isnan(change.plain_ns) && !isnan(change.other_ns))
            add(&change, changes);
    }
    pdnn_arena_finish(&arena);
    if (changes->log.n || !pdnn_report_differ_only_in(q, pdnn_settings[setting].name))
        return;
    pdnn_comparison_setting(pairs, setting, column);
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        for (int side = 0; side < PDNN_SIDES; side++) {
            const char *other = pdnn_comparison_get(pairs, pair, 1 - side, column[1 - side]);
            const struct change change = {pdnn_pair_ns(pairs, pair, side),
                                          pdnn_pair_ns(pairs, pair, 1 - side), pdnn_pair_half(pairs, pair),
                                          other};
            if (strcmp(pdnn_comparison_get(pairs, pair, side, column[side]), plain) == 0 && is_other(other))
                add(&change, changes);
        }
    }
    if (changes->log.n)
        q->source = PDNN_REPORT_BOTH;
}

static bool is_16_bits(const char *dtype) {
    return strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0;
}

static void add_speed(const struct change *change, struct changes *changes) {
    changes->n_up += change->plain_ns > change->other_ns;
    pdnn_mean_add(&changes->log, log(change->plain_ns / change->other_ns), change->half);
}

static void faster_in_16_bits(struct pdnn_report_question *q) {
    struct changes changes = {.n_up = 0};
    char of[32];
    add_changes(q, PDNN_SETTING_DTYPE, "f32", is_16_bits, add_speed, &changes);
    snprintf(of, sizeof of, "pairs, %zu of them rising", changes.n_up);
    pdnn_report_conclude(q, &changes.log, "From f32 to 16 bits the speed of a step is multiplied by", of);
}

static bool is_several(const char *threads) {
    int64_t n;
    return pdnn_parse_i64(threads, &n) && n > 1;
}

/* f = (U1 / UN - 1) / (N - 1), U: the utilization of what each number of threads has (Wang et al., section
 * 5). */
static void add_fraction(const struct change *change, struct changes *changes) {
    int64_t n = 1;
    pdnn_parse_i64(change->other, &n);
    pdnn_mean_add(&changes->log,
                  pdnn_amdahl_fraction(change->plain_ns / change->other_ns / (double)n, (double)n), 0);
}

static struct pdnn_mean unscaled(struct pdnn_report_question *q) {
    struct changes fractions = {.n_up = 0};
    add_changes(q, PDNN_SETTING_THREADS, "1", is_several, add_fraction, &fractions);
    return fractions.log;
}

/* The memory that models of a directory were held to; NaN: unknown. */
static double memory_limit(const char *directory) {
    struct pdnn_str value = {0};
    double limit;
    pdnn_environment_get(directory, "limit_memory_bytes", &value);
    if (!pdnn_parse_double(pdnn_str_text(&value), &limit) || !(limit > 0))
        limit = NAN;
    pdnn_str_finish(&value);
    return limit;
}

struct fitting {
    size_t n, n_refused;
    double smallest_refused, largest; /* bytes; infinite, 0: none */
};

static struct fitting count_fitting(const struct pdnn_selection *rows) {
    struct fitting found = {.n = rows->count, .smallest_refused = INFINITY};
    for (size_t at = 0; at < rows->count; at++)
        found.largest = fmax(found.largest, pdnn_selection_value(rows, at, PDNN_RESULT_MEMORY_BYTES));
    for (size_t at = rows->count; at < rows->count + rows->left_out; at++) {
        enum pdnn_outcome outcome = pdnn_outcome_find(pdnn_selection_get(rows, at, rows->status));
        if (outcome != PDNN_OUTCOME_OOM_PREDICTED && outcome != PDNN_OUTCOME_OOM)
            continue;
        found.n_refused++;
        found.smallest_refused =
            fmin(found.smallest_refused, pdnn_selection_value(rows, at, PDNN_RESULT_MEMORY_BYTES));
    }
    found.n += found.n_refused;
    return found;
}

/* That all fit says something only where models came near the limit. */
static void largest_need_memory(struct pdnn_report_question *q) {
    static const double near = 0.5;
    struct fitting found = count_fitting(q->rows);
    double limit = memory_limit(q->rows->results.directory[q->source]);
    char from[PDNN_UNIT_TEXT], to[PDNN_UNIT_TEXT], most[PDNN_UNIT_TEXT];
    pdnn_format_bytes(from, found.smallest_refused);
    pdnn_format_bytes(to, found.largest);
    pdnn_format_bytes(most, limit);
    if (!found.n)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "No model ended ok or was refused for its memory.");
    else if (found.n_refused && isfinite(found.smallest_refused) && found.largest > 0)
        pdnn_report_say(
            q, PDNN_HOLDS,
            "Models that did not fit the memory limit: %zu of %zu, the smallest of them with %s of tensors; "
            "the largest that ran has %s.",
            found.n_refused, found.n, from, to);
    else if (found.n_refused)
        pdnn_report_say(q, PDNN_HOLDS, "Models that did not fit the memory limit: %zu of %zu.",
                        found.n_refused, found.n);
    else
        pdnn_report_say(q, found.largest > near * limit ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD,
                        "All models that ran fit (%zu); the largest has %s of tensors, with a limit of %s.",
                        found.n, to, isnan(limit) ? "unknown size" : most);
}

const struct pdnn_report_claim pdnn_report_claims[] = {
    {0, "Utilization grows with the minibatch.", rate_follows,
     .tells = "A sweep with several minibatches, each with the same models.", .what = "minibatch",
     .few = "Series that differ in nothing but the minibatch", .factor = 1, .key = minibatch_of},
    {0, "Utilization grows with the width of layers.", rate_follows,
     .tells = "A sweep with several widths, each with the same other hyper-parameters.", .what = "width",
     .few = "Series that differ in nothing but the width", .factor = 1},
    {0, "Ops other than matrix products are bound by memory.", share_is_large,
     .tells = "The ops.csv of a sweep with roofs.",
     .what = "Outside matrix products, convolutions and recurrent layers",
     .of = "a model's op time is bound by memory", .few = "Models with rows in ops.csv for such ops",
     .collect = memory_of_others, .factor = 0.5},
    {0, "Part of the work does not scale with the cores.", share_is_large,
     .tells = "A sweep with threads: [1, all].", .what = "Of models that ran on one thread and on several",
     .of = "the work does not scale", .few = "Models that ran both on one thread and on several",
     .collect = unscaled},
    {1, "Utilization does not depend on depth.", rate_follows,
     .tells = "A sweep with several depths, each with the same other hyper-parameters.", .what = "depth",
     .few = "Series that differ in nothing but the depth", .key = depth_of, .rule = PDNN_WITHIN,
     .factor = 1.1},
    {2, "A quarter or more of the op time of fully connected and convolutional networks is bound by memory.",
     share_is_large, .tells = "The ops.csv of a sweep of such networks, with roofs.",
     .what = "In fully connected and convolutional networks", .of = "a model's op time is bound by memory",
     .few = "Models with rows in ops.csv for such ops", .collect = memory_of_networks, .factor = 0.25},
    {3, "Communication between devices costs a tenth or more of a training step.", share_is_large,
     .tells = "A sweep with mode: train on several ranks.", .what = "On several ranks",
     .of = "a training step waits for gradients of other ranks",
     .few = "Models that trained on several ranks", .collect = communication, .factor = 0.1},
    {4, "Small convolutional networks wait a tenth or more of a step for their input.", share_is_large,
     .tells = "A sweep of convolutional networks with data: generated, or from files.",
     .what = "In the smaller half of convolutional networks", .of = "a step waits for the next minibatch",
     .few = "Such networks that prepared their input beside the steps", .collect = input, .factor = 0.1},
    {6, "The largest models need more memory than there is.", largest_need_memory,
     .tells = "Models whose tensors need more than half of the limit."},
    {13, "16-bit types make models faster.", faster_in_16_bits, .tells = "A sweep with dtype: [f32, bf16].",
     .few = "Models that ran both in f32 and in a 16-bit type", .factor = 1},
};

const size_t pdnn_report_n_claims = sizeof pdnn_report_claims / sizeof *pdnn_report_claims;
