/* One function per claim; the table at the end lists them. */
#include "results/report/findings.h"
#include "results/report/changes.h"
#include "base/units.h"
#include "models/family.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *pdnn_report_verdict_name(enum pdnn_report_verdict verdict) {
    static const char *const names[PDNN_REPORT_VERDICT_COUNT] = {"holds", "does not hold", "cannot be told"};
    return names[verdict];
}

struct question {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_op_times *times;
    struct pdnn_report_finding *finding;
};

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

static void say(struct question *q, enum pdnn_report_verdict verdict, const char *sentence) {
    q->finding->verdict = verdict;
    snprintf(q->finding->sentence, sizeof q->finding->sentence, "%s", sentence);
}

static enum pdnn_status utilization_along(struct question *q, const struct names *names,
                                          struct pdnn_report_changes *changes, struct pdnn_err *err) {
    *changes = (struct pdnn_report_changes){.n = 0};
    enum pdnn_status status = PDNN_OK;
    for (size_t k = 0; k < names->count && status == PDNN_OK; k++) {
        const struct pdnn_report_axis *axis = pdnn_report_axis_find(q->rows, names->name[k]);
        if (axis && axis->is_numeric)
            status =
                pdnn_report_changes_add(q->rows, q->finding->source, axis, PDNN_REPORT_GFLOPS, changes, err);
    }
    pdnn_report_changes_finish(changes);
    return status;
}

/* "in 31 of 32 series ..., at the geometric mean 3.4 times (2.9 to 4.0)" */
static void say_changes(struct question *q, enum pdnn_report_verdict verdict, const char *from_to,
                        const struct pdnn_report_changes *changes) {
    q->finding->verdict = verdict;
    snprintf(
        q->finding->sentence, sizeof q->finding->sentence,
        "From the smallest to the largest %s the FLOP rate is multiplied by %.3g (95 %% interval %.3g to %.3g, "
        "geometric mean of %zu series that differ in nothing else); it rises in %zu of them.",
        from_to, changes->ratio, changes->low, changes->high, changes->n, changes->n_up);
}

static void say_too_few(struct question *q, const char *what, size_t n) {
    q->finding->verdict = PDNN_REPORT_CANNOT_BE_TOLD;
    snprintf(q->finding->sentence, sizeof q->finding->sentence,
             "%zu series differ in nothing but the %s; at least 3 are needed.", n, what);
}

static enum pdnn_status grows_along(struct question *q, const struct names *names, const char *what,
                                    struct pdnn_err *err) {
    struct pdnn_report_changes changes;
    enum pdnn_status status = utilization_along(q, names, &changes, err);
    if (status != PDNN_OK)
        return status;
    if (changes.n < 3)
        say_too_few(q, what, changes.n);
    else
        say_changes(q,
                    changes.low > 1    ? PDNN_REPORT_HOLDS
                    : changes.high < 1 ? PDNN_REPORT_DOES_NOT_HOLD
                                       : PDNN_REPORT_CANNOT_BE_TOLD,
                    what, &changes);
    return PDNN_OK;
}

static enum pdnn_status grows_with_minibatch(struct question *q, struct pdnn_err *err) {
    struct names names = names_of(q->rows, minibatch_of);
    return grows_along(q, &names, "minibatch", err);
}

static enum pdnn_status grows_with_width(struct question *q, struct pdnn_err *err) {
    return grows_along(q, &widths, "width", err);
}

/* Within a tenth either way counts as the same. */
static enum pdnn_status same_at_any_depth(struct question *q, struct pdnn_err *err) {
    static const double same = 1.1;
    struct pdnn_report_changes changes;
    struct names names = names_of(q->rows, depth_of);
    enum pdnn_status status = utilization_along(q, &names, &changes, err);
    if (status != PDNN_OK)
        return status;
    if (changes.n < 3) {
        say_too_few(q, "depth", changes.n);
        return PDNN_OK;
    }
    bool inside = changes.low > 1 / same && changes.high < same;
    bool outside = changes.low > same || changes.high < 1 / same;
    say_changes(q,
                inside    ? PDNN_REPORT_HOLDS
                : outside ? PDNN_REPORT_DOES_NOT_HOLD
                          : PDNN_REPORT_CANNOT_BE_TOLD,
                "depth", &changes);
    return PDNN_OK;
}

static enum pdnn_status others_bound_by_memory(struct question *q, struct pdnn_err *err) {
    const struct pdnn_report_memory *memory = &q->times->memory[q->finding->source];
    (void)err;
    if (memory->n < 3) {
        say(q, PDNN_REPORT_CANNOT_BE_TOLD, "Fewer than 3 models have a row in ops.csv for such an op.");
        return PDNN_OK;
    }
    double low = memory->mean - memory->half, high = memory->mean + memory->half;
    q->finding->verdict = low > 0.5    ? PDNN_REPORT_HOLDS
                          : high < 0.5 ? PDNN_REPORT_DOES_NOT_HOLD
                                       : PDNN_REPORT_CANNOT_BE_TOLD;
    snprintf(
        q->finding->sentence, sizeof q->finding->sentence,
        "Outside matrix products, convolutions and recurrent layers, %.0f %% (95 %% interval %.0f to %.0f %%) of "
        "a model's op time is bound by memory, mean of %zu models.",
        memory->mean * 100, fmax(0, low) * 100, fmin(1, high) * 100, memory->n);
    return PDNN_OK;
}

struct dtypes {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_axis *axis;
    struct pdnn_report_changes changes; /* of the rate, from f32 to 16 bits */
};

/* The axis is sorted by name, so the members are in the order of names: bf16, f16, f32, int8. */
static void add_dtypes(void *context, const size_t *member, size_t count) {
    struct dtypes *d = context;
    size_t narrow = SIZE_MAX, wide = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *dtype = d->axis->value[d->axis->of_row[member[i]]];
        if (strcmp(dtype, "f32") == 0)
            wide = member[i];
        else if (narrow == SIZE_MAX && (strcmp(dtype, "bf16") == 0 || strcmp(dtype, "f16") == 0))
            narrow = member[i];
    }
    if (narrow == SIZE_MAX || wide == SIZE_MAX)
        return;
    double from = d->rows->row[wide].number[PDNN_REPORT_TIME_NS];
    double to = d->rows->row[narrow].number[PDNN_REPORT_TIME_NS];
    d->changes.n++;
    d->changes.n_up += from > to;
    d->changes.sum_log += log(from / to);
    d->changes.sum_log_squared += log(from / to) * log(from / to);
}

static enum pdnn_status faster_in_16_bits(struct question *q, struct pdnn_err *err) {
    struct dtypes d = {q->rows, pdnn_report_axis_find(q->rows, "dtype"), {.n = 0}};
    if (d.axis && pdnn_report_series(q->rows, q->finding->source, d.axis, add_dtypes, &d, err) != PDNN_OK)
        return err->status;
    pdnn_report_changes_finish(&d.changes);
    if (d.changes.n < 3) {
        say(q, PDNN_REPORT_CANNOT_BE_TOLD, "Fewer than 3 models ran both in f32 and in a 16-bit type.");
        return PDNN_OK;
    }
    q->finding->verdict = d.changes.low > 1    ? PDNN_REPORT_HOLDS
                          : d.changes.high < 1 ? PDNN_REPORT_DOES_NOT_HOLD
                                               : PDNN_REPORT_CANNOT_BE_TOLD;
    snprintf(
        q->finding->sentence, sizeof q->finding->sentence,
        "In 16 bits a step is %.3g times as fast as in f32 (95 %% interval %.3g to %.3g, geometric mean of %zu "
        "pairs); it is faster in %zu of them.",
        d.changes.ratio, d.changes.low, d.changes.high, d.changes.n, d.changes.n_up);
    return PDNN_OK;
}

struct scaling {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_axis *axis;
    struct pdnn_report_changes fractions; /* sums of the fractions themselves, not of logarithms */
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
    if (few != 1 || !(one > 0) || !(all > 0))
        return;
    double f = (one / all - 1) / (ratio - 1);
    s->fractions.n++;
    s->fractions.sum_log += f;
    s->fractions.sum_log_squared += f * f;
}

static enum pdnn_status part_does_not_scale(struct question *q, struct pdnn_err *err) {
    struct scaling s = {q->rows, pdnn_report_axis_find(q->rows, "threads"), {.n = 0}};
    if (s.axis && pdnn_report_series(q->rows, q->finding->source, s.axis, add_scaling, &s, err) != PDNN_OK)
        return err->status;
    if (s.fractions.n < 3) {
        say(q, PDNN_REPORT_CANNOT_BE_TOLD, "Fewer than 3 models ran both on one thread and on several.");
        return PDNN_OK;
    }
    pdnn_report_changes_finish(&s.fractions);
    double mean = log(s.fractions.ratio), low = log(s.fractions.low), high = log(s.fractions.high);
    q->finding->verdict = low > 0    ? PDNN_REPORT_HOLDS
                          : high < 0 ? PDNN_REPORT_DOES_NOT_HOLD
                                     : PDNN_REPORT_CANNOT_BE_TOLD;
    snprintf(
        q->finding->sentence, sizeof q->finding->sentence,
        "The non-parallel fraction is %.1f %% (95 %% interval %.1f to %.1f %%), mean of %zu models that ran on one "
        "thread and on several.",
        mean * 100, low * 100, high * 100, s.fractions.n);
    return PDNN_OK;
}

static enum pdnn_status largest_need_memory(struct question *q, struct pdnn_err *err) {
    size_t n = 0, refused = 0;
    double smallest = INFINITY, largest = 0;
    char from[PDNN_UNIT_TEXT], to[PDNN_UNIT_TEXT];
    (void)err;
    for (size_t r = 0; r < q->rows->n_rows; r++) {
        const struct pdnn_report_row *row = &q->rows->row[r];
        const char *status = pdnn_report_word_text(q->rows, row, PDNN_REPORT_STATUS);
        bool is_refused = strcmp(status, "oom_predicted") == 0 || strcmp(status, "oom") == 0;
        if (row->source != q->finding->source)
            continue;
        n += row->is_ok || is_refused;
        refused += is_refused;
        if (is_refused)
            smallest = fmin(smallest, row->number[PDNN_REPORT_MEMORY_BYTES]);
        else if (row->is_ok)
            largest = fmax(largest, row->number[PDNN_REPORT_MEMORY_BYTES]);
    }
    pdnn_format_bytes(from, smallest);
    pdnn_format_bytes(to, largest);
    q->finding->verdict = refused ? PDNN_REPORT_HOLDS : PDNN_REPORT_CANNOT_BE_TOLD;
    if (!n)
        say(q, PDNN_REPORT_CANNOT_BE_TOLD, "No model ended ok or was refused for its memory.");
    else if (!refused)
        snprintf(q->finding->sentence, sizeof q->finding->sentence,
                 "All %zu models that ran fit; the largest has %s of tensors.", n, to);
    else if (isfinite(smallest) && largest > 0)
        snprintf(
            q->finding->sentence, sizeof q->finding->sentence,
            "%zu of %zu models did not fit the memory limit, the smallest of them with %s of tensors; the largest "
            "that ran has %s.",
            refused, n, from, to);
    else
        snprintf(q->finding->sentence, sizeof q->finding->sentence,
                 "%zu of %zu models did not fit the memory limit.", refused, n);
    return PDNN_OK;
}

static enum pdnn_status needs_input_pipeline(struct question *q, struct pdnn_err *err) {
    (void)err;
    say(q, PDNN_REPORT_CANNOT_BE_TOLD, "The input was in memory before the step began.");
    return PDNN_OK;
}

static enum pdnn_status needs_more_nodes(struct question *q, struct pdnn_err *err) {
    (void)err;
    say(q, PDNN_REPORT_CANNOT_BE_TOLD, "Every model ran on one machine.");
    return PDNN_OK;
}

static const struct claim {
    const char *text;
    enum pdnn_status (*check)(struct question *q, struct pdnn_err *err);
} claims[] = {
    {"Utilization grows with the minibatch.", grows_with_minibatch},
    {"Utilization grows with the width of layers.", grows_with_width},
    {"Utilization does not depend on depth.", same_at_any_depth},
    {"Ops other than matrix products are bound by memory.", others_bound_by_memory},
    {"16-bit types make models faster.", faster_in_16_bits},
    {"Part of the work does not scale with the cores.", part_does_not_scale},
    {"The largest models need more memory than there is.", largest_need_memory},
    {"Small convolutional networks wait for their input.", needs_input_pipeline},
    {"Communication between devices costs much of a training step.", needs_more_nodes},
};

enum { CLAIMS = sizeof claims / sizeof *claims };

enum pdnn_status pdnn_report_findings(struct pdnn_report_rows *rows, const struct pdnn_report_op_times *times,
                                      struct pdnn_report_finding **findings, size_t *n_findings,
                                      struct pdnn_err *err) {
    struct pdnn_report_finding *made = pdnn_arena_alloc(&rows->arena, CLAIMS * rows->n_sources, sizeof *made);
    size_t count = 0;
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the report");
    for (size_t k = 0; k < CLAIMS; k++) {
        for (size_t s = 0; s < rows->n_sources; s++) {
            struct question question = {rows, times, &made[count]};
            made[count++] = (struct pdnn_report_finding){.claim = claims[k].text, .source = s};
            if (claims[k].check(&question, err) != PDNN_OK)
                return err->status;
        }
    }
    *findings = made;
    *n_findings = count;
    return PDNN_OK;
}
