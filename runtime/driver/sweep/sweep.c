#include "runtime/driver/sweep/sweep.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    size_t pass;       /* of the current visit, in paired order */
    uint64_t reported_ns, planned_ns;
};

/* Minimum time between two plans of what the deadline leaves time for. */
static const uint64_t plan_interval_ns = 500000000;

static bool is_stopped(const struct sweep *sweep) {
    return sweep->rules->stop && *sweep->rules->stop;
}

static uint64_t clock_ns(const struct sweep *sweep) {
    return sweep->visitor->clock_ns();
}

/* UINT64_MAX: no deadline. */
static uint64_t left_ns(const struct sweep *sweep) {
    uint64_t now_ns = clock_ns(sweep), deadline_ns = sweep->rules->deadline_ns;
    return !deadline_ns ? UINT64_MAX : deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

static void report(struct sweep *sweep, bool at_once) {
    uint64_t now_ns = clock_ns(sweep);
    if (!sweep->hooks->progress || (!at_once && now_ns - sweep->reported_ns < progress_interval_ns))
        return;
    struct pdnn_sweep_progress progress = {.label = sweep->label};
    pdnn_schedule_progress(&sweep->schedule, left_ns(sweep), &progress);
    sweep->hooks->progress(sweep->hooks->user, &progress);
    sweep->reported_ns = now_ns;
}

static void tick(void *user) {
    report(user, false);
}

static enum pdnn_status make_alive(struct sweep *sweep, struct pdnn_worker_kind kind, struct pdnn_err *err) {
    const struct pdnn_visitor *visitor = sweep->visitor;
    enum pdnn_status status = PDNN_OK;
    for (int attempt = 0; attempt < START_ATTEMPTS && !is_stopped(sweep); attempt++) {
        if (visitor->alive(visitor->user, kind))
            return PDNN_OK;
        status = visitor->start(visitor->user, kind, err);
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

/* A limit, where 0 is none, and a time that is left. */
static uint64_t shorter(uint64_t limit_ns, uint64_t left_ns) {
    return left_ns == UINT64_MAX || (limit_ns && limit_ns < left_ns) ? limit_ns : left_ns ? left_ns : 1;
}

/* Runs one visit and hands it to the caller, who appends it to the journal. */
static enum pdnn_status visit_task(struct sweep *sweep, size_t index, struct pdnn_err *err) {
    const struct pdnn_visitor *visitor = sweep->visitor;
    const struct pdnn_task *task = &sweep->schedule.tasks[index];
    struct pdnn_request request = sweep->rules->request;
    const struct pdnn_watch watch = {.time_limit_ns = sweep->rules->time_limit_ns,
                                     .stop = sweep->rules->stop,
                                     .grace_ns = sweep->rules->grace_ns,
                                     .deadline_ns = sweep->rules->deadline_ns,
                                     .expected_ns = pdnn_schedule_wall_ns(&sweep->schedule, index),
                                     .tick = tick,
                                     .user = sweep};
    const struct pdnn_worker_kind kind = pdnn_worker_kind_of(&task->instance, &sweep->rules->libraries);
    struct pdnn_visit visit = {0};
    int length = snprintf(request.id, sizeof request.id, "%s", task->id);
    if (length < 0 || (size_t)length >= sizeof request.id)
        return pdnn_fail(err, PDNN_INVALID, "%s: instance id too long", task->id);
    request.rules.max_visit_ns = pdnn_schedule_visit_ns(&sweep->schedule, index);
    request.rules.time_limit_ns = shorter(watch.time_limit_ns, left_ns(sweep));
    if (task->lengths)
        request.lengths = *task->lengths;
    if (task->min_samples)
        request.rules.min_samples = task->min_samples;
    if (sweep->rules->paired) {
        request.unstamped = sweep->schedule.groups.side[index].n_turns >= PDNN_SCHEDULE_STAMPED;
        request.probe = request.probe && pdnn_schedule_is_first(&sweep->schedule, index);
    }
    request.ranks = task->instance.setting[PDNN_SETTING_RANKS];
    request.rules.cold = task->instance.setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    if (sweep->rules->roof_rows)
        request.cache_bytes =
            pdnn_roof_rows_cache_bytes(sweep->rules->roof_rows, task->instance.setting[PDNN_SETTING_THREADS]);
    uint64_t begun_ns = clock_ns(sweep);
    enum pdnn_status status = make_alive(sweep, kind, err);
    if (is_stopped(sweep))
        return PDNN_OK; /* visit_all reports the stop */
    if (status != PDNN_OK)
        return status;
    sweep->label = task->label ? task->label : task->id;
    uint64_t asked_ns = clock_ns(sweep);
    status = visitor->visit(visitor->user, kind, &request, &watch, &visit, err);
    uint64_t answered_ns = clock_ns(sweep);
    add_spent(&sweep->result.spent, &visit.spent);
    bool is_late = status == PDNN_INTERRUPTED && !is_stopped(sweep) && !left_ns(sweep);
    sweep->result.workers_lost += !is_late && !visitor->alive(visitor->user, kind);
    if (is_late) {
        sweep->result.out_of_time = true;
        return PDNN_OK;
    }
    if (status != PDNN_OK)
        return status;
    if (sweep->rules->paired)
        pdnn_paired_mark(&sweep->schedule.groups, index, &visit);
    status = sweep->hooks->visited(sweep->hooks->user, index, &visit, err);
    if (status == PDNN_OK)
        pdnn_schedule_note(&sweep->schedule, index, &visit, answered_ns - asked_ns);
    pdnn_visit_finish(&visit);
    if (status != PDNN_OK)
        return status;
    sweep->result.visits++;
    report(sweep, false);
    sweep->result.overhead_ns += clock_ns(sweep) - begun_ns - (answered_ns - asked_ns);
    return PDNN_OK;
}

/* The next task whose visit is likely to end in time; false if there is none. */
static bool find_task(struct sweep *sweep, size_t *task) {
    while (pdnn_schedule_next(&sweep->schedule, task)) {
        uint64_t rest_ns = left_ns(sweep);
        if (rest_ns && pdnn_schedule_turn_ns(&sweep->schedule, *task) <= rest_ns)
            return true;
        sweep->result.out_of_time = true;
        if (!rest_ns)
            return false;
        pdnn_schedule_pass_over(&sweep->schedule, *task);
    }
    return false;
}

/* A process places its memory and its threads once, which shifts all of its visits together: each pass of
 * paired order draws anew. */
static void renew_workers(struct sweep *sweep, size_t task) {
    if (!sweep->rules->paired)
        return;
    /* Processes read what was chosen when they begin: a side's first visit follows that of the first side. */
    const bool is_later = sweep->rules->request.choices_are_shared &&
                          !sweep->schedule.groups.side[task].n_turns &&
                          !pdnn_schedule_is_first(&sweep->schedule, task);
    if (sweep->pass == sweep->schedule.pass && !is_later)
        return;
    if (sweep->pass)
        sweep->visitor->retire(sweep->visitor->user);
    sweep->pass = sweep->schedule.pass;
}

/* What has been measured so far says better what there is time for. */
static void plan(struct sweep *sweep, bool at_once) {
    uint64_t now_ns = clock_ns(sweep);
    if (!sweep->rules->deadline_ns || (!at_once && now_ns - sweep->planned_ns < plan_interval_ns))
        return;
    pdnn_schedule_plan(&sweep->schedule, left_ns(sweep));
    sweep->planned_ns = now_ns;
}

static enum pdnn_status visit_all(struct sweep *sweep, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    size_t task;
    plan(sweep, true);
    while (status == PDNN_OK && !is_stopped(sweep)) {
        bool found = find_task(sweep, &task);
        if (!found) {
            /* Perhaps what was begun took less time than expected. */
            plan(sweep, true);
            found = find_task(sweep, &task);
        }
        if (!found)
            break;
        renew_workers(sweep, task);
        status = visit_task(sweep, task, err);
        plan(sweep, false);
    }
    sweep->result.out_of_time = sweep->result.out_of_time || sweep->schedule.n_waiting > 0;
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
    struct sweep sweep = {.visitor = visitor, .rules = rules, .hooks = hooks};
    pdnn_schedule_init(&sweep.schedule, tasks, n_tasks, rules);
    enum pdnn_status status = visit_all(&sweep, err);
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
    sum->out_of_time = sum->out_of_time || result->out_of_time;
    add_spent(&sum->spent, &result->spent);
    sum->overhead_ns += result->overhead_ns;
}

/* Workers of several ranks that are kept. */
enum { SEVERAL_MAX = 4 };

struct pdnn_sweep_workers {
    const struct pdnn_host *host;
    uint64_t memory_limit_bytes;
    struct pdnn_worker *one; /* heap: one for each kind that was asked for; a dead one keeps its place */
    size_t n_ones, room;
    size_t last; /* of these, that of the last visit, whose threads may still be running */
    struct {
        int64_t ranks;
        struct pdnn_worker worker;
    } several[SEVERAL_MAX]; /* workers of several ranks, by when they were started */
};

struct pdnn_sweep_workers *pdnn_sweep_workers_create(const struct pdnn_host *host,
                                                     uint64_t memory_limit_bytes) {
    struct pdnn_sweep_workers *workers = pdnn_alloc(1, sizeof *workers);
    workers->host = host;
    workers->memory_limit_bytes = memory_limit_bytes;
    return workers;
}

static void retire_all(void *user) {
    struct pdnn_sweep_workers *workers = user;
    for (size_t i = 0; i < workers->n_ones; i++)
        pdnn_worker_stop(&workers->one[i]);
    for (int i = 0; i < SEVERAL_MAX; i++)
        pdnn_worker_stop(&workers->several[i].worker);
}

void pdnn_sweep_workers_destroy(struct pdnn_sweep_workers *workers) {
    if (!workers)
        return;
    retire_all(workers);
    free(workers->one);
    free(workers);
}

/* The number of the kind's worker, which may be dead. */
static size_t find_one(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind) {
    size_t at = 0;
    while (at < workers->n_ones && !pdnn_worker_is(&workers->one[at], kind))
        at++;
    if (at == workers->n_ones) {
        workers->one = pdnn_grow(workers->one, &workers->room, at, sizeof *workers->one);
        workers->one[workers->n_ones++] = (struct pdnn_worker){.kind = kind};
    }
    return at;
}

static struct pdnn_worker *one_of(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind) {
    const size_t at = find_one(workers, kind); /* it may move them */
    return &workers->one[at];
}

static bool is_worker_alive(void *user, struct pdnn_worker_kind kind) {
    struct pdnn_sweep_workers *workers = user;
    return pdnn_worker_alive(one_of(workers, kind));
}

static enum pdnn_status start_worker(void *user, struct pdnn_worker_kind kind, struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers = user;
    return pdnn_worker_start(one_of(workers, kind), workers->host, kind, workers->memory_limit_bytes, err);
}

static void rest_others(struct pdnn_sweep_workers *workers, size_t one) {
    if (one != workers->last)
        pdnn_worker_rest(&workers->one[workers->last]);
    workers->last = one;
    for (int i = 0; i < SEVERAL_MAX; i++)
        pdnn_worker_rest(&workers->several[i].worker);
}

enum pdnn_status pdnn_sweep_workers_get(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind,
                                        struct pdnn_worker **worker, struct pdnn_err *err) {
    const size_t one = find_one(workers, kind);
    enum pdnn_status status = PDNN_OK;
    for (int attempt = 0; attempt < START_ATTEMPTS && !pdnn_worker_alive(&workers->one[one]); attempt++)
        status = start_worker(workers, kind, err);
    if (status != PDNN_OK)
        return status;
    rest_others(workers, one);
    *worker = &workers->one[one];
    return PDNN_OK;
}

/* The worker of several ranks, started unless it lives; the oldest one makes room. */
static enum pdnn_status get_ranks(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind,
                                  int64_t ranks, struct pdnn_worker **worker, struct pdnn_err *err) {
    int at = 0;
    while (at < SEVERAL_MAX &&
           (workers->several[at].ranks != ranks || !pdnn_worker_is(&workers->several[at].worker, kind) ||
            !pdnn_worker_alive(&workers->several[at].worker)))
        at++;
    if (at < SEVERAL_MAX) {
        *worker = &workers->several[at].worker;
        return PDNN_OK;
    }
    at = 0;
    while (at < SEVERAL_MAX && pdnn_worker_alive(&workers->several[at].worker))
        at++;
    if (at == SEVERAL_MAX) {
        pdnn_worker_stop(&workers->several[0].worker);
        memmove(workers->several, workers->several + 1, (SEVERAL_MAX - 1) * sizeof workers->several[0]);
        at = SEVERAL_MAX - 1;
        workers->several[at].worker = (struct pdnn_worker){0};
    }
    workers->several[at].ranks = ranks;
    *worker = &workers->several[at].worker;
    return pdnn_worker_start_ranks(*worker, workers->host, kind, ranks, workers->memory_limit_bytes,
                                   one_of(workers, kind), err);
}

/* Ranks that do not start are the outcome of the visit: other instances can do without them. */
static enum pdnn_status have_ranks_visit(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind,
                                         const struct pdnn_request *request, const struct pdnn_watch *watch,
                                         struct pdnn_visit *visit, struct pdnn_err *err) {
    const size_t one = find_one(workers, kind);
    struct pdnn_worker *worker;
    struct pdnn_err why = {0};
    pdnn_worker_rest(&workers->one[one]);
    rest_others(workers, one);
    enum pdnn_status status = get_ranks(workers, kind, request->ranks, &worker, &why);
    if (status == PDNN_OK)
        return pdnn_worker_visit(worker, request, watch, visit, err);
    *visit = (struct pdnn_visit){.outcome = status == PDNN_UNSUPPORTED ? PDNN_OUTCOME_UNSUPPORTED
                                                                       : PDNN_OUTCOME_CRASH,
                                 .started_unix_ms = pdnn_clock_unix_ms()};
    snprintf(visit->reason, sizeof visit->reason, "%.*s", PDNN_REASON_TEXT - 1, why.text);
    return PDNN_OK;
}

static enum pdnn_status have_visited(void *user, struct pdnn_worker_kind kind,
                                     const struct pdnn_request *request, const struct pdnn_watch *watch,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers = user;
    enum pdnn_status status;
    if (request->ranks > 1) {
        status = have_ranks_visit(workers, kind, request, watch, visit, err);
    } else {
        const size_t one = find_one(workers, kind);
        rest_others(workers, one);
        status = pdnn_worker_visit(&workers->one[one], request, watch, visit, err);
    }
    /* Threads that lost their cores share others: what they took is no time of this setup. */
    if (status == PDNN_OK && pdnn_host_cores_check(workers->host, err) != PDNN_OK) {
        pdnn_visit_finish(visit);
        status = err->status;
    }
    return status;
}

enum pdnn_status pdnn_sweep_run_on(struct pdnn_sweep_workers *workers, const struct pdnn_task *tasks,
                                   size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                   const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                   struct pdnn_err *err) {
    const struct pdnn_visitor visitor = {workers,      is_worker_alive, start_worker,
                                         have_visited, retire_all,      pdnn_clock_ns};
    return pdnn_sweep_run_with(&visitor, tasks, n_tasks, rules, hooks, result, err);
}

enum pdnn_status pdnn_sweep_run(const struct pdnn_host *host, const struct pdnn_task *tasks, size_t n_tasks,
                                const struct pdnn_sweep_rules *rules, const struct pdnn_sweep_hooks *hooks,
                                struct pdnn_sweep_result *result, struct pdnn_err *err) {
    struct pdnn_sweep_workers *workers = pdnn_sweep_workers_create(host, rules->request.memory_limit_bytes);
    enum pdnn_status status = pdnn_sweep_run_on(workers, tasks, n_tasks, rules, hooks, result, err);
    pdnn_sweep_workers_destroy(workers);
    return status;
}
