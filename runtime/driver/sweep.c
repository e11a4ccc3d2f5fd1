#include "runtime/driver/sweep.h"

#include "base/clock.h"
#include "runtime/driver/sweep_schedule.h"
#include "runtime/driver/sweep_visitor.h"

#include <stdio.h>
#include <stdlib.h>

/* Minimum time between two calls of the progress hook. */
static const uint64_t progress_interval_ns = 200000000;

/* A worker that does not start may have been killed while starting, so try again. */
enum { START_ATTEMPTS = 3 };

struct sweep {
    const struct pdnn_visitor *visitor;
    const struct pdnn_sweep_rules *rules;
    const struct pdnn_sweep_hooks *hooks;
    struct pdnn_schedule schedule;
    struct pdnn_sweep_result result;
    const char *label; /* of the current visit */
    uint64_t started_ns, reported_ns;
};

static bool is_stopped(const struct sweep *sweep) {
    return sweep->rules->stop && *sweep->rules->stop;
}

static void report(struct sweep *sweep, bool at_once) {
    uint64_t now_ns = pdnn_clock_ns();
    if (!sweep->hooks->progress || (!at_once && now_ns - sweep->reported_ns < progress_interval_ns))
        return;
    struct pdnn_sweep_progress progress = {.label = sweep->label};
    pdnn_schedule_progress(&sweep->schedule, &progress);
    sweep->hooks->progress(sweep->hooks->user, &progress);
    sweep->reported_ns = now_ns;
}

static void tick(void *user) {
    report(user, false);
}

static enum pdnn_status make_alive(struct sweep *sweep, enum pdnn_isa isa, struct pdnn_err *err) {
    const struct pdnn_visitor *visitor = sweep->visitor;
    enum pdnn_status status = PDNN_OK;
    for (int attempt = 0; attempt < START_ATTEMPTS && !is_stopped(sweep); attempt++) {
        if (visitor->alive(visitor->user, isa))
            return PDNN_OK;
        status = visitor->start(visitor->user, isa, err);
        sweep->result.workers_started += status == PDNN_OK;
    }
    return status;
}

static void add_spent(struct pdnn_visit_spent *sum, const struct pdnn_visit_spent *spent) {
    sum->prepare_ns += spent->prepare_ns;
    sum->choose_ns += spent->choose_ns;
    sum->probe_ns += spent->probe_ns;
    sum->warmup_ns += spent->warmup_ns;
    sum->samples_ns += spent->samples_ns;
    sum->stamped_ns += spent->stamped_ns;
    sum->measured += spent->measured;
    sum->recalled += spent->recalled;
}

/* Runs one visit and hands it to the caller, who appends it to the journal. */
static enum pdnn_status visit_task(struct sweep *sweep, size_t index, struct pdnn_err *err) {
    const struct pdnn_visitor *visitor = sweep->visitor;
    const struct pdnn_task *task = &sweep->schedule.tasks[index];
    struct pdnn_request request = sweep->rules->request;
    const struct pdnn_visit_watch watch = {.time_limit_ns = sweep->rules->time_limit_ns,
                                           .stop = sweep->rules->stop,
                                           .grace_ns = sweep->rules->grace_ns,
                                           .expected_ns = pdnn_schedule_wall_ns(&sweep->schedule, index),
                                           .tick = tick,
                                           .user = sweep};
    const enum pdnn_isa isa = (enum pdnn_isa)task->instance.setting[PDNN_SETTING_ISA];
    struct pdnn_visit visit = {0};
    int length = snprintf(request.id, sizeof request.id, "%s", task->id);
    if (length < 0 || (size_t)length >= sizeof request.id)
        return pdnn_fail(err, PDNN_INVALID, "%s: instance id too long", task->id);
    request.rules.max_visit_ns = pdnn_schedule_visit_ns(&sweep->schedule, index);
    request.rules.time_limit_ns = watch.time_limit_ns;
    request.rules.cold = task->instance.setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    if (sweep->rules->ceilings)
        request.cache_bytes =
            pdnn_ceilings_cache_bytes(sweep->rules->ceilings, task->instance.setting[PDNN_SETTING_THREADS]);
    uint64_t begun_ns = pdnn_clock_ns();
    enum pdnn_status status = make_alive(sweep, isa, err);
    if (is_stopped(sweep))
        return PDNN_OK; /* visit_all reports the stop */
    if (status != PDNN_OK)
        return status;
    sweep->label = task->label ? task->label : task->id;
    uint64_t asked_ns = pdnn_clock_ns();
    status = visitor->visit(visitor->user, isa, &request, &watch, &visit, err);
    uint64_t answered_ns = pdnn_clock_ns();
    add_spent(&sweep->result.spent, &visit.spent);
    sweep->result.workers_lost += !visitor->alive(visitor->user, isa);
    if (status != PDNN_OK)
        return status;
    status = sweep->hooks->visited(sweep->hooks->user, index, &visit, err);
    if (status == PDNN_OK)
        status = pdnn_schedule_note(&sweep->schedule, index, &visit, answered_ns - asked_ns, err);
    pdnn_visit_finish(&visit);
    if (status != PDNN_OK)
        return status;
    sweep->result.visits++;
    report(sweep, false);
    sweep->result.overhead_ns += pdnn_clock_ns() - begun_ns - (answered_ns - asked_ns);
    return PDNN_OK;
}

/* Whether the task's next visit is likely to end in time. *none: there is no time for any. */
static bool is_in_time(struct sweep *sweep, size_t task, bool *none) {
    const struct pdnn_sweep_rules *rules = sweep->rules;
    uint64_t now_ns = pdnn_clock_ns(), spent_ns = now_ns - sweep->started_ns;
    uint64_t left_ns = UINT64_MAX, deadline_left_ns = UINT64_MAX;
    if (rules->budget_ns)
        left_ns = rules->budget_ns > spent_ns ? rules->budget_ns - spent_ns : 0;
    if (rules->deadline_ns)
        deadline_left_ns = rules->deadline_ns > now_ns ? rules->deadline_ns - now_ns : 0;
    uint64_t expected_ns = pdnn_schedule_wall_ns(&sweep->schedule, task);
    bool past_budget = !left_ns || expected_ns > left_ns;
    bool past_deadline = !deadline_left_ns || expected_ns > deadline_left_ns;
    sweep->result.budget_spent = sweep->result.budget_spent || past_budget;
    sweep->result.deadline_came = sweep->result.deadline_came || past_deadline;
    *none = !left_ns || !deadline_left_ns;
    return !past_budget && !past_deadline;
}

static enum pdnn_status visit_all(struct sweep *sweep, struct pdnn_err *err) {
    size_t task;
    enum pdnn_status status = PDNN_OK;
    while (status == PDNN_OK && !is_stopped(sweep) && pdnn_schedule_next(&sweep->schedule, &task)) {
        bool none;
        if (is_in_time(sweep, task, &none))
            status = visit_task(sweep, task, err);
        else if (none)
            break;
        else
            pdnn_schedule_pass_over(&sweep->schedule, task);
    }
    if (status == PDNN_OK && is_stopped(sweep))
        status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    sweep->label = NULL;
    report(sweep, true);
    return status;
}

enum pdnn_status pdnn_sweep_run_with(const struct pdnn_visitor *visitor, const struct pdnn_task *tasks,
                                     size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                     const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                     struct pdnn_err *err) {
    struct sweep sweep = {.visitor = visitor, .rules = rules, .hooks = hooks, .started_ns = pdnn_clock_ns()};
    enum pdnn_status status = pdnn_schedule_init(&sweep.schedule, tasks, n_tasks, rules, err);
    if (status != PDNN_OK)
        return status;
    status = visit_all(&sweep, err);
    sweep.result.unfinished = pdnn_schedule_unfinished(&sweep.schedule);
    pdnn_schedule_finish(&sweep.schedule);
    *result = sweep.result;
    return status;
}

void pdnn_sweep_result_add(struct pdnn_sweep_result *sum, const struct pdnn_sweep_result *result) {
    sum->visits += result->visits;
    sum->workers_started += result->workers_started;
    sum->workers_lost += result->workers_lost;
    sum->unfinished += result->unfinished;
    sum->budget_spent = sum->budget_spent || result->budget_spent;
    sum->deadline_came = sum->deadline_came || result->deadline_came;
    add_spent(&sum->spent, &result->spent);
    sum->overhead_ns += result->overhead_ns;
}

/* One for each isa. */
struct pdnn_sweep_workers {
    const struct pdnn_host *host;
    uint64_t memory_limit_bytes;
    struct pdnn_worker worker[PDNN_ISA_COUNT];
    enum pdnn_isa last; /* isa of the last visit, whose worker's threads may still be running */
};

enum pdnn_status pdnn_sweep_workers_create(const struct pdnn_host *host, uint64_t memory_limit_bytes,
                                           struct pdnn_sweep_workers **workers, struct pdnn_err *err) {
    *workers = calloc(1, sizeof **workers);
    if (!*workers)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the workers");
    (*workers)->host = host;
    (*workers)->memory_limit_bytes = memory_limit_bytes;
    return PDNN_OK;
}

void pdnn_sweep_workers_destroy(struct pdnn_sweep_workers *workers) {
    for (int isa = 0; workers && isa < PDNN_ISA_COUNT; isa++)
        pdnn_worker_stop(&workers->worker[isa]);
    free(workers);
}

static bool is_worker_alive(void *user, enum pdnn_isa isa) {
    return pdnn_worker_alive(&((struct pdnn_sweep_workers *)user)->worker[isa]);
}

static enum pdnn_status start_worker(void *user, enum pdnn_isa isa, struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers = user;
    return pdnn_worker_start(&workers->worker[isa], workers->host, isa, workers->memory_limit_bytes, err);
}

static enum pdnn_status have_visited(void *user, enum pdnn_isa isa, const struct pdnn_request *request,
                                     const struct pdnn_visit_watch *watch, struct pdnn_visit *visit,
                                     struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers = user;
    if (isa != workers->last)
        pdnn_worker_rest(&workers->worker[workers->last]);
    workers->last = isa;
    return pdnn_worker_visit(&workers->worker[isa], request, watch, visit, err);
}

enum pdnn_status pdnn_sweep_run_on(struct pdnn_sweep_workers *workers, const struct pdnn_task *tasks,
                                   size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                   const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                   struct pdnn_err *err) {
    const struct pdnn_visitor visitor = {workers, is_worker_alive, start_worker, have_visited};
    return pdnn_sweep_run_with(&visitor, tasks, n_tasks, rules, hooks, result, err);
}

enum pdnn_status pdnn_sweep_run(const struct pdnn_host *host, const struct pdnn_task *tasks, size_t n_tasks,
                                const struct pdnn_sweep_rules *rules, const struct pdnn_sweep_hooks *hooks,
                                struct pdnn_sweep_result *result, struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers;
    if (pdnn_sweep_workers_create(host, rules->request.memory_limit_bytes, &workers, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_sweep_run_on(workers, tasks, n_tasks, rules, hooks, result, err);
    pdnn_sweep_workers_destroy(workers);
    return status;
}
