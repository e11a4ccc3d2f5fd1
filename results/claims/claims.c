/* Claims about one platform. */
#include "results/claims/claims.h"
#include "base/units.h"
#include "models/family.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void pdnn_report_say(struct pdnn_report_question *question, enum pdnn_verdict verdict, const char *format,
                     ...) {
    va_list arguments;
    question->finding->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(question->finding->sentence, sizeof question->finding->sentence, format, arguments);
    va_end(arguments);
}

enum pdnn_verdict pdnn_report_judge(struct pdnn_report_question *question, bool holds, bool does_not) {
    if (!holds && !does_not)
        question->finding->tells = "A narrower interval: more models like these, or more rounds.";
    return holds ? PDNN_HOLDS : does_not ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD;
}

/* The hyper-parameters that play a part, whatever each family calls them. */
enum { NAMES_MAX = 16 };

struct names {
    const char *name[NAMES_MAX];
    size_t count;
};

static void add_name(struct names *names, const char *name) {
    size_t k = 0;
    while (k < names->count && strcmp(names->name[k], name) != 0)
        k++;
    if (k == names->count && k < NAMES_MAX)
        names->name[names->count++] = name;
}

/* From the families of the rows: the parameter whose index `part` gets, where there is one. */
static struct names names_of(const struct pdnn_selection *rows, int (*part)(const struct pdnn_family_def *)) {
    struct names names = {.count = 0};
    for (size_t at = 0; at < rows->count; at++) {
        const struct pdnn_family_def *family = pdnn_family_find(pdnn_selection_get(rows, at, rows->family));
        if (family && part(family) >= 0)
            add_name(&names, family->params[part(family)].name);
    }
    return names;
}

static int minibatch_of(const struct pdnn_family_def *family) {
    return family->minibatch_param;
}

static int depth_of(const struct pdnn_family_def *family) {
    return family->depth_param;
}

/* Families do not say which of their parameters are widths. */
static const struct names widths = {{"nodes", "filters", "hidden", "embedding", "ffn"}, 5};

/* What one key does to a number when nothing else changes: rows that are equal in every other key form a
 * series, and its two ends give one ratio. Each series counts once, however many values it has. */
struct changes {
    struct pdnn_mean log; /* of last over first, a number per series */
    size_t n_up;          /* series whose last value is greater than the first */
};

/* The series along a key of which the rows have different values; none if they have not. In the arena. */
static size_t series_along(const struct pdnn_selection *rows, const char *key, struct pdnn_arena *arena,
                           struct pdnn_axes *axis, struct pdnn_series **series) {
    size_t count = 0;
    *axis = (struct pdnn_axes){{pdnn_results_named(&rows->results, key)}, .count = 1};
    if (axis->column[0] >= rows->results.first_key && axis->column[0] < rows->results.end_key &&
        rows->key[axis->column[0]].values)
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

static void rate_along(const struct pdnn_report_question *q, const struct names *names,
                       struct changes *changes) {
    *changes = (struct changes){.n_up = 0};
    for (size_t k = 0; k < names->count; k++) {
        struct pdnn_arena arena = {0};
        struct pdnn_axes axis;
        struct pdnn_series *series;
        size_t count = series_along(q->rows, names->name[k], &arena, &axis, &series), end[2];
        for (size_t i = 0; i < count; i++) {
            if (!find_ends(q->rows, &axis, &series[i], end))
                continue;
            double from = pdnn_selection_value(q->rows, end[0], PDNN_RESULT_GFLOPS);
            double to = pdnn_selection_value(q->rows, end[1], PDNN_RESULT_GFLOPS);
            if (!(from > 0) || !(to > 0))
                continue;
            changes->n_up += to > from;
            pdnn_mean_add(&changes->log, log(to / from), 0);
        }
        pdnn_arena_finish(&arena);
    }
}

static void say_too_few(struct pdnn_report_question *q, const char *what, size_t n) {
    pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "%zu series differ in nothing but the %s; at least 3 are needed.",
                    n, what);
}

static void say_changes(struct pdnn_report_question *q, enum pdnn_verdict verdict, const char *what,
                        const struct changes *changes, struct pdnn_mean_interval ratio) {
    pdnn_report_say(
        q, verdict,
        "From the smallest to the largest %s the FLOP rate is multiplied by %.3g (95 %% interval %.3g "
        "to %.3g, geometric mean of %zu series that differ in nothing else); it rises in %zu of them.",
        what, ratio.at, ratio.low, ratio.high, changes->log.n, changes->n_up);
}

static void grows_along(struct pdnn_report_question *q, const struct names *names, const char *what) {
    struct changes changes;
    rate_along(q, names, &changes);
    struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&changes.log));
    if (isnan(ratio.at))
        say_too_few(q, what, changes.log.n);
    else
        say_changes(q, pdnn_report_judge(q, ratio.low > 1, ratio.high < 1), what, &changes, ratio);
}

static enum pdnn_status grows_with_minibatch(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    struct names names = names_of(q->rows, minibatch_of);
    grows_along(q, &names, "minibatch");
    return PDNN_OK;
}

static enum pdnn_status grows_with_width(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    grows_along(q, &widths, "width");
    return PDNN_OK;
}

/* Within a tenth either way counts as the same. */
static enum pdnn_status same_at_any_depth(struct pdnn_report_question *q, struct pdnn_err *err) {
    static const double same = 1.1;
    struct changes changes;
    (void)err;
    struct names names = names_of(q->rows, depth_of);
    rate_along(q, &names, &changes);
    struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&changes.log));
    bool inside = ratio.low > 1 / same && ratio.high < same;
    bool outside = ratio.low > same || ratio.high < 1 / same;
    if (isnan(ratio.at))
        say_too_few(q, "depth", changes.log.n);
    else
        say_changes(q, pdnn_report_judge(q, inside, outside), "depth", &changes, ratio);
    return PDNN_OK;
}

/* A share of op time that is bound by memory, against a bound. */
static void memory_share(struct pdnn_report_question *q, const struct pdnn_mean *shares, double bound,
                         const char *of_what) {
    struct pdnn_mean_interval share = pdnn_mean_interval(shares);
    if (isnan(share.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models have rows in ops.csv for such ops; at least 3 are needed.", shares->n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, share.low > bound, share.high < bound),
            "%s, %.0f %% (95 %% interval %.0f to %.0f %%) of a model's op time is bound by memory, mean "
            "of %zu models.",
            of_what, share.at * 100, fmax(0, share.low) * 100, fmin(1, share.high) * 100, shares->n);
}

static enum pdnn_status networks_bound_by_memory(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    memory_share(q, &q->times->memory_of_networks[q->finding->source], 0.25,
                 "In fully connected and convolutional networks");
    return PDNN_OK;
}

static enum pdnn_status others_bound_by_memory(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    memory_share(q, &q->times->memory_of_others[q->finding->source], 0.5,
                 "Outside matrix products, convolutions and recurrent layers");
    return PDNN_OK;
}

static bool is_16_bits(const char *dtype) {
    return strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0;
}

/* Of the speed, from f32 to 16 bits. */
static void add_dtypes(const struct pdnn_selection *rows, struct changes *changes) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    size_t count = series_along(rows, "dtype", &arena, &axis, &series);
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
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        const char *a = pdnn_comparison_get(pairs, pair, PDNN_SIDE_A, "dtype");
        const char *b = pdnn_comparison_get(pairs, pair, PDNN_SIDE_B, "dtype");
        bool forward = strcmp(a, "f32") == 0 && is_16_bits(b),
             backward = is_16_bits(a) && strcmp(b, "f32") == 0;
        double gain = (forward ? 1 : -1) * log(pdnn_pair_ratio(pairs, pair));
        if (!forward && !backward)
            continue;
        changes->n_up += gain > 0;
        pdnn_mean_add(&changes->log, gain, pdnn_pair_half(pairs, pair));
    }
}

static enum pdnn_status faster_in_16_bits(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    struct changes changes = {.n_up = 0};
    add_dtypes(q->rows, &changes);
    if (!changes.log.n && q->sides->pairs) {
        add_pairs_of_dtypes(q->sides->pairs, &changes);
        q->finding->source = changes.log.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    struct pdnn_mean_interval speed = pdnn_mean_exp(pdnn_mean_interval(&changes.log));
    if (isnan(speed.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models ran both in f32 and in a 16-bit type; at least 3 are needed.",
                        changes.log.n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, speed.low > 1, speed.high < 1),
            "In 16 bits a step is %.3g times as fast as in f32 (95 %% interval %.3g to %.3g, geometric "
            "mean of %zu pairs); it is faster in %zu of them.",
            speed.at, speed.low, speed.high, changes.log.n, changes.n_up);
    return PDNN_OK;
}

/* f = (U1 / UN - 1) / (N - 1), U: the utilization of what each number of threads has (Wang et al., section
 * 5). */
static void add_scaling(const struct pdnn_selection *rows, struct pdnn_mean *fractions) {
    struct pdnn_arena arena = {0};
    struct pdnn_axes axis;
    struct pdnn_series *series;
    size_t count = series_along(rows, "threads", &arena, &axis, &series), end[2];
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
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        double threads[PDNN_SIDES];
        bool known = true;
        for (int side = 0; side < PDNN_SIDES; side++)
            known =
                known && pdnn_parse_double(pdnn_comparison_get(pairs, pair, side, "threads"), &threads[side]);
        int one = known && threads[PDNN_SIDE_A] == 1 ? PDNN_SIDE_A : PDNN_SIDE_B;
        double n = threads[1 - one];
        if (known && threads[one] == 1 && n > 1)
            pdnn_mean_add(fractions,
                          pdnn_amdahl_fraction(
                              pdnn_pair_ns(pairs, pair, one) / pdnn_pair_ns(pairs, pair, 1 - one) / n, n),
                          0);
    }
}

static enum pdnn_status part_does_not_scale(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    struct pdnn_mean fractions = {.n = 0};
    add_scaling(q->rows, &fractions);
    if (!fractions.n && q->sides->pairs) {
        add_pairs_of_threads(q->sides->pairs, &fractions);
        q->finding->source = fractions.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    struct pdnn_mean_interval f = pdnn_mean_interval(&fractions);
    if (isnan(f.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models ran both on one thread and on several; at least 3 are needed.",
                        fractions.n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, f.low > 0, f.high < 0),
            "The non-parallel fraction is %.1f %% (95 %% interval %.1f to %.1f %%), mean of %zu models "
            "that ran on one thread and on several.",
            f.at * 100, f.low * 100, f.high * 100, fractions.n);
    return PDNN_OK;
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
    const struct pdnn_results *results = &rows->results;
    for (size_t at = 0; at < rows->count; at++)
        found.largest = fmax(found.largest, pdnn_selection_value(rows, at, PDNN_RESULT_MEMORY_BYTES));
    for (size_t i = 0; i < rows->left_out; i++) {
        enum pdnn_outcome outcome =
            pdnn_outcome_find(pdnn_results_text(results, rows->left[i], rows->status));
        if (outcome != PDNN_OUTCOME_OOM_PREDICTED && outcome != PDNN_OUTCOME_OOM)
            continue;
        found.n_refused++;
        found.smallest_refused =
            fmin(found.smallest_refused,
                 pdnn_results_number(results, rows->left[i], results->at[PDNN_RESULT_MEMORY_BYTES]));
    }
    found.n += found.n_refused;
    return found;
}

/* That all fit says something only where models came near the limit. */
static enum pdnn_status largest_need_memory(struct pdnn_report_question *q, struct pdnn_err *err) {
    static const double near = 0.5;
    struct fitting found = count_fitting(q->rows);
    double limit = memory_limit(q->rows->results.directory[q->finding->source]);
    char from[PDNN_UNIT_TEXT], to[PDNN_UNIT_TEXT], most[PDNN_UNIT_TEXT];
    (void)err;
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
    return PDNN_OK;
}

static enum pdnn_status needs_input_pipeline(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    q->finding->source = PDNN_REPORT_BOTH;
    pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The input was in memory before the step began.");
    return PDNN_OK;
}

static enum pdnn_status needs_more_nodes(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    q->finding->source = PDNN_REPORT_BOTH;
    pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "Every model ran on one machine.");
    return PDNN_OK;
}

const struct pdnn_report_claim pdnn_report_claims[] = {
    {0, "Utilization grows with the minibatch.", grows_with_minibatch,
     "A sweep with several minibatches, each with the same models."},
    {0, "Utilization grows with the width of layers.", grows_with_width,
     "A sweep with several widths, each with the same other hyper-parameters."},
    {0, "Ops other than matrix products are bound by memory.", others_bound_by_memory,
     "The ops.csv of a sweep with roofs."},
    {0, "Part of the work does not scale with the cores.", part_does_not_scale,
     "A sweep with threads: [1, all]."},
    {1, "Utilization does not depend on depth.", same_at_any_depth,
     "A sweep with several depths, each with the same other hyper-parameters."},
    {2, "A quarter or more of the op time of fully connected and convolutional networks is bound by memory.",
     networks_bound_by_memory, "The ops.csv of a sweep of such networks, with roofs."},
    {3, "Communication between devices costs much of a training step.", needs_more_nodes,
     "Steps on one device and on several that share the minibatch, which paradnn does not run; within a machine, "
     "the threads."},
    {4, "Small convolutional networks wait for their input.", needs_input_pipeline,
     "Steps that include reading and decoding their input, which paradnn does not run."},
    {6, "The largest models need more memory than there is.", largest_need_memory,
     "Models whose tensors need more than half of the limit."},
    {13, "16-bit types make models faster.", faster_in_16_bits, "A sweep with dtype: [f32, bf16]."},
};

const size_t pdnn_report_n_claims = sizeof pdnn_report_claims / sizeof *pdnn_report_claims;
