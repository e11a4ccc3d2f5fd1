/* Claims about one platform. */
#include "results/claims/claims.h"
#include "base/units.h"
#include "models/family.h"
#include "results/claims/changes.h"
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
static struct names names_of(const struct pdnn_report_rows *rows,
                             int (*part)(const struct pdnn_family_def *)) {
    struct names names = {.count = 0};
    for (size_t v = 0; v < rows->axis[0].n_values; v++) {
        const struct pdnn_family_def *family = pdnn_family_find(rows->axis[0].value[v]);
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

static void rate_along(const struct pdnn_report_question *q, const struct names *names,
                       struct pdnn_report_changes *changes) {
    *changes = (struct pdnn_report_changes){.n_up = 0};
    for (size_t k = 0; k < names->count; k++) {
        const struct pdnn_report_axis *axis = pdnn_report_axis_find(q->rows, names->name[k]);
        if (axis && axis->is_numeric)
            pdnn_report_changes_add(q->rows, q->finding->source, axis, PDNN_REPORT_GFLOPS, changes);
    }
}

static void say_too_few(struct pdnn_report_question *q, const char *what, size_t n) {
    pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "%zu series differ in nothing but the %s; at least 3 are needed.",
                    n, what);
}

static void say_changes(struct pdnn_report_question *q, enum pdnn_verdict verdict, const char *what,
                        const struct pdnn_report_changes *changes, struct pdnn_mean_interval ratio) {
    pdnn_report_say(
        q, verdict,
        "From the smallest to the largest %s the FLOP rate is multiplied by %.3g (95 %% interval %.3g "
        "to %.3g, geometric mean of %zu series that differ in nothing else); it rises in %zu of them.",
        what, ratio.at, ratio.low, ratio.high, changes->log.n, changes->n_up);
}

static void grows_along(struct pdnn_report_question *q, const struct names *names, const char *what) {
    struct pdnn_report_changes changes;
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
    struct pdnn_report_changes changes;
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

struct dtypes {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_axis *axis;
    struct pdnn_report_changes changes; /* of the speed, from f32 to 16 bits */
};

static bool is_16_bits(const char *dtype) {
    return strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0;
}

/* The axis is sorted by name, so the members are in the order of names: bf16, f16, f32, int8. */
static void add_dtypes(void *context, const size_t *member, size_t count) {
    struct dtypes *d = context;
    size_t narrow = SIZE_MAX, wide = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *dtype = d->axis->value[d->axis->of_row[member[i]]];
        if (strcmp(dtype, "f32") == 0)
            wide = member[i];
        else if (narrow == SIZE_MAX && is_16_bits(dtype))
            narrow = member[i];
    }
    if (narrow == SIZE_MAX || wide == SIZE_MAX)
        return;
    double from = d->rows->row[wide].number[PDNN_REPORT_TIME_NS];
    double to = d->rows->row[narrow].number[PDNN_REPORT_TIME_NS];
    d->changes.n_up += from > to;
    pdnn_mean_add(&d->changes.log, log(from / to), 0);
}

/* Two platforms that differ in the type, one of them f32. */
static void add_pairs_of_dtypes(const struct pdnn_comparison *pairs, struct pdnn_report_changes *changes) {
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
    struct dtypes d = {q->rows, pdnn_report_axis_find(q->rows, "dtype"), {.n_up = 0}};
    if (d.axis)
        pdnn_report_series(q->rows, q->finding->source, d.axis, add_dtypes, &d);
    if (!d.changes.log.n && q->sides->pairs) {
        add_pairs_of_dtypes(q->sides->pairs, &d.changes);
        q->finding->source = d.changes.log.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    struct pdnn_mean_interval speed = pdnn_mean_exp(pdnn_mean_interval(&d.changes.log));
    if (isnan(speed.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models ran both in f32 and in a 16-bit type; at least 3 are needed.",
                        d.changes.log.n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, speed.low > 1, speed.high < 1),
            "In 16 bits a step is %.3g times as fast as in f32 (95 %% interval %.3g to %.3g, geometric "
            "mean of %zu pairs); it is faster in %zu of them.",
            speed.at, speed.low, speed.high, d.changes.log.n, d.changes.n_up);
    return PDNN_OK;
}

struct scaling {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_axis *axis;
    struct pdnn_mean fractions;
};

/* f = (U1 / UN - 1) / (N - 1), U: the utilization of what each number of threads has (Wang et al., section
 * 5). */
static void add_scaling(void *context, const size_t *member, size_t count) {
    struct scaling *s = context;
    size_t first = member[0], last = member[count - 1];
    double few, many;
    if (!pdnn_parse_double(s->axis->value[s->axis->of_row[first]], &few) ||
        !pdnn_parse_double(s->axis->value[s->axis->of_row[last]], &many))
        return;
    double ratio = many / few;
    double one = s->rows->row[first].number[PDNN_REPORT_GFLOPS],
           all = s->rows->row[last].number[PDNN_REPORT_GFLOPS] / ratio;
    if (few == 1 && one > 0 && all > 0)
        pdnn_mean_add(&s->fractions, pdnn_amdahl_fraction(all / one, ratio), 0);
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
    struct scaling s = {q->rows, pdnn_report_axis_find(q->rows, "threads"), {.n = 0}};
    if (s.axis)
        pdnn_report_series(q->rows, q->finding->source, s.axis, add_scaling, &s);
    if (!s.fractions.n && q->sides->pairs) {
        add_pairs_of_threads(q->sides->pairs, &s.fractions);
        q->finding->source = s.fractions.n ? PDNN_REPORT_BOTH : q->finding->source;
    }
    struct pdnn_mean_interval f = pdnn_mean_interval(&s.fractions);
    if (isnan(f.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu models ran both on one thread and on several; at least 3 are needed.",
                        s.fractions.n);
    else
        pdnn_report_say(
            q, pdnn_report_judge(q, f.low > 0, f.high < 0),
            "The non-parallel fraction is %.1f %% (95 %% interval %.1f to %.1f %%), mean of %zu models "
            "that ran on one thread and on several.",
            f.at * 100, f.low * 100, f.high * 100, s.fractions.n);
    return PDNN_OK;
}

/* The memory that models were held to; NaN: unknown. */
static double memory_limit(const struct pdnn_report_source *source) {
    struct pdnn_str value = {0};
    double limit;
    pdnn_environment_value(pdnn_str_text(&source->environment), "limit_memory_bytes", &value);
    if (!pdnn_parse_double(pdnn_str_text(&value), &limit) || !(limit > 0))
        limit = NAN;
    pdnn_str_finish(&value);
    return limit;
}

struct fitting {
    size_t n, n_refused;
    double smallest_refused, largest; /* bytes; infinite, 0: none */
};

static struct fitting count_fitting(const struct pdnn_report_rows *rows, size_t source) {
    struct fitting found = {.smallest_refused = INFINITY};
    for (size_t r = 0; r < rows->n_rows; r++) {
        const struct pdnn_report_row *row = &rows->row[r];
        const char *status = pdnn_report_word_text(rows, row, PDNN_REPORT_STATUS);
        bool is_refused = strcmp(status, "oom_predicted") == 0 || strcmp(status, "oom") == 0;
        if (row->source != source)
            continue;
        found.n += row->is_ok || is_refused;
        found.n_refused += is_refused;
        if (is_refused)
            found.smallest_refused = fmin(found.smallest_refused, row->number[PDNN_REPORT_MEMORY_BYTES]);
        else if (row->is_ok)
            found.largest = fmax(found.largest, row->number[PDNN_REPORT_MEMORY_BYTES]);
    }
    return found;
}

/* That all fit says something only where models came near the limit. */
static enum pdnn_status largest_need_memory(struct pdnn_report_question *q, struct pdnn_err *err) {
    static const double near = 0.5;
    struct fitting found = count_fitting(q->rows, q->finding->source);
    double limit = memory_limit(&q->rows->source[q->finding->source]);
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
