#include "session/seqpoint/epoch.h"

#include "base/memory.h"
#include "models/family.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model as the spec has it, with the parameters that carry its lengths. */
struct model {
    struct pdnn_instance instance;
    const struct pdnn_lengths_def *def;
    int target; /* index of the parameter; -1: there is none, or it does not apply */
    int64_t batch;
};

static enum pdnn_status find_model(const struct pdnn_session *session, struct model *model,
                                   struct pdnn_err *err) {
    const struct pdnn_instance *instance = &session->tasks[0].instance;
    if (session->n_tasks != 1)
        return pdnn_fail(err, PDNN_INVALID,
                         "the spec has %zu instances, expected one model with one value for every key",
                         session->n_tasks);
    const struct pdnn_lengths_def *def = instance->family->lengths;
    if (!def)
        return pdnn_fail(err, PDNN_INVALID, "%s has no sequence length", instance->family->name);
    if (!pdnn_hyper_applies(instance, (size_t)def->source))
        return pdnn_hyper_check(instance, (size_t)def->source, err);
    bool has_target = def->target >= 0 && pdnn_hyper_applies(instance, (size_t)def->target);
    *model = (struct model){.instance = *instance,
                            .def = def,
                            .target = has_target ? def->target : -1,
                            .batch = instance->hyper[instance->family->minibatch_param].number};
    return PDNN_OK;
}

/* A stream is cut into windows, so that its examples may have any length. */
static enum pdnn_status check_examples(const struct model *model, const struct pdnn_spec_seqpoint *rules,
                                       const struct pdnn_lengths *lengths, struct pdnn_err *err) {
    int64_t positions = model->def->positions < 0 ? 0 : model->instance.hyper[model->def->positions].number;
    char what[64], condition[PDNN_CONDITION_TEXT] = "";
    const bool takes_two = model->def->target >= 0;
    if (takes_two)
        pdnn_hyper_condition(&model->instance, (size_t)model->def->target, condition);
    if (lengths->columns > 1 && model->target < 0)
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s has two lengths per example, and this %s takes one: give a file with one length a "
            "line%s%s%s",
            rules->lengths, model->instance.family->name, takes_two ? ", or a model with " : "", condition,
            takes_two ? ", which takes a source and a target" : "");
    if (!positions || rules->sampler == PDNN_SAMPLER_STREAM)
        return PDNN_OK;
    snprintf(what, sizeof what, "%" PRId64 " positions of the model", positions);
    enum pdnn_status status = PDNN_OK;
    for (size_t column = 0; column < lengths->columns && status == PDNN_OK; column++)
        status = pdnn_lengths_check(lengths, column, positions, what, err);
    const int64_t multiple = rules->multiple > 1 ? rules->multiple : 1;
    for (size_t i = 0; i < lengths->count * lengths->columns && status == PDNN_OK; i++)
        if ((lengths->length[i] + multiple - 1) / multiple * multiple > positions)
            status =
                pdnn_fail(err, PDNN_INVALID,
                          "%s: length %" PRId64 ", rounded up to a multiple of %" PRId64 ", is beyond the %s",
                          rules->lengths, lengths->length[i], multiple, what);
    return status;
}

static enum pdnn_status make_epoch(struct pdnn_seqpoint_epoch *made, const struct pdnn_spec *spec,
                                   const struct model *model, struct pdnn_err *err) {
    struct pdnn_spec_seqpoint *rules = &made->rules;
    *rules = spec->seqpoint;
    if (!rules->lengths)
        return pdnn_fail(err, PDNN_INVALID,
                         "no lengths given, such as --lengths iwslt15-en-vi, or seqpoint: {lengths: ...} in "
                         "the spec");
    rules->lengths = pdnn_arena_strdup(&made->arena, rules->lengths);
    const struct pdnn_lengths_def *def = model->def;
    const struct pdnn_lengths_request wanted = {
        .source = rules->lengths,
        .examples = (uint64_t)rules->examples,
        .seed = spec->seed,
        .longest = {rules->longest, rules->longest},
        .frames = {.per_second =
                       rules->frames_per_second ? (double)rules->frames_per_second : def->per_second,
                   .plus = def->plus}};
    enum pdnn_status status = pdnn_lengths_make(&wanted, &made->arena, &made->lengths, err);
    if (status == PDNN_OK && made->lengths.shipped && made->lengths.shipped->is_in_seconds &&
        !(wanted.frames.per_second > 0))
        status = pdnn_fail(err, PDNN_INVALID,
                           "%s has lengths in seconds, and %s has no frames: give seqpoint.frames_per_second",
                           rules->lengths, model->instance.family->name);
    if (status == PDNN_OK)
        status = check_examples(model, rules, &made->lengths, err);
    const struct pdnn_epoch_request request = {.lengths = &made->lengths,
                                               .sampler = (enum pdnn_sampler)rules->sampler,
                                               .batch = (uint64_t)model->batch,
                                               .multiple = {rules->multiple, rules->multiple},
                                               .window = model->instance.hyper[def->source].number,
                                               .shard_batches = (size_t)rules->shard_batches,
                                               .seed = spec->seed};
    if (status == PDNN_OK)
        status = pdnn_epoch_make(&request, &made->arena, &made->epoch, err);
    return status;
}

/* The target that goes with a kind or an example whose lengths are in one column. */
static int64_t target_of(const struct model *model, int64_t source) {
    return model->def->target_of ? model->def->target_of(source) : source;
}

/* A word stands for a number that may depend on the length, so the word is written if it gives this number.
 */
static const char *format_value(const struct pdnn_instance *instance, size_t param,
                                char buffer[PDNN_PARAM_TEXT]) {
    const struct pdnn_param_def *def = &instance->family->params[param];
    struct pdnn_instance other = *instance;
    if (def->word) {
        other.hyper[param] = pdnn_value_of(def->word_value);
        pdnn_instance_resolve(&other, instance->setting[PDNN_SETTING_THREADS]);
    }
    return def->word && pdnn_value_equal(other.hyper[param], instance->hyper[param])
               ? def->word
               : pdnn_param_format(def, instance->hyper[param], buffer);
}

/* Appends the entry of all kinds with this source, from `first` on; returns the next kind. */
static size_t append_entry(const struct pdnn_epoch *epoch, const struct model *model, size_t first,
                           struct pdnn_str *out) {
    const struct pdnn_family_def *family = model->instance.family;
    const int64_t source = epoch->kind[first].length[0];
    char text[PDNN_PARAM_TEXT];
    size_t next = first;
    pdnn_str_printf(out, "- %s: {", family->name);
    for (size_t i = 0; i < family->n_params; i++)
        if (pdnn_hyper_applies(&model->instance, i) && (int)i != model->def->source &&
            (int)i != model->target)
            pdnn_str_printf(out, "%s: %s, ", family->params[i].name, format_value(&model->instance, i, text));
    pdnn_str_printf(out, "%s: %" PRId64, family->params[model->def->source].name, source);
    for (; next < epoch->n_kinds && epoch->kind[next].length[0] == source; next++) {
        int64_t target =
            epoch->columns > 1 ? epoch->kind[next].length[1] : target_of(model, epoch->kind[next].length[0]);
        if (model->target >= 0 && next == first)
            pdnn_str_printf(out, ", %s: [", family->params[model->target].name);
        if (model->target >= 0)
            pdnn_str_printf(out, "%s%" PRId64, next > first ? ", " : "", target);
    }
    pdnn_str_printf(out, "%s}\n", model->target >= 0 ? "]" : "");
    return next;
}

static void note_examples(struct pdnn_seqpoint_epoch *made, const struct model *model) {
    const struct pdnn_epoch *epoch = &made->epoch;
    made->examples = pdnn_arena_alloc(&made->arena, epoch->n_kinds, sizeof *made->examples);
    uint32_t count =
        epoch->batch < PDNN_EXAMPLES_MASKED_MAX ? (uint32_t)epoch->batch : PDNN_EXAMPLES_MASKED_MAX;
    for (size_t i = epoch->n_iterations; i-- > 0;) {
        struct pdnn_example_lengths *of = &made->examples[epoch->kind_of[i]];
        of->count = count;
        for (uint32_t n = 0; n < count; n++) {
            const int64_t *length = pdnn_epoch_example(epoch, i, n);
            int64_t target = epoch->columns > 1  ? length[1]
                             : model->target < 0 ? length[0]
                                                 : target_of(model, length[0]);
            of->source[n] = (int32_t)length[0];
            of->target[n] = (int32_t)target;
        }
    }
}

/* Ties kinds and tasks together: they are in the same order. */
static enum pdnn_status take_tasks(struct pdnn_seqpoint_epoch *made, struct pdnn_session *session,
                                   struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = &made->epoch;
    if (session->n_tasks != epoch->n_kinds)
        return pdnn_fail(err, PDNN_INTERNAL, "%zu kinds of iterations, %zu instances", epoch->n_kinds,
                         session->n_tasks);
    made->flop_count = pdnn_arena_alloc(&made->arena, epoch->n_kinds, sizeof *made->flop_count);
    made->possible = pdnn_arena_alloc(&made->arena, epoch->n_kinds, sizeof *made->possible);
    const struct pdnn_task *largest = NULL;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        struct pdnn_task *task = &session->tasks[k];
        bool is_counted = session->rows[k].has_totals;
        if (!is_counted && made->rules.statistic == PDNN_STATISTIC_FLOP)
            return pdnn_fail(err, PDNN_INVALID, "the model has no iteration of length %" PRId64 ": %s",
                             epoch->kind[k].length[0],
                             session->rows[k].reason ? session->rows[k].reason : "its FLOP are unknown");
        made->flop_count[k] = is_counted ? (double)session->rows[k].totals.cost.flop_count : NAN;
        made->possible[k] = !task->closed;
        task->lengths = &made->examples[k];
        if (!task->closed && (!largest || task->memory_bytes > largest->memory_bytes))
            largest = task;
    }
    made->largest = largest ? largest->id : NULL;
    return PDNN_OK;
}

enum pdnn_status pdnn_seqpoint_open(struct pdnn_seqpoint_epoch *made, struct pdnn_session *session,
                                    const char *argument, const char *const *sets, size_t n_sets,
                                    struct pdnn_err *err) {
    const struct pdnn_session_hooks *hooks = session->hooks;
    struct pdnn_str models = {0};
    struct model model;
    *made = (struct pdnn_seqpoint_epoch){0};
    if (strcmp(argument, "-") == 0)
        return pdnn_fail(err, PDNN_INVALID, "the spec cannot be standard input here, give a file");
    session->hooks = NULL;
    enum pdnn_status status = pdnn_session_open(session, &argument, 1, sets, n_sets, err);
    session->hooks = hooks;
    if (status == PDNN_OK)
        status = find_model(session, &model, err);
    if (status == PDNN_OK)
        status = make_epoch(made, &session->spec, &model, err);
    if (status == PDNN_OK)
        note_examples(made, &model);
    for (size_t k = 0; status == PDNN_OK && k < made->epoch.n_kinds;)
        k = append_entry(&made->epoch, &model, k, &models);
    const struct pdnn_session again = {.hooks = hooks,
                                       .no_cache = session->no_cache,
                                       .grace_ns = session->grace_ns,
                                       .started_ns = session->started_ns,
                                       .deadline_ns = session->deadline_ns};
    if (status == PDNN_OK) {
        pdnn_session_finish(session);
        *session = again;
    }
    if (status == PDNN_OK)
        status = pdnn_session_open_models(session, argument, sets, n_sets, pdnn_str_text(&models), err);
    if (status == PDNN_OK)
        status = take_tasks(made, session, err);
    pdnn_str_finish(&models);
    return status;
}

void pdnn_seqpoint_close(struct pdnn_seqpoint_epoch *made) {
    pdnn_arena_finish(&made->arena);
    *made = (struct pdnn_seqpoint_epoch){0};
}

void pdnn_seqpoint_want(const struct pdnn_seqpoint_epoch *made, struct pdnn_session *session,
                        const bool *wanted, bool every) {
    uint64_t rounds = (uint64_t)session->spec.measure.rounds;
    for (size_t k = 0; k < made->epoch.n_kinds; k++) {
        struct pdnn_session_row *row = &session->rows[k];
        uint64_t samples = (made->epoch.kind[k].count + rounds - 1) / rounds;
        if (!made->possible[k])
            continue;
        session->tasks[k].closed = !wanted[k];
        row->outcome = wanted[k] ? PDNN_OUTCOME_INTERRUPTED : PDNN_OUTCOME_FILTERED;
        row->reason =
            wanted[k] ? "stopped before its first visit" : "not among the iterations that seqpoint runs";
        if (every)
            session->tasks[k].min_samples =
                samples < PDNN_VISIT_SAMPLES_MAX ? samples : PDNN_VISIT_SAMPLES_MAX;
    }
    if (every)
        session->spec.measure.max_time_ns = 1;
}

void pdnn_seqpoint_times(const struct pdnn_seqpoint_epoch *made, const struct pdnn_sweep_directory *directory,
                         bool every, double *time_ns, uint64_t *measured) {
    for (size_t k = 0; k < made->epoch.n_kinds; k++) {
        const struct pdnn_instance_visits of =
            pdnn_visits_of(pdnn_journal_visits(directory->journal), directory->session->tasks[k].id);
        double sum_ns = 0, steps = 0, *medians = pdnn_alloc(of.count + 1, sizeof *medians);
        size_t n_medians = 0;
        for (size_t i = 0; i < of.count; i++) {
            const struct pdnn_visit *visit = &of.visit[i];
            if (!pdnn_visit_is_direct(visit))
                continue;
            double more = (double)visit->samples * (double)visit->steps_per_sample;
            medians[n_medians++] = visit->median_ns;
            sum_ns += more * visit->mean_ns;
            steps += more;
        }
        measured[k] = (uint64_t)steps;
        time_ns[k] = !n_medians ? NAN : every ? sum_ns / steps : pdnn_median(medians, n_medians);
        free(medians);
    }
}
