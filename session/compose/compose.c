#define _GNU_SOURCE /* environ */
#include "session/compose/compose_state.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "runtime/facts/context.h"
#include "runtime/facts/protocol.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A measurement of an operator samples for at most this long, or until it has measure.min_samples. */
static const uint64_t measure_ns = 150000000, report_gap_ns = 200000000;

static bool is_stopped(const struct compose *compose) {
    return compose->rules.stop && *compose->rules.stop;
}

static bool is_late(struct compose *compose) {
    uint64_t deadline_ns = compose->rules.deadline_ns;
    bool late = deadline_ns && pdnn_clock_ns() >= deadline_ns;
    compose->result->out_of_time = compose->result->out_of_time || late;
    return late;
}

/* The version of the library behind the task's backend. */
static enum pdnn_status find_software(struct compose *compose, const struct pdnn_task *task, char *software,
                                      struct pdnn_err *err) {
    const char *backend = pdnn_backend_names[task->instance.setting[PDNN_SETTING_BACKEND]];
    struct pdnn_worker *worker;
    enum pdnn_status status = pdnn_sweep_workers_get(
        compose->workers, (enum pdnn_isa)task->instance.setting[PDNN_SETTING_ISA], &worker, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_software *rows = pdnn_worker_software(worker);
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->row[i].backend, backend) == 0)
            snprintf(software, PDNN_LIBRARY_NAME_TEXT, "%.*s", PDNN_LIBRARY_NAME_TEXT - 1,
                     rows->row[i].version);
    return PDNN_OK;
}

enum pdnn_status pdnn_compose_find_context(struct compose *compose, size_t task, size_t *number,
                                           struct pdnn_err *err) {
    const struct pdnn_task *of = &compose->session->tasks[task];
    const int64_t *setting = of->instance.setting;
    struct context fresh = {.backend = setting[PDNN_SETTING_BACKEND],
                            .threads = setting[PDNN_SETTING_THREADS],
                            .isa = setting[PDNN_SETTING_ISA]};
    for (*number = 0; *number < compose->n_contexts; ++*number) {
        const struct context *known = &compose->contexts[*number];
        if (known->backend == fresh.backend && known->threads == fresh.threads && known->isa == fresh.isa)
            return PDNN_OK;
    }
    compose->contexts = pdnn_resize(compose->contexts, compose->n_contexts + 1, sizeof *compose->contexts);
    if (find_software(compose, of, fresh.software, err) != PDNN_OK)
        return err->status;
    const struct pdnn_context context = {.host = &compose->session->host,
                                         .build = pdnn_build,
                                         .library = fresh.software,
                                         .isa = pdnn_isa_names[fresh.isa],
                                         .threads = fresh.threads,
                                         .variables = environ};
    struct pdnn_str text = {0};
    pdnn_context_format(&context, &text);
    pdnn_library_context(pdnn_str_text(&text), fresh.text);
    pdnn_str_finish(&text);
    compose->contexts[compose->n_contexts++] = fresh;
    return PDNN_OK;
}

/* What the model was listed as: its outcome, memory and rows. */
static struct pdnn_instance_visits listed(const struct compose *compose, size_t task) {
    return pdnn_visits_of(&compose->operators.listed, compose->session->tasks[task].id);
}

/* Models that cannot run have that as their outcome; those that fit the cache run; the others are composed.
 */
static enum pdnn_status give_roles(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    for (size_t i = 0; i < session->n_tasks; i++) {
        if (!compose->operators.tasks[i].is_listed || compose->role[i] != ROLE_NONE || compose->closed[i])
            continue;
        const struct pdnn_visit *visit = listed(compose, i).visit;
        compose->result->models++;
        if (visit->outcome != PDNN_OUTCOME_OK) {
            if (pdnn_sweep_directory_commit(compose->sweep, i, visit, err) != PDNN_OK)
                return err->status;
            session->tasks[i].closed = compose->closed[i] = true;
            continue;
        }
        uint64_t cache_bytes = pdnn_ceilings_cache_bytes(
            session->ceilings, session->tasks[i].instance.setting[PDNN_SETTING_THREADS]);
        bool is_small = visit->plan_bytes <= cache_bytes;
        compose->role[i] = is_small ? ROLE_DIRECT : ROLE_COMPOSED;
        compose->result->small += is_small;
        compose->result->composed += !is_small;
    }
    return PDNN_OK;
}

/* To be measured: of a composed model, and neither predicted nor left. */
static bool is_chosen(const struct compose *compose, size_t number) {
    return compose->is_used[number] && compose->fates.choose.operators[number].fate == PDNN_FATE_MEASURED;
}

/* The operators to measure, those that one model measures together, models in random order. Returns how many.
 */
static size_t order_operators(struct compose *compose) {
    const struct pdnn_operators *operators = &compose->operators;
    size_t n_tasks = compose->session->n_tasks;
    struct pdnn_rng rng = {pdnn_rng_at(compose->request->seed, 2), 0};
    size_t *tasks = pdnn_alloc(n_tasks + 1, sizeof *tasks);
    bool *is_ordered = pdnn_alloc(operators->keys.count + 1, sizeof *is_ordered);
    size_t count = 0;
    for (size_t i = 0; i < n_tasks; i++)
        tasks[i] = i;
    pdnn_rng_shuffle(&rng, tasks, n_tasks, sizeof *tasks);
    for (size_t i = 0; i < n_tasks; i++) {
        for (size_t k = 0; k < operators->tasks[tasks[i]].count; k++) {
            size_t number = operators->tasks[tasks[i]].use[k].number;
            if (is_chosen(compose, number) && operators->facts[number].task == tasks[i] &&
                !is_ordered[number])
                compose->order[count++] = number;
            is_ordered[number] = is_ordered[number] || operators->facts[number].task == tasks[i];
        }
    }
    free(tasks);
    free(is_ordered);
    return count;
}

/* Whether round `round` has its time of the operator, or will never have it. */
static bool is_done(const struct compose *compose, size_t number, size_t round) {
    struct pdnn_library_times times;
    bool known = find_times(compose, number, &times);
    bool may_retry = compose->request->retry && !compose->is_tried[number];
    return known && (times.count > round || (times.outcome != PDNN_OUTCOME_OK && !may_retry));
}

/* The operators of the same model that this round lacks too. */
static void want_others(const struct compose *compose, size_t task, size_t round,
                        struct pdnn_operator_request *request) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    for (size_t i = 0; i < of->count && i < PDNN_OPERATOR_WANTED_MAX; i++)
        if (is_chosen(compose, of->use[i].number) && !is_done(compose, of->use[i].number, round))
            request->wanted[i / 8] |= (unsigned char)(1u << i % 8);
}

static enum pdnn_status add_row(struct compose *compose, size_t number, const struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    const struct context *context = &compose->contexts[compose->context_of[number]];
    struct pdnn_library_row *row = pdnn_alloc(1, sizeof *row);
    row->visit = *visit;
    memcpy(row->context, context->text, sizeof row->context);
    memcpy(row->software, context->software, sizeof row->software);
    snprintf(row->host, sizeof row->host, "%s", compose->session->host.name);
    snprintf(row->key, sizeof row->key, "%s", compose->operators.keys.text[number]);
    enum pdnn_status status = pdnn_library_add(compose->request->library, row, err);
    compose->is_tried[number] = true;
    compose->result->measured++;
    compose->guessed_seconds += pdnn_compose_guess(compose, number);
    free(row);
    return status;
}

/* A row for each time; for a failure, one for the operator that was asked for. */
static enum pdnn_status add_rows(struct compose *compose, size_t number, size_t round,
                                 const struct pdnn_visit *visit, const struct pdnn_operator_time *times,
                                 size_t n_times, struct pdnn_err *err) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[compose->operators.facts[number].task];
    if (visit->outcome != PDNN_OUTCOME_OK)
        return add_row(compose, number, visit, err);
    for (size_t i = 0; i < n_times; i++) {
        struct pdnn_visit one = *visit;
        one.median_ns = times[i].ns;
        one.min_ns = times[i].min_ns;
        one.mad_ns = times[i].mad_ns;
        if (times[i].number >= of->count)
            return pdnn_fail(err, PDNN_INTERNAL, "the worker measured an operator that the model lacks");
        size_t measured = of->use[times[i].number].number;
        if (!is_done(compose, measured, round) && add_row(compose, measured, &one, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

static enum pdnn_status measure_one(struct compose *compose, size_t number, size_t round,
                                    struct pdnn_err *err) {
    const struct context *context = &compose->contexts[compose->context_of[number]];
    const size_t task = compose->operators.facts[number].task;
    const struct pdnn_visit_watch watch = {.time_limit_ns = compose->rules.time_limit_ns,
                                           .stop = compose->rules.stop,
                                           .grace_ns = compose->rules.grace_ns};
    struct pdnn_operator_request *request = pdnn_alloc(1, sizeof *request);
    struct pdnn_visit visit = {0};
    struct pdnn_operator_time *times = NULL;
    size_t n_times = 0;
    struct pdnn_worker *worker;
    enum pdnn_status status =
        pdnn_operators_request(compose->session, &compose->rules, task, &request->request, err);
    if (status == PDNN_OK)
        status = pdnn_sweep_workers_get(compose->workers, (enum pdnn_isa)context->isa, &worker, err);
    if (status == PDNN_OK) {
        request->request.rules.max_visit_ns = measure_ns;
        request->request.rules.time_limit_ns = watch.time_limit_ns;
        snprintf(request->key, sizeof request->key, "%s", compose->operators.keys.text[number]);
        want_others(compose, task, round, request);
        status = pdnn_worker_operator(worker, request, &watch, &visit, &times, &n_times, err);
    }
    if (status == PDNN_OK)
        status = add_rows(compose, number, round, &visit, times, n_times, err);
    free(times);
    free(request);
    return status;
}

/* The time left goes by what was guessed for the operators done and for the others. */
static void report(const struct compose *compose, size_t done, size_t all, uint64_t began_ns) {
    const struct pdnn_session_hooks *hooks = compose->session->hooks;
    double passed = (double)(pdnn_clock_ns() - began_ns) * 1e-9, seconds[2] = {0};
    for (size_t i = 0; i < all; i++)
        seconds[i >= done] += compose->fates.choose.operators[compose->order[i]].seconds;
    hooks->work(hooks->user, "operators measured", done, all,
                seconds[0] > 0 ? passed / seconds[0] * seconds[1] : -1);
}

static enum pdnn_status measure_round(struct compose *compose, size_t count, size_t round,
                                      struct pdnn_err *err) {
    const uint64_t began_ns = pdnn_clock_ns();
    uint64_t reported_ns = 0;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < count && status == PDNN_OK && !is_late(compose); i++) {
        if (is_stopped(compose))
            status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        else if (!is_done(compose, compose->order[i], round))
            status = measure_one(compose, compose->order[i], round, err);
        if (pdnn_clock_ns() - reported_ns > report_gap_ns) {
            report(compose, i, count, began_ns);
            reported_ns = pdnn_clock_ns();
        }
    }
    compose->session->hooks->ended(compose->session->hooks->user);
    compose->result->measure_ns += pdnn_clock_ns() - began_ns;
    return status;
}

/* The rows that the model was listed with, without times; the visit owns them. */
static void copy_rows(const struct compose *compose, size_t task, struct pdnn_visit *visit) {
    const struct pdnn_instance_visits of = listed(compose, task);
    *visit = *of.visit;
    visit->ops = pdnn_alloc(of.ops->count + 1, sizeof *visit->ops);
    visit->n_ops = of.ops->count;
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_measured_op *from = &of.ops->op[i];
        struct pdnn_visit_op *to = &visit->ops[i];
        snprintf(to->key, sizeof to->key, "%s", from->key);
        snprintf(to->layer, sizeof to->layer, "%s", from->layer);
        snprintf(to->implementation, sizeof to->implementation, "%s", from->implementation);
        to->count = from->count;
        to->bytes = from->bytes;
    }
}

/* An operator that has no time of its own. Fails if it cannot be measured either; then that is the visit's
 * outcome. */
static bool predict(struct compose *compose, size_t number, const struct pdnn_library_times *times,
                    const char *row, struct pdnn_prediction_of_operator *prediction,
                    struct pdnn_visit *visit) {
    const struct pdnn_choose_operator *one = &compose->fates.choose.operators[number];
    bool has_failed = times->outcome != PDNN_OUTCOME_OK;
    if (!has_failed && one->fate == PDNN_FATE_MEASURED)
        return false; /* in a later run */
    const char *reason = pdnn_compose_fates_predict(&compose->fates, number, prediction);
    if (!reason) {
        visit->flags |= PDNN_FLAG_PREDICTED;
        return true;
    }
    if (has_failed || isinf(one->seconds)) {
        visit->outcome = PDNN_OUTCOME_UNPREDICTED;
        snprintf(visit->reason, sizeof visit->reason, "%s of %.100s: %.70s%snot predicted: %s",
                 has_failed ? pdnn_outcome_name(times->outcome) : "timeout", row, times->reason,
                 *times->reason ? ", and " : "too long to measure, and ", reason);
    }
    return false;
}

/* Adds up the times of round `round`. *complete: all are there or predicted; else a failure, if any, is the
 * visit's outcome. */
static void add_up(struct compose *compose, size_t task, size_t round, struct pdnn_visit *visit,
                   bool *complete) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    double sum_ns = 0, low_ns = 0, high_ns = 0;
    *complete = true;
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_operator_use *use = &of->use[i];
        struct pdnn_prediction_of_operator prediction;
        struct pdnn_library_times times;
        bool known = find_times(compose, use->number, &times);
        if (known && times.count > round) {
            prediction.time_ns = prediction.low_ns = prediction.high_ns = times.ns[round];
        } else if (!predict(compose, use->number, &times, visit->ops[use->op].key, &prediction, visit)) {
            *complete = false;
            continue;
        }
        visit->ops[use->op].time_ns += prediction.time_ns * use->runs;
        sum_ns += prediction.time_ns * use->runs;
        low_ns += prediction.low_ns * use->runs;
        high_ns += prediction.high_ns * use->runs;
    }
    visit->median_ns = visit->min_ns = visit->mean_ns = visit->stamped_ns = sum_ns;
    visit->p10_ns = low_ns;
    visit->p90_ns = high_ns;
    visit->samples = visit->steps_per_sample = 1;
}

/* Whether all operators of the task have a time of this round. */
static bool is_measured(const struct compose *compose, size_t task, size_t round) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    struct pdnn_library_times times;
    for (size_t i = 0; i < of->count; i++)
        if (!find_times(compose, of->use[i].number, &times) || times.count <= round)
            return false;
    return true;
}

/* Visits of the journal that were composed. Those with predicted times do not count where there are measured
 * ones now. */
static size_t count_composed(const struct compose *compose, size_t task, size_t round) {
    const struct pdnn_instance_visits of =
        pdnn_visits_of(pdnn_journal_visits(compose->sweep->journal), compose->session->tasks[task].id);
    const struct pdnn_standing standing = pdnn_standing_of(of.visit, of.count);
    return standing.rounds[PDNN_METHOD_COMPOSED] +
           (is_measured(compose, task, round) ? 0 : standing.rounds[PDNN_METHOD_PREDICTED]);
}

/* What could not be predicted may be later, when more is measured; until then, it is said once. */
static bool is_said(const struct compose *compose, size_t task, const struct pdnn_visit *visit) {
    const struct pdnn_instance_visits of =
        pdnn_visits_of(pdnn_journal_visits(compose->sweep->journal), compose->session->tasks[task].id);
    for (size_t i = 0; i < of.count; i++)
        if (of.visit[i].outcome == visit->outcome && strcmp(of.visit[i].reason, visit->reason) == 0)
            return true;
    return false;
}

static enum pdnn_status compose_one(struct compose *compose, size_t task, size_t round,
                                    struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    bool complete;
    enum pdnn_status status = PDNN_OK;
    copy_rows(compose, task, &visit);
    add_up(compose, task, round, &visit, &complete);
    visit.flags |= PDNN_FLAG_COMPOSED;
    visit.flags &= complete ? UINT_MAX : ~(unsigned)PDNN_FLAG_PREDICTED;
    visit.started_unix_ms = pdnn_clock_unix_ms();
    if (!complete) {
        free(visit.ops);
        visit.ops = NULL;
        visit.n_ops = visit.samples = 0;
    }
    bool has_failed = visit.outcome == PDNN_OUTCOME_UNPREDICTED;
    if (complete || (has_failed && !is_said(compose, task, &visit)))
        status = pdnn_sweep_directory_commit(compose->sweep, task, &visit, err);
    pdnn_visit_finish(&visit);
    return status;
}

/* Neighbours are what has been measured by now, in this round where it has. */
static void find_neighbours(struct compose *compose, size_t round) {
    pdnn_compose_fates_begin(&compose->fates);
    for (size_t i = 0; i < compose->operators.keys.count; i++) {
        struct pdnn_library_times times;
        if (compose->is_used[i] && find_times(compose, i, &times) && times.count)
            pdnn_neighbours_add(compose->fates.neighbours, compose->operators.keys.text[i],
                                compose->fates.floor_ns[i],
                                times.ns[round < times.count ? round : times.count - 1]);
    }
}

static enum pdnn_status compose_round(struct compose *compose, size_t round, struct pdnn_err *err) {
    find_neighbours(compose, round);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < compose->session->n_tasks && status == PDNN_OK; i++)
        if (is_composed(compose->role[i]) && count_composed(compose, i, round) <= round)
            status = compose_one(compose, i, round, err);
    return status;
}

/* Round `round` of the models that run: the small ones, or those that are composed as well. With a budget,
 * small ones sample as long as operators do, since there are many of them. */
static enum pdnn_status visit_some(struct compose *compose, size_t round, bool is_small,
                                   struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct pdnn_sweep_rules rules = compose->rules;
    struct pdnn_sweep_result result = {0};
    rules.rounds = (int64_t)round + 1;
    if (is_small && rules.deadline_ns && rules.max_time_ns > measure_ns * (uint64_t)rules.rounds)
        rules.max_time_ns = measure_ns * (uint64_t)rules.rounds;
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = compose->closed[i] || compose->role[i] == ROLE_COMPOSED ||
                                   (compose->role[i] == ROLE_DIRECT) != is_small ||
                                   compose->fates.of_task[i] == PDNN_FATE_LEFT;
    pdnn_sweep_directory_resume(compose->sweep);
    enum pdnn_status status =
        pdnn_sweep_directory_visit(compose->sweep, compose->workers, &rules, &result, err);
    pdnn_sweep_result_add(&compose->result->direct, &result);
    return status;
}

static enum pdnn_status visit_round(struct compose *compose, size_t round, struct pdnn_err *err) {
    enum pdnn_status status = visit_some(compose, round, false, err);
    return status == PDNN_OK ? visit_some(compose, round, true, err) : status;
}

static enum pdnn_status settle(struct compose *compose, struct pdnn_err *err) {
    static const enum pdnn_settle_use use_of[] = {[ROLE_COMPOSED] = PDNN_SETTLE_COMPOSED,
                                                  [ROLE_VALIDATES] = PDNN_SETTLE_COMPOSED,
                                                  [ROLE_FITS] = PDNN_SETTLE_FITS,
                                                  [ROLE_CALIBRATES] = PDNN_SETTLE_CALIBRATES,
                                                  [ROLE_DIRECT] = PDNN_SETTLE_NOTHING};
    enum pdnn_settle_use *use = pdnn_alloc(compose->session->n_tasks + 1, sizeof *use);
    bool *corrects = pdnn_resize(compose->result->corrects, compose->session->n_tasks + 1, sizeof *corrects);
    compose->result->corrects = corrects;
    for (size_t i = 0; i < compose->session->n_tasks; i++) {
        use[i] = use_of[compose->role[i]];
        corrects[i] = use[i] == PDNN_SETTLE_FITS || use[i] == PDNN_SETTLE_CALIBRATES;
    }
    enum pdnn_status status = pdnn_compose_settle(compose->sweep, use, &compose->result->settled, err);
    free(use);
    return status;
}

enum pdnn_status pdnn_compose_rounds(struct compose *compose, bool is_first, struct pdnn_err *err) {
    enum pdnn_status status = give_roles(compose, err);
    if (status == PDNN_OK && is_first)
        pdnn_compose_give_samples(compose);
    if (status == PDNN_OK)
        status = pdnn_compose_decide(compose, err);
    if (status != PDNN_OK)
        return status;
    size_t count = order_operators(compose), rounds = (size_t)compose->rules.rounds;
    for (size_t round = 0; round < rounds && status == PDNN_OK; round++) {
        status = measure_round(compose, count, round, err);
        if (status == PDNN_OK)
            status = compose_round(compose, round, err);
        if (status == PDNN_OK)
            status = visit_round(compose, round, err);
    }
    return status == PDNN_OK ? settle(compose, err) : status;
}

static enum pdnn_status run(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    pdnn_sweep_directory_resume(compose->sweep);
    enum pdnn_status status = pdnn_sweep_directory_ceilings(compose->sweep, err);
    if (status != PDNN_OK)
        return status;
    compose->rules = pdnn_session_rules(session);
    compose->rules.request.allow_slow = compose->sweep->request.allow_slow;
    pdnn_session_predict(compose->sweep->session);
    compose->workers = pdnn_sweep_workers_create(&session->host, session->memory_limit_bytes);
    status = pdnn_compose_run_all(compose, err);
    pdnn_sweep_workers_destroy(compose->workers);
    return status;
}

enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err) {
    struct compose compose = {
        .sweep = sweep, .session = sweep->session, .request = request, .result = result};
    struct pdnn_err tables = {0};
    *result = (struct pdnn_compose_result){0};
    sweep->session->hooks->watch(sweep->session->hooks->user);
    enum pdnn_status status = run(&compose, err);
    if (result->out_of_time) {
        const struct pdnn_sweep_result late = {.out_of_time = true};
        pdnn_session_note_end(sweep->session, &late);
    }
    if (pdnn_sweep_directory_write(sweep, &tables) != PDNN_OK && status == PDNN_OK)
        status = pdnn_fail(err, tables.status, "%s", tables.text);
    pdnn_operators_finish(&compose.operators);
    result->neighbours = compose.fates.neighbours;
    compose.fates.neighbours = NULL;
    pdnn_compose_fates_finish(&compose.fates);
    pdnn_compose_plan_finish(&compose.plan);
    free(compose.role);
    free(compose.closed);
    free(compose.is_sampled);
    free(compose.context_of);
    free(compose.order);
    free(compose.is_tried);
    free(compose.is_used);
    free(compose.contexts);
    return status;
}
