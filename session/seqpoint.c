#include "session/seqpoint.h"

#include "base/clock.h"
#include "results/store/seqpoint_table.h"
#include "results/table/write.h"
#include "base/memory.h"
#include "models/family.h"
#include "runtime/protocol/standing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The model as the spec has it, with the parameters that carry its lengths. */
struct model {
    struct pdnn_instance instance;
    const struct pdnn_lengths_def *def;
    int target; /* index of the parameter; -1: there is none, or it does not apply */
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
    *model = (struct model){*instance, def, has_target ? def->target : -1};
    return PDNN_OK;
}

/* A stream is cut into windows, so that its examples may have any length. */
static enum pdnn_status check_examples(const struct model *model, const struct pdnn_spec_seqpoint *rules,
                                       const struct pdnn_lengths *lengths, struct pdnn_err *err) {
    int64_t positions = model->def->positions < 0 ? 0 : model->instance.hyper[model->def->positions].number;
    char condition[PDNN_CONDITION_TEXT] = "";
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
    return !positions || rules->sampler == PDNN_SAMPLER_STREAM
               ? PDNN_OK
               : pdnn_lengths_check(lengths, rules->multiple, positions, err);
}

static enum pdnn_status make_epoch(struct pdnn_seqpoint_run *run, const struct pdnn_spec *spec,
                                   const struct model *model, struct pdnn_err *err) {
    struct pdnn_spec_seqpoint *rules = &run->rules;
    *rules = spec->seqpoint;
    if (!rules->lengths)
        return pdnn_fail(err, PDNN_INVALID,
                         "no lengths given, such as --lengths iwslt15-en-vi, or seqpoint: {lengths: ...} in "
                         "the spec");
    rules->lengths = pdnn_arena_strdup(&run->arena, rules->lengths);
    const struct pdnn_instance *instance = &model->instance;
    const struct pdnn_lengths_def *def = model->def;
    const double per_second = rules->frames_per_second ? (double)rules->frames_per_second : def->per_second;
    const struct pdnn_lengths_request wanted = {.source = rules->lengths,
                                                .examples = (uint64_t)rules->examples,
                                                .seed = spec->seed,
                                                .longest = rules->longest,
                                                .frames = {per_second, def->plus}};
    const struct pdnn_epoch_request request = {
        .lengths = &run->lengths,
        .sampler = (enum pdnn_sampler)rules->sampler,
        .batch = (uint64_t)instance->hyper[instance->family->minibatch_param].number,
        .multiple = rules->multiple,
        .window = instance->hyper[def->source].number,
        .shard_batches = (size_t)rules->shard_batches,
        .seed = spec->seed};
    if (pdnn_lengths_make(&wanted, &run->arena, &run->lengths, err) != PDNN_OK)
        return err->status;
    if (run->lengths.is_in_seconds && !(per_second > 0))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s has lengths in seconds, and %s has no frames: give seqpoint.frames_per_second",
                         rules->lengths, instance->family->name);
    if (check_examples(model, rules, &run->lengths, err) != PDNN_OK)
        return err->status;
    return pdnn_epoch_make(&request, &run->arena, &run->epoch, err);
}

/* The target that goes with these lengths of a kind or an example. */
static int64_t target_of(const struct pdnn_epoch *epoch, const struct model *model, const int64_t *length) {
    if (epoch->columns > 1)
        return length[1];
    const struct pdnn_family_def *family = model->instance.family;
    return model->target >= 0 ? family->target_of(family, *length) : *length;
}

/* A word may stand for a number that depends on the length, so it is written where it gives this one. */
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
    const bool has_target = model->target >= 0;
    char text[PDNN_PARAM_TEXT];
    size_t next = first;
    pdnn_str_printf(out, "- %s: {", family->name);
    for (size_t i = 0; i < family->n_params; i++)
        if (pdnn_hyper_applies(&model->instance, i) && (int)i != model->def->source &&
            (int)i != model->target)
            pdnn_str_printf(out, "%s: %s, ", family->params[i].name, format_value(&model->instance, i, text));
    pdnn_str_printf(out, "%s: %" PRId64, family->params[model->def->source].name, source);
    if (has_target)
        pdnn_str_printf(out, ", %s: [", family->params[model->target].name);
    for (; next < epoch->n_kinds && epoch->kind[next].length[0] == source; next++)
        if (has_target)
            pdnn_str_printf(out, "%s%" PRId64, next > first ? ", " : "",
                            target_of(epoch, model, epoch->kind[next].length));
    pdnn_str_printf(out, has_target ? "]}\n" : "}\n");
    return next;
}

static void note_examples(struct pdnn_seqpoint_run *run, const struct model *model) {
    const struct pdnn_epoch *epoch = &run->epoch;
    run->examples = pdnn_arena_alloc(&run->arena, epoch->n_kinds, sizeof *run->examples);
    uint32_t count =
        epoch->batch < PDNN_EXAMPLES_MASKED_MAX ? (uint32_t)epoch->batch : PDNN_EXAMPLES_MASKED_MAX;
    for (size_t i = epoch->n_iterations; i-- > 0;) {
        struct pdnn_example_lengths *of = &run->examples[epoch->kind_of[i]];
        of->count = count;
        for (uint32_t n = 0; n < count; n++) {
            const int64_t *length = pdnn_epoch_example(epoch, i, n);
            of->source[n] = (int32_t)length[0];
            of->target[n] = (int32_t)target_of(epoch, model, length);
        }
    }
}

/* Ties kinds and tasks together: they are in the same order. */
static enum pdnn_status take_tasks(struct pdnn_seqpoint_run *run, struct pdnn_session *session,
                                   struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = &run->epoch;
    if (session->n_tasks != epoch->n_kinds)
        return pdnn_fail(err, PDNN_INTERNAL, "%zu kinds of iterations, %zu instances", epoch->n_kinds,
                         session->n_tasks);
    run->flop_count = pdnn_arena_alloc(&run->arena, epoch->n_kinds, sizeof *run->flop_count);
    run->possible = pdnn_arena_alloc(&run->arena, epoch->n_kinds, sizeof *run->possible);
    const struct pdnn_task *largest = NULL;
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        struct pdnn_task *task = &session->tasks[k];
        bool is_counted = session->rows[k].has_totals;
        if (!is_counted && run->rules.statistic == PDNN_STATISTIC_FLOP)
            return pdnn_fail(err, PDNN_INVALID, "the model has no iteration of length %" PRId64 ": %s",
                             epoch->kind[k].length[0],
                             session->rows[k].reason ? session->rows[k].reason : "its FLOP are unknown");
        run->flop_count[k] = is_counted ? (double)session->rows[k].totals.cost.flop_count : NAN;
        run->possible[k] = !task->closed;
        task->lengths = &run->examples[k];
        if (!task->closed && (!largest || task->memory_bytes > largest->memory_bytes))
            largest = task;
    }
    session->largest = largest ? largest->id : NULL;
    return PDNN_OK;
}

/* Opens the session on one model, makes the epoch of its spec, and opens it again on the kinds. */
static enum pdnn_status open_epoch(struct pdnn_seqpoint_run *run, struct pdnn_session *session,
                                   const char *argument, const char *const *sets, size_t n_sets,
                                   struct pdnn_err *err) {
    const struct pdnn_session_hooks *hooks = session->hooks;
    struct pdnn_str models = {0};
    struct model model;
    if (strcmp(argument, "-") == 0)
        return pdnn_fail(err, PDNN_INVALID, "the spec cannot be standard input here, give a file");
    session->hooks = NULL;
    enum pdnn_status status = pdnn_session_open(session, &argument, 1, sets, n_sets, err);
    session->hooks = hooks;
    if (status == PDNN_OK)
        status = find_model(session, &model, err);
    if (status == PDNN_OK)
        status = make_epoch(run, &session->spec, &model, err);
    if (status != PDNN_OK)
        return status;
    note_examples(run, &model);
    for (size_t k = 0; k < run->epoch.n_kinds;)
        k = append_entry(&run->epoch, &model, k, &models);
    session->models = pdnn_str_text(&models);
    status = pdnn_session_open(session, &argument, 1, sets, n_sets, err);
    session->models = NULL;
    pdnn_str_finish(&models);
    return status == PDNN_OK ? take_tasks(run, session, err) : status;
}

/* By kind: those to be measured are open tasks, the others are filtered, with a reason. With `every`, visits
 * time as many steps of a kind as the epoch has iterations of it, all rounds together, and no more. */
static void open_kinds(const struct pdnn_seqpoint_run *run) {
    struct pdnn_session *session = run->session;
    uint64_t rounds = (uint64_t)session->spec.measure.rounds;
    for (size_t k = 0; k < run->epoch.n_kinds; k++) {
        struct pdnn_session_row *row = &session->rows[k];
        uint64_t samples = (run->epoch.kind[k].count + rounds - 1) / rounds;
        if (!run->possible[k])
            continue;
        session->tasks[k].closed = !run->wanted[k];
        row->outcome = run->wanted[k] ? PDNN_OUTCOME_INTERRUPTED : PDNN_OUTCOME_FILTERED;
        row->reason =
            run->wanted[k] ? "stopped before its first visit" : "not among the iterations that seqpoint runs";
        if (run->every)
            session->tasks[k].min_samples =
                samples < PDNN_VISIT_SAMPLES_MAX ? samples : PDNN_VISIT_SAMPLES_MAX;
    }
    if (run->every)
        session->spec.measure.max_time_ns = 1;
}

/* By kind, from the journal: ns of one step, NaN if none was measured, and how many were. The median of the
 * visits' medians; where as many steps were timed as the epoch has, as `every` asks for, the mean of all. */
static void read_times(struct pdnn_seqpoint_run *run, const struct pdnn_sweep_directory *directory) {
    double *mean_ns = pdnn_alloc(run->epoch.n_kinds, sizeof *mean_ns);
    run->has_every = run->every;
    for (size_t k = 0; k < run->epoch.n_kinds; k++) {
        const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(directory, k);
        double sum_ns = 0, steps = 0, *scratch = pdnn_alloc(of.count + 1, sizeof *scratch);
        for (size_t i = 0; i < of.count; i++) {
            const struct pdnn_visit *visit = &of.visit[i];
            double more =
                pdnn_visit_is_direct(visit) ? (double)visit->samples * (double)visit->steps_per_sample : 0;
            sum_ns += more * visit->mean_ns;
            steps += more;
        }
        run->measured[k] = (uint64_t)steps;
        run->has_every =
            run->has_every && (!run->possible[k] || run->measured[k] >= run->epoch.kind[k].count);
        run->time_ns[k] = pdnn_visits_median_ns(of.visit, of.count, PDNN_VISITS_DIRECT, scratch);
        mean_ns[k] = steps > 0 ? sum_ns / steps : run->time_ns[k];
        free(scratch);
    }
    if (run->has_every)
        memcpy(run->time_ns, mean_ns, run->epoch.n_kinds * sizeof *mean_ns);
    free(mean_ns);
}

/* Chosen by time, which takes times. */
static bool is_by_time(const struct pdnn_seqpoint_run *run) {
    return run->rules.statistic == PDNN_STATISTIC_TIME && !run->points_from;
}

static enum pdnn_status choose(struct pdnn_seqpoint_run *run, struct pdnn_err *err) {
    const struct pdnn_spec_seqpoint *rules = &run->rules;
    const double *const statistics[] = {[PDNN_STATISTIC_LENGTH] = NULL, /* the length itself */
                                        [PDNN_STATISTIC_FLOP] = run->flop_count,
                                        [PDNN_STATISTIC_TIME] = run->time_ns};
    const struct pdnn_seqpoint_request request = {.epoch = &run->epoch,
                                                  .key = (enum pdnn_seqpoint_key)rules->key,
                                                  .statistic = statistics[rules->statistic],
                                                  .unique_max = (size_t)rules->unique_max,
                                                  .bins = (size_t)rules->bins,
                                                  .error = rules->error};
    return pdnn_seqpoint_select(&request, &run->arena, &run->seqpoints, err);
}

/* Takes the SeqPoints of another directory's table. */
static enum pdnn_status take_points(struct pdnn_seqpoint_run *run, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = &run->epoch;
    struct pdnn_representatives *points = &run->seqpoints.points;
    struct pdnn_table table;
    const char *path = pdnn_arena_printf(&run->arena, "%s/seqpoint.csv", run->points_from);
    points->point = pdnn_arena_alloc(&run->arena, epoch->n_kinds, sizeof *points->point);
    if (pdnn_seqpoint_table_read(path, &table, err) != PDNN_OK)
        return err->status;
    double weights = 0;
    bool is_same = table.n_rows == epoch->n_kinds;
    for (size_t k = 0; is_same && k < epoch->n_kinds; k++) { /* the same kinds, each as often */
        is_same = pdnn_table_whole(&table, k, PDNN_SEQPOINT_SOURCE) == epoch->kind[k].length[0] &&
                  pdnn_table_whole(&table, k, PDNN_SEQPOINT_TARGET) == epoch->kind[k].length[1] &&
                  pdnn_table_count(&table, k, PDNN_SEQPOINT_ITERATIONS) == epoch->kind[k].count;
        const double weight = pdnn_table_number(&table, k, PDNN_SEQPOINT_WEIGHT);
        if (isnan(weight))
            continue;
        points->point[points->count++] = (struct pdnn_representative){k, weight, 1};
        weights += weight;
    }
    pdnn_table_finish(&table);
    if (!is_same || !(fabs(weights - (double)epoch->n_iterations) < 0.5))
        return pdnn_fail(err, PDNN_INVALID, "%s is of another epoch, or has no SeqPoints", path);
    return PDNN_OK;
}

static enum pdnn_status project(struct pdnn_seqpoint_run *run, struct pdnn_err *err) {
    const struct pdnn_method_estimates_request request = {
        .epoch = &run->epoch,
        .key = (enum pdnn_seqpoint_key)run->rules.key,
        .statistic = run->rules.statistic == PDNN_STATISTIC_LENGTH ? NULL : run->flop_count,
        .points = &run->seqpoints.points,
        .sample = &run->sample,
        .draws = run->draws,
        .time_ns = run->time_ns,
        .seed = run->session->spec.seed};
    return pdnn_method_estimates_make(&request, &run->arena, &run->projections, err);
}

/* What to run: the SeqPoints, the sample, and the baselines of one iteration, or everything. */
static void want(struct pdnn_seqpoint_run *run) {
    for (size_t k = 0; k < run->epoch.n_kinds; k++)
        run->wanted[k] = run->ground_truth;
    for (int i = 0; i < 2 + PDNN_BASELINE_PRIOR; i++) {
        const struct pdnn_representatives *points = &run->projections.of[i].points;
        for (size_t p = 0; p < points->count; p++)
            run->wanted[points->point[p].kind] = true;
    }
}

/* Visits what is wanted and not measured yet, and projects by the times. */
static enum pdnn_status measure(struct pdnn_seqpoint_run *run, struct pdnn_sweep_directory *directory,
                                struct pdnn_err *err) {
    struct pdnn_sweep_result result = {0};
    want(run);
    open_kinds(run);
    uint64_t begun_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_sweep_directory_run(directory, &result, err);
    run->ran_ns += result.visits ? pdnn_clock_ns() - begun_ns - directory->roofs_ns : 0;
    if (status != PDNN_OK && status != PDNN_INTERRUPTED)
        return status;
    read_times(run, directory);
    return project(run, err) == PDNN_OK ? status : err->status;
}

/* Runs more of the sample until its interval is narrow enough. Where some of it did not run, the estimate is
 * the one before. */
static enum pdnn_status narrow(struct pdnn_seqpoint_run *run, struct pdnn_sweep_directory *directory,
                               struct pdnn_err *err) {
    const double target = run->rules.target_error;
    size_t before = 0;
    enum pdnn_status status = PDNN_OK;
    while (target > 0 && status == PDNN_OK && run->projections.has_estimate) {
        before = run->draws;
        run->draws = pdnn_sample_draws_needed(&run->sample, &run->projections.estimate, target);
        if (run->draws == before)
            return PDNN_OK;
        status = project(run, err) == PDNN_OK ? measure(run, directory, err) : err->status;
    }
    if (!before || run->projections.has_estimate)
        return status;
    run->draws = before;
    return project(run, err) == PDNN_OK ? status : err->status;
}

static const struct pdnn_representative *find_point(const struct pdnn_representatives *points, size_t kind) {
    size_t i = 0;
    while (i < points->count && points->point[i].kind != kind)
        i++;
    return i < points->count ? &points->point[i] : NULL;
}

static void add_kind(const struct pdnn_seqpoint_run *run, size_t k, struct pdnn_table *table) {
    /* Of the words of chosen_by: what chose it. */
    static const size_t methods[] = {0, 2, 3, 4, 5, 6, 1};
    const struct pdnn_method_estimates *projections = &run->projections;
    const struct pdnn_epoch_kind *kind = &run->epoch.kind[k];
    const struct pdnn_representative *seqpoint = find_point(&projections->of[0].points, k);
    const struct pdnn_representative *draws = find_point(&projections->of[1].points, k);
    struct pdnn_str chosen_by = {0};
    for (size_t i = 0; pdnn_seqpoint_methods[i].name; i++)
        if (find_point(&projections->of[methods[i]].points, k))
            pdnn_str_printf(&chosen_by, "%s%s", chosen_by.length ? "|" : "", pdnn_seqpoint_methods[i].name);
    size_t row = pdnn_table_add_texts(table, 1, &(const char *){run->session->tasks[k].id});
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_SOURCE, kind->length[0]);
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_TARGET, kind->length[1]);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_ITERATIONS, kind->count);
    if (!isnan(run->flop_count[k]))
        pdnn_table_set_count(table, row, PDNN_SEQPOINT_FLOP, (uint64_t)run->flop_count[k]);
    pdnn_table_set_text(table, row, PDNN_SEQPOINT_CHOSEN_BY, pdnn_str_text(&chosen_by));
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_WEIGHT, seqpoint ? seqpoint->weight : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_DRAWS, draws ? draws->runs : 0);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_DRAWS_WEIGHT,
                          draws && projections->has_estimate ? draws->weight : NAN);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_TIME, run->runs ? run->time_ns[k] : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_MEASURED, run->measured[k]);
    pdnn_str_finish(&chosen_by);
}

void pdnn_seqpoint_run_table(const struct pdnn_seqpoint_run *run, struct pdnn_table *table) {
    pdnn_table_init(table, &pdnn_seqpoint_def);
    for (size_t k = 0; k < run->epoch.n_kinds; k++)
        add_kind(run, k, table);
}

static enum pdnn_status write_table(const struct pdnn_seqpoint_run *run,
                                    const struct pdnn_sweep_directory *directory, struct pdnn_err *err) {
    struct pdnn_table table;
    struct pdnn_str text = {0};
    pdnn_seqpoint_run_table(run, &table);
    pdnn_table_csv(&text, &table);
    enum pdnn_status status =
        pdnn_folder_replace(&directory->folder, "seqpoint.csv", pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_seqpoint_run_measure(struct pdnn_seqpoint_run *run,
                                           struct pdnn_sweep_directory *directory, struct pdnn_err *err) {
    enum pdnn_status status = measure(run, directory, err);
    if (status != PDNN_OK && status != PDNN_INTERRUPTED)
        return status;
    if (write_table(run, directory, err) != PDNN_OK)
        return err->status; /* the table is of this epoch, whatever follows */
    if (is_by_time(run) && isnan(run->projections.truth_ns))
        return status == PDNN_OK
                   ? pdnn_fail(err, PDNN_INVALID,
                               "not every length could be measured, so none can be chosen by time")
                   : status;
    if (is_by_time(run) && (choose(run, err) != PDNN_OK || project(run, err) != PDNN_OK))
        return err->status;
    if (status == PDNN_OK)
        status = narrow(run, directory, err);
    return (status != PDNN_OK && status != PDNN_INTERRUPTED) || write_table(run, directory, err) == PDNN_OK
               ? status
               : err->status;
}

enum pdnn_status pdnn_seqpoint_run_open(struct pdnn_seqpoint_run *run, struct pdnn_session *session,
                                        const char *argument, const char *const *sets, size_t n_sets,
                                        struct pdnn_err *err) {
    run->session = session;
    if (open_epoch(run, session, argument, sets, n_sets, err) != PDNN_OK)
        return err->status;
    if (is_by_time(run) && !(run->ground_truth && run->runs))
        return pdnn_fail(err, PDNN_INVALID,
                         "statistic time needs --ground-truth, and that it runs: no --dry-run");
    const size_t n_kinds = run->epoch.n_kinds;
    run->time_ns = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->time_ns);
    run->measured = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->measured);
    run->wanted = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->wanted);
    for (size_t k = 0; k < n_kinds; k++)
        run->time_ns[k] = NAN;
    run->sample = pdnn_epoch_sample_draw(&run->epoch, session->spec.seed, &run->arena);
    const size_t asked = (size_t)run->rules.sample, least = run->sample.least, all = run->epoch.n_iterations;
    run->draws = asked > least ? asked : least;
    run->draws = run->draws < all ? run->draws : all;
    if (run->points_from ? take_points(run, err) != PDNN_OK : !is_by_time(run) && choose(run, err) != PDNN_OK)
        return err->status;
    return project(run, err);
}
