/* Claims about one platform. */
#include "results/claims/claims.h"
#include "results/claims/networks.h"
#include "results/claims/pairs.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
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
    struct pdnn_mean log; /* of last over first, a number per series */
    size_t n_up;          /* series whose last value is greater than the first */
};

/* The series along a key of which the rows have different values; none if they have not. In the arena. */
static size_t series_along(const struct pdnn_selection *rows, int key, struct pdnn_arena *arena,
                           struct pdnn_axes *axis, struct pdnn_series **series) {
    size_t count = 0;
    *axis = (struct pdnn_axes){{key}, .count = 1};
    if (key >= 0 && rows->key[key].values)
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

/* Takes `what` changes; `key`, or widths without it; `factor`: within which either way the rate counts as the
 * same, which is then the claim, or 0: that it grows. */
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
    struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&changes.log));
    double same = claim->factor;
    char shown[PDNN_REPORT_RATIO];
    bool inside = ratio.low > 1 / same && ratio.high < same;
    bool outside = ratio.low > same || ratio.high < 1 / same;
    if (isnan(ratio.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu series differ in nothing but the %s; at least 3 are needed.", changes.log.n,
                        claim->what);
    else
        pdnn_report_say(
            q,
            same ? pdnn_report_judge(q, inside, outside)
                 : pdnn_report_judge(q, ratio.low > 1, ratio.high < 1),
            "From the smallest to the largest %s the FLOP rate is multiplied by %s, geometric mean of %zu "
            "series that differ in nothing else); it rises in %zu of them.",
            claim->what, pdnn_report_ratio(shown, ratio, true), changes.log.n, changes.n_up);
}

/* Whether a mean share is above a bound. Takes `collect`; `what` has the share and `of` what it is of; `few`
 * is what too few models did; `factor`, the bound. */
static void share_is_large(struct pdnn_report_question *q) {
    const struct pdnn_report_claim *claim = q->claim;
    struct pdnn_mean shares = claim->collect(q);
    struct pdnn_mean_interval share = pdnn_mean_interval(&shares);
    if (isnan(share.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "%zu models %s; at least 3 are needed.", shares.n,
                        claim->few);
    else
        pdnn_report_say(q, pdnn_report_judge(q, share.low > claim->factor, share.high < claim->factor),
                        "%s, %.3g %% (95 %% interval %.3g to %.3g %%) of %s, mean of %zu models.",
                        claim->what, share.at * 100, fmax(fmin(0, share.at), share.low) * 100,
                        fmin(1, share.high) * 100, claim->of, shares.n);
}

static struct pdnn_mean memory_of_networks(struct pdnn_report_question *q) {
    return q->times->memory_of_networks[q->finding->source];
}

static struct pdnn_mean memory_of_others(struct pdnn_report_question *q) {
    return q->times->memory_of_others[q->finding->source];
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

static bool is_16_bits(const char *dtype) {
    return strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0;
}

/* Of the speed, from f32 to 16 bits. */
static void add_dtypes(const struct pdnn_selection *rows, struct changes *changes) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    size_t count =
        series_along(rows, pdnn_results_setting(&rows->results, PDNN_SETTING_DTYPE), &arena, &axis, &series);
    for (size_t i = 0; i < count; i++) {
        double narrow = NAN, wide = NAN;
        for (size_t k = 0; k < series[i].count; k++) {
            const char *dtype = pdnn_selection_get(rows, series[i].at[k], axis.column[0]);
            double step = pdnn_selection_step_ns(rows, series[i].at[k]);
            if (strcmp(dtype, "f32") == 0)
                wide = step;
            else if (isnan(narrow) && is_16_bits(dtype))
                narrow = step;
        }
        if (isnan(narrow) || isnan(wide))
            continue;
        changes->n_up += wide > narrow;
        pdnn_mean_add(&changes->log, log(wide / narrow), 0);
    }
    pdnn_arena_finish(&arena);
}

/* Two platforms that differ in the type, one of them f32. */
static void add_pairs_of_dtypes(const struct pdnn_comparison *pairs, struct changes *changes) {
    int column[PDNN_SIDES];
    pdnn_comparison_setting(pairs, PDNN_SETTING_DTYPE, column);
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        const char *a = pdnn_comparison_get(pairs, pair, PDNN_SIDE_A, column[PDNN_SIDE_A]);
        const char *b = pdnn_comparison_get(pairs, pair, PDNN_SIDE_B, column[PDNN_SIDE_B]);
        bool forward = strcmp(a, "f32") == 0 && is_16_bits(b),
             backward = is_16_bits(a) && strcmp(b, "f32") == 0;
        double gain = (forward ? 1 : -1) * log(pdnn_pair_ratio(pairs, pair));
        if (!forward && !backward)
            continue;
        changes->n_up += gain > 0;
        pdnn_mean_add(&changes->log, gain, pdnn_pair_half(pairs, pair));
    }
}

static void faster_in_16_bits(struct pdnn_report_question *q) {
    struct changes changes = {.n_up = 0};
    add_dtypes(q->rows, &changes);
    if (!changes.log.n && pdnn_report_differ_only_in(q, "dtype")) {
        add_pairs_of_dtypes(q->sides->pairs, &changes);
        q->finding->source = changes.log.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    char shown[PDNN_REPORT_RATIO];
    struct pdnn_mean_interval speed = pdnn_mean_exp(pdnn_mean_interval(&changes.log));
    if (isnan(speed.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models ran both in f32 and in a 16-bit type; at least 3 are needed.",
                        changes.log.n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, speed.low > 1, speed.high < 1),
            "From f32 to 16 bits the speed of a step is multiplied by %s, geometric mean of %zu pairs); it rises in "
            "%zu of them.",
            pdnn_report_ratio(shown, speed, true), changes.log.n, changes.n_up);
}

/* f = (U1 / UN - 1) / (N - 1), U: the utilization of what each number of threads has (Wang et al., section
 * 5). */
static void add_scaling(const struct pdnn_selection *rows, struct pdnn_mean *fractions) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    size_t count = series_along(rows, pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS), &arena,
                                &axis, &series),
           end[2];
    for (size_t i = 0; i < count; i++) {
        if (!find_ends(rows, &axis, &series[i], end) ||
            pdnn_selection_number(rows, end[0], axis.column[0]) != 1)
            continue;
        double threads = pdnn_selection_number(rows, end[1], axis.column[0]);
        double one = pdnn_selection_value(rows, end[0], PDNN_RESULT_GFLOPS),
               all = pdnn_selection_value(rows, end[1], PDNN_RESULT_GFLOPS) / threads;
        if (one > 0 && all > 0)
            pdnn_mean_add(fractions, pdnn_amdahl_fraction(all / one, threads), 0);
    }
    pdnn_arena_finish(&arena);
}

/* Two platforms that differ in the number of threads, one of them 1. */
static void add_pairs_of_threads(const struct pdnn_comparison *pairs, struct pdnn_mean *fractions) {
    int column[PDNN_SIDES];
    pdnn_comparison_setting(pairs, PDNN_SETTING_THREADS, column);
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        double threads[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++)
            threads[side] = pdnn_comparison_number(pairs, pair, side, column[side]);
        int one = threads[PDNN_SIDE_A] == 1 ? PDNN_SIDE_A : PDNN_SIDE_B;
        double n = threads[1 - one];
        if (threads[one] == 1 && n > 1)
            pdnn_mean_add(fractions,
                          pdnn_amdahl_fraction(
                              pdnn_pair_ns(pairs, pair, one) / pdnn_pair_ns(pairs, pair, 1 - one) / n, n),
                          0);
    }
}

static struct pdnn_mean unscaled(struct pdnn_report_question *q) {
    struct pdnn_mean fractions = {.n = 0};
    add_scaling(q->rows, &fractions);
    if (!fractions.n && pdnn_report_differ_only_in(q, "threads")) {
        add_pairs_of_threads(q->sides->pairs, &fractions);
        q->finding->source = fractions.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    return fractions;
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
    double limit = memory_limit(q->rows->results.directory[q->finding->source]);
    char from[PDNN_UNIT_TEXT], to[PDNN_UNIT_TEXT], most[PDNN_UNIT_TEXT];
    pdnn_format_bytes(from, found.smallest_refused);
    pdnn_format_bytes(to, found.largest);
    pdnn_format_bytes(most, limit);
    if (!found.n)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "No model ended ok or was refused for its memory.");
    else if (found.n_refused && isfinite(found.smallest_refused) && found.largest > 0)
        pdnn_report_say(
            q, PDNN_HOLDS,
            "%zu of %zu models did not fit the memory limit, the smallest of them with %s of tensors; the "
            "largest that ran has %s.",
            found.n_refused, found.n, from, to);
    else if (found.n_refused)
        pdnn_report_say(q, PDNN_HOLDS, "%zu of %zu models did not fit the memory limit.", found.n_refused,
                        found.n);
    else
        pdnn_report_say(q, found.largest > near * limit ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD,
                        "All %zu models that ran fit; the largest has %s of tensors, with a limit of %s.",
                        found.n, to, isnan(limit) ? "unknown size" : most);
}

const struct pdnn_report_claim pdnn_report_claims[] = {
    {0, "Utilization grows with the minibatch.", rate_follows,
     .tells = "A sweep with several minibatches, each with the same models.", .what = "minibatch",
     .key = minibatch_of},
    {0, "Utilization grows with the width of layers.", rate_follows,
     .tells = "A sweep with several widths, each with the same other hyper-parameters.", .what = "width"},
    {0, "Ops other than matrix products are bound by memory.", share_is_large,
     .tells = "The ops.csv of a sweep with roofs.",
     .what = "Outside matrix products, convolutions and recurrent layers",
     .of = "a model's op time is bound by memory", .few = "have rows in ops.csv for such ops",
     .collect = memory_of_others, .factor = 0.5},
    {0, "Part of the work does not scale with the cores.", share_is_large,
     .tells = "A sweep with threads: [1, all].", .what = "Of models that ran on one thread and on several",
     .of = "the work does not scale", .few = "ran both on one thread and on several", .collect = unscaled},
    {1, "Utilization does not depend on depth.", rate_follows,
     .tells = "A sweep with several depths, each with the same other hyper-parameters.", .what = "depth",
     .key = depth_of, .factor = 1.1},
    {2, "A quarter or more of the op time of fully connected and convolutional networks is bound by memory.",
     share_is_large, .tells = "The ops.csv of a sweep of such networks, with roofs.",
     .what = "In fully connected and convolutional networks", .of = "a model's op time is bound by memory",
     .few = "have rows in ops.csv for such ops", .collect = memory_of_networks, .factor = 0.25},
    {3, "Communication between devices costs a tenth or more of a training step.", share_is_large,
     .tells = "A sweep with mode: train on several ranks.", .what = "On several ranks",
     .of = "a training step waits for gradients of other ranks", .few = "trained on several ranks",
     .collect = communication, .factor = 0.1},
    {4, "Small convolutional networks wait a tenth or more of a step for their input.", share_is_large,
     .tells = "A sweep of convolutional networks with data: generated, or from files.",
     .what = "In the smaller half of convolutional networks", .of = "a step waits for the next minibatch",
     .few = "are such networks and prepared their input beside the steps", .collect = input, .factor = 0.1},
    {6, "The largest models need more memory than there is.", largest_need_memory,
     .tells = "Models whose tensors need more than half of the limit."},
    {13, "16-bit types make models faster.", faster_in_16_bits, .tells = "A sweep with dtype: [f32, bf16]."},
};

const size_t pdnn_report_n_claims = sizeof pdnn_report_claims / sizeof *pdnn_report_claims;
