#include "runtime/worker/visit.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/backend/core_share.h"
#include "runtime/measure/evict.h"
#include "runtime/measure/measure.h"
#include "runtime/backend/tune.h"
#include "runtime/host/host_cgroup.h"
#include "runtime/host/host_files.h"
#include "runtime/worker/finite.h"
#include "runtime/worker/loading.h"
#include "runtime/worker/set.h"
#include "runtime/worker/call_rows.h"
#include "runtime/distributed/rank_sync.h"
#include "runtime/distributed/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The outcome of a visit that fails with a status. */
static const enum pdnn_outcome outcome_of[PDNN_STATUS_COUNT] = {
    [PDNN_OK] = PDNN_OUTCOME_OK,
    [PDNN_INVALID] = PDNN_OUTCOME_INVALID,
    [PDNN_UNSUPPORTED] = PDNN_OUTCOME_UNSUPPORTED,
    [PDNN_OVERFLOW] = PDNN_OUTCOME_OOM_PREDICTED,
    [PDNN_NO_MEMORY] = PDNN_OUTCOME_OOM,
    [PDNN_TOO_BIG] = PDNN_OUTCOME_OOM_PREDICTED,
    [PDNN_IO] = PDNN_OUTCOME_CRASH,
    [PDNN_INTERRUPTED] = PDNN_OUTCOME_CRASH,
    [PDNN_INTERNAL] = PDNN_OUTCOME_CRASH,
};

/* A plan to be measured, with its calls grouped into the rows of ops.csv. */
struct bench {
    const struct pdnn_plan *plan;
    struct pdnn_dram_buffer far;
    const struct pdnn_thread_team *team;   /* of the pool */
    struct pdnn_process_probe *probe;      /* the process's last one */
    struct pdnn_thread_counters *counters; /* the process's */
    struct pdnn_evictor evictor;           /* cold visits only */
    const struct pdnn_loading *loading;    /* NULL: data=resident */
    uint64_t *call_ns;                     /* by call: its time in one stamped step */
    uint64_t clock_cost_ns, asked_ns;
    struct pdnn_call_rows rows;
    struct pdnn_rank_sync together; /* with the other ranks; its world is NULL if there are none */
};

static void bench_finish(struct bench *bench) {
    pdnn_call_rows_finish(&bench->rows);
    free(bench->call_ns);
}

static int feed_step(const struct bench *bench) {
    return bench->loading ? pdnn_infeed_take(bench->loading->infeed, bench->plan) : 0;
}

static int run_step(void *user) {
    const struct bench *bench = user;
    int code = feed_step(bench);
    code = code ? code : pdnn_plan_run(bench->plan);
    return pdnn_rank_sync_check(bench->together.world, code);
}

static uint64_t waited(void *user) {
    return pdnn_infeed_waited_ns(((struct bench *)user)->loading->infeed);
}

static int run_stamped_step(void *user, uint64_t *ns) {
    struct bench *bench = user;
    size_t n_calls = bench->plan->program.n_calls;
    memset(bench->call_ns, 0, n_calls * sizeof *bench->call_ns);
    int code = feed_step(bench);
    if (code)
        return code;
    code = pdnn_plan_run_stamped(bench->plan, bench->clock_cost_ns, bench->call_ns);
    for (size_t i = 0; i < n_calls; i++)
        ns[bench->rows.row_of[i]] += bench->call_ns[i];
    return pdnn_rank_sync_check(bench->together.world, code);
}

static bool count(void *user, struct pdnn_counts *counts) {
    return pdnn_thread_counters_lap(((struct bench *)user)->counters, counts);
}

/* What a counted step has so far. */
struct counting {
    struct bench *bench;
    const struct pdnn_counts *cost;
    struct pdnn_counts *of; /* by row of ops.csv */
    bool is_whole;
};

static void count_call(void *user, size_t call) {
    struct counting *counting = user;
    struct pdnn_counts counts;
    counting->is_whole = count(counting->bench, &counts) && counting->is_whole;
    counts = pdnn_counts_net(counts, counting->cost);
    pdnn_counts_add(&counting->of[counting->bench->rows.row_of[call]], &counts);
}

static int run_counted_step(void *user, const struct pdnn_counts *cost) {
    struct bench *bench = user;
    struct pdnn_counts before;
    struct counting counting = {bench, cost, pdnn_alloc(bench->rows.n_ops, sizeof *counting.of), true};
    int code = feed_step(bench);
    count(bench, &before);
    code = code ? code : pdnn_plan_run_watched(bench->plan, count_call, &counting);
    for (size_t i = 0; i < bench->rows.n_ops && counting.is_whole && !code; i++)
        bench->rows.ops[i].counted = pdnn_counted_of(&counting.of[i], 1);
    free(counting.of);
    return code;
}

static void evict(void *user) {
    pdnn_evictor_run(&((struct bench *)user)->evictor);
}

static void read_usage(void *user, struct pdnn_usage *usage) {
    pdnn_usage_read(((struct bench *)user)->team, usage);
}

static void begin_together(void *user, uint64_t steps) {
    pdnn_rank_sync_begin(&((struct bench *)user)->together, PDNN_RANK_SYNC_STEPS, steps);
}

static uint64_t end_together(void *user, uint64_t ns) {
    return pdnn_rank_sync_end(&((struct bench *)user)->together, ns);
}

/* The rate of two runs of the same work together; 0: there was none before. */
static double together(double before, double now) {
    return before > 0 ? 2 / (1 / before + 1 / now) : now;
}

/* Of what was before and is now; 0: there was nothing before. */
static double mean(double before, double now) {
    return before > 0 ? (before + now) / 2 : now;
}

/* A probe serves the next visit too if that visit's samples begin so soon after it. */
static const uint64_t probe_age_ns = 20000000;

static bool is_recent(const struct pdnn_process_probe *last, const struct pdnn_dram_buffer *far) {
    return last->threads == far->threads && last->far_bytes == pdnn_dram_buffer_bytes(far) &&
           pdnn_clock_ns() - last->ended_ns < probe_age_ns;
}

/* Runs a probe; before the visit, may_share takes a recent one instead. The probes just before and after a
 * visit together tell how fast the machine was in between. Where memory leaves no room beyond the caches,
 * there is no probe. */
static enum pdnn_status probe(const struct bench *bench, const struct pdnn_request *request, bool may_share,
                              struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_process_probe *last = bench->probe;
    struct pdnn_visit_hardware *hardware = &visit->hardware;
    uint64_t begun_ns = pdnn_clock_ns();
    if (!request->probe || !pdnn_dram_buffer_bytes(&bench->far))
        return PDNN_OK;
    if (!may_share || !is_recent(last, &bench->far)) {
        *last = (struct pdnn_process_probe){0};
        enum pdnn_status status = pdnn_probe(&bench->far, &last->rates, err);
        if (status != PDNN_OK)
            return pdnn_wrap(err, "probe");
        last->threads = bench->far.threads;
        last->far_bytes = pdnn_dram_buffer_bytes(&bench->far);
        last->ended_ns = pdnn_clock_ns();
    }
    visit->spent.probe_ns += pdnn_clock_ns() - begun_ns;
    visit->probe_gflops = together(visit->probe_gflops, last->rates.gflops);
    visit->probe_gbs = together(visit->probe_gbs, last->rates.gbs);
    hardware->clock_ghz = mean(hardware->clock_ghz, last->rates.clock_ghz);
    hardware->handoff_ns = mean(hardware->handoff_ns, last->rates.handoff_ns);
    hardware->fork_ns = mean(hardware->fork_ns, last->rates.fork_ns);
    return PDNN_OK;
}

/* Samples that agree end a visit only after it has sampled for this many times as long as it took to get to
 * the first one: otherwise, a visit to a step of microseconds would be nearly all preparation, and would see
 * the machine at a single moment. */
enum { WORTH = 16 };

/* The rules with the part of the time limit that is left for samples: a tenth of the rest is kept for the
 * second probe, for looking for values that are not finite, and for the answer. */
static struct pdnn_measure_rules rules_now(const struct pdnn_request *request, uint64_t asked_ns) {
    struct pdnn_measure_rules rules = request->rules;
    uint64_t spent_ns = pdnn_clock_ns() - asked_ns, most_ns = rules.max_visit_ns;
    rules.least_ns = spent_ns < most_ns / WORTH ? spent_ns * WORTH : most_ns;
    if (rules.time_limit_ns)
        rules.time_limit_ns = rules.time_limit_ns > spent_ns ? (rules.time_limit_ns - spent_ns) / 10 * 9 : 1;
    return rules;
}

/* Whether the counters may be used in the visit; else its counted says why not. */
static bool open_counters(const struct bench *bench, const struct pdnn_request *request,
                          struct pdnn_visit_counted *counted) {
    if (request->counters)
        counted->counters = bench->together.world ? PDNN_COUNTERS_RANKS
                                                  : pdnn_thread_counters_open(bench->counters, bench->team);
    return request->counters && !pdnn_counters_are_missing(counted->counters);
}

/* A clock that the probes contradict is none, and what was counted with it neither. */
static void check_counters(const struct bench *bench, struct pdnn_visit *visit) {
    if (!pdnn_clocks_are_apart(visit->counted.slowest_ghz, visit->hardware.clock_ghz))
        return;
    visit->counted = (struct pdnn_visit_counted){.counters = PDNN_COUNTERS_APART};
    for (size_t i = 0; i < bench->rows.n_ops; i++)
        bench->rows.ops[i].counted = (struct pdnn_counted){0};
}

static enum pdnn_status measure(struct bench *bench, const struct pdnn_request *request,
                                struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_measure_target target = {
        .user = bench,
        .step = run_step,
        .stamped_step = request->unstamped ? NULL : run_stamped_step,
        .n_parts = request->unstamped ? 0 : bench->rows.n_ops,
        .evict = request->rules.cold ? evict : NULL,
        .waited_ns = bench->loading ? waited : NULL,
        .period = bench->loading ? (uint64_t)bench->loading->request.loaders : 0,
        .usage = read_usage,
        .count = open_counters(bench, request, &visit->counted) ? count : NULL,
        .counted_step = run_counted_step,
        .threads = pdnn_core_share_threads(bench->far.threads),
        .cores = bench->far.threads,
        .before = bench->together.world ? begin_together : NULL,
        .after = bench->together.world ? end_together : NULL};
    uint64_t throttled = pdnn_hostfiles_throttle_count(""), held_up = pdnn_quota_stops_read("");
    double *part_ns = pdnn_alloc(bench->rows.n_ops, sizeof *part_ns);
    enum pdnn_status status = probe(bench, request, true, visit, err);
    struct pdnn_measure_rules rules = rules_now(request, bench->asked_ns);
    if (bench->together.world) /* the rest is for what the ranks do apart from whole steps */
        rules.time_limit_ns = rules.time_limit_ns / 3 * 2;
    if (status == PDNN_OK)
        status = pdnn_measure_visit(&target, &rules, visit, part_ns, err);
    if (status != PDNN_OK && bench->loading && pdnn_infeed_error(bench->loading->infeed, NULL) != PDNN_OK)
        status = pdnn_infeed_error(bench->loading->infeed, err); /* not just that some step failed */
    if (status == PDNN_OK && bench->together.world)
        status = pdnn_rank_sync_measure(&bench->together, &rules, visit->steps_per_sample, err);
    if (status == PDNN_OK)
        status = probe(bench, request, false, visit, err);
    if (status == PDNN_OK)
        check_counters(bench, visit);
    for (size_t i = 0; status == PDNN_OK && i < target.n_parts; i++)
        bench->rows.ops[i].time_ns = part_ns[i];
    if (pdnn_hostfiles_throttle_count("") != throttled)
        visit->flags |= PDNN_FLAG_THROTTLED;
    if (pdnn_quota_stops_read("") != held_up) /* no other program's doing */
        visit->flags = (visit->flags & ~(unsigned)PDNN_FLAG_PREEMPTED) | PDNN_FLAG_QUOTA;
    visit->flags |= pdnn_program_flags(&bench->plan->program);
    free(part_ns);
    return status;
}

/* Measures a plan that is ready to run. */
static enum pdnn_status visit_plan(struct pdnn_process *process, const struct pdnn_request *request,
                                   const struct pdnn_plan *plan, const struct pdnn_dram_buffer *far,
                                   const struct pdnn_loading *loading, struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    struct bench bench = {.plan = plan,
                          .far = *far,
                          .team = &process->team,
                          .probe = &process->probe,
                          .counters = &process->counters,
                          .loading = loading,
                          .call_ns = pdnn_alloc(plan->program.n_calls, sizeof *bench.call_ns),
                          .clock_cost_ns = pdnn_clock_read_cost_ns(),
                          .asked_ns = process->asked_ns,
                          .rows = pdnn_call_rows_of(&plan->program)};
    enum pdnn_status status = PDNN_OK;
    visit->plan_bytes = plan->block_bytes;
    visit->spent.prepare_ns = pdnn_clock_ns() - process->asked_ns;
    if (request->rules.cold)
        status = pdnn_evictor_init(&bench.evictor, far, err);
    bench.together = (struct pdnn_rank_sync){
        .world = process->world, .plan = plan, .evictor = request->rules.cold ? &bench.evictor : NULL};
    if (status == PDNN_OK && process->world && process->world->rank) {
        status = pdnn_rank_sync_follow(&bench.together, err);
        bench_finish(&bench);
        return status;
    }
    if (status == PDNN_OK)
        status = measure(&bench, request, visit, err);
    if (process->world)
        pdnn_rank_sync_begin(&bench.together, PDNN_RANK_SYNC_DONE, 0);
    if (status == PDNN_OK)
        status = pdnn_finite_check(plan, visit, err);
    if (status == PDNN_OK && loading)
        pdnn_loading_report(loading, visit, &bench.rows);
    if (status == PDNN_OK)
        visit->ranks = bench.together.times;
    if (status == PDNN_OK && !request->unstamped) {
        visit->ops = bench.rows.ops;
        visit->n_ops = bench.rows.n_ops;
        bench.rows.ops = NULL;
    }
    bench_finish(&bench);
    return status;
}

/* Takes the memory that the evictor and the probe need, before that of the plan. The plan may have the rest.
 */
static enum pdnn_status reserve(struct pdnn_process *process, const struct pdnn_request *request,
                                int64_t threads, struct pdnn_dram_buffer *far, struct pdnn_err *err) {
    uint64_t usable = process->host.memory_limit_bytes, limit = request->memory_limit_bytes;
    const struct pdnn_stream *stream;
    *far = (struct pdnn_dram_buffer){.threads = threads,
                                     .cache_bytes = request->cache_bytes,
                                     .limit_bytes = limit,
                                     .memory = &process->far};
    if (usable && (!limit || usable < limit))
        far->limit_bytes = usable;
    if (request->rules.cold && !far->cache_bytes)
        far->cache_bytes = pdnn_host_last_cache_bytes(&process->host, threads);
    bool is_needed = request->rules.cold || (request->probe && pdnn_dram_buffer_bytes(far));
    enum pdnn_status status = is_needed ? pdnn_dram_buffer_get(far, &stream, err) : PDNN_OK;
    return status == PDNN_OK ? status : pdnn_wrap(err, request->rules.cold ? "cache: cold" : "probe");
}

static struct pdnn_tune tune_now(const struct pdnn_open_backend *backend) {
    return backend->tune ? *backend->tune : (struct pdnn_tune){0};
}

/* What preparing the plan added to the counts of choices. */
static void note_choices(const struct pdnn_tune *before, const struct pdnn_open_backend *backend,
                         struct pdnn_visit *visit) {
    const struct pdnn_tune after = tune_now(backend);
    visit->spent.choose_ns = after.measuring_ns - before->measuring_ns;
    visit->spent.measured = after.n_measured - before->n_measured;
    visit->spent.recalled = after.n_recalled - before->n_recalled;
}

/* What one side of a comparison chose, another build of the library may refuse; it then chooses anew, and the
 * other side follows with its next process. */
static enum pdnn_status create_plan(struct pdnn_plan *plan, const struct pdnn_open_backend *backend,
                                    const struct pdnn_graph *graph, const struct pdnn_request *request,
                                    const struct pdnn_plan_options *options, struct pdnn_err *err) {
    struct pdnn_err why = {0};
    if (backend->tune)
        backend->tune->chosen = 0;
    enum pdnn_status status = pdnn_plan_create(plan, backend->def, backend->state, graph, options, &why);
    if (status == PDNN_UNSUPPORTED && request->choices_are_shared && backend->tune &&
        pdnn_tune_forget(backend->tune)) {
        backend->tune->chosen = 0;
        status = pdnn_plan_create(plan, backend->def, backend->state, graph, options, &why);
    }
    return status == PDNN_OK ? PDNN_OK : pdnn_fail(err, status, "%s", why.text);
}

static enum pdnn_status visit_alone(struct pdnn_process *process, const struct pdnn_request *request,
                                    struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_plan_options options = {.limit_bytes = request->memory_limit_bytes,
                                        .seed = request->seed,
                                        .rank = process->world ? process->world->rank : 0,
                                        .between_calls = process->world ? pdnn_gradient_allreduce_poll : NULL,
                                        .allow_slow = request->allow_slow};
    struct pdnn_dram_buffer far;
    const struct pdnn_open_backend *backend = NULL;
    struct pdnn_model model = {0};
    struct pdnn_plan plan = {0};
    struct pdnn_loading loading = {.infeed = NULL};
    uint64_t started_ns = pdnn_clock_ns(), opening_ns = 0;
    pdnn_set_close(process);
    enum pdnn_status status = pdnn_model_init(&model, process, request->id, err);
    if (status != PDNN_OK)
        return pdnn_rank_sync_agree(process->world, status, err);
    bool loads = model.instance.setting[PDNN_SETTING_DATA] != PDNN_DATA_RESIDENT;
    int ranks = process->world ? process->world->ranks : 1;
    if (model.instance.setting[PDNN_SETTING_RANKS] != ranks)
        status = pdnn_fail(err, PDNN_UNSUPPORTED, "ranks=%" PRId64 " was asked of a worker of %d",
                           model.instance.setting[PDNN_SETTING_RANKS], ranks);
    else if (loads && ranks > 1)
        status = pdnn_fail(err, PDNN_UNSUPPORTED, "several ranks run with data=resident only");
    else if (loads)
        status = pdnn_loading_check(&model.instance, err);
    if (status != PDNN_OK)
        goto out;
    opening_ns = pdnn_clock_ns();
    status = pdnn_process_open(process, pdnn_backend_names[model.instance.setting[PDNN_SETTING_BACKEND]],
                               model.threads, request, &backend, err);
    if (status != PDNN_OK)
        goto out;
    status = reserve(process, request, model.threads, &far, err);
    if (status != PDNN_OK)
        goto out;
    options.beside_bytes = pdnn_far_memory_bytes(&process->far);
    options.beside_bytes += loads ? pdnn_loading_bytes(&model) : 0;
    opening_ns = pdnn_clock_ns() - opening_ns;
    const struct pdnn_tune before = tune_now(backend);
    status = create_plan(&plan, backend, &model.graph, request, &options, err);
    if (status != PDNN_OK)
        goto out;
    visit->prepare_ns = pdnn_clock_ns() - started_ns - opening_ns;
    note_choices(&before, backend, visit);
    if (request->choices_are_shared && backend->tune && backend->def->effective_isa)
        visit->choices = pdnn_choices_made(backend->tune, &model.instance, backend->def->effective_isa());
    if (loads)
        status = pdnn_loading_init(&loading, process, &model, request, err);
out:
    status = pdnn_rank_sync_agree(process->world, status, err);
    if (status == PDNN_OK)
        status = visit_plan(process, request, &plan, &far, loads ? &loading : NULL, visit, err);
    if (process->world)
        pdnn_gradient_allreduce_begin();
    pdnn_loading_finish(&loading);
    pdnn_plan_destroy(&plan);
    pdnn_model_finish(&model);
    return status;
}

/* Members of a set take their data from the set. */
static enum pdnn_status check_resident(const struct pdnn_instance *instance, struct pdnn_err *err) {
    return instance->setting[PDNN_SETTING_DATA] == PDNN_DATA_RESIDENT
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "models of many lengths run with data=resident only");
}

static enum pdnn_status visit_member(struct pdnn_process *process, const struct pdnn_request *request,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_plan_member *member;
    struct pdnn_instance instance;
    struct pdnn_dram_buffer far;
    enum pdnn_status status = pdnn_process_instance(process, request->largest, &instance, err);
    if (status == PDNN_OK && instance.setting[PDNN_SETTING_RANKS] > 1)
        status = pdnn_fail(err, PDNN_UNSUPPORTED, "models that share their weights run with ranks=1 only");
    if (status == PDNN_OK)
        status = check_resident(&instance, err);
    if (status == PDNN_OK)
        status = reserve(process, request, instance.setting[PDNN_SETTING_THREADS], &far, err);
    if (status == PDNN_OK)
        status = pdnn_set_get(process, request, &member, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_plan_set *plans = &process->set.plans;
    visit->prepare_ns = member->prepare_ns;
    visit->set = (struct pdnn_visit_set){.shared_bytes = plans->shared_bytes,
                                         .block_bytes = plans->block_bytes,
                                         .prepared = plans->n_prepared,
                                         .kept = plans->n_members,
                                         .most = PDNN_PLAN_SET_KEPT};
    return visit_plan(process, request, &member->plan, &far, NULL, visit, err);
}

void pdnn_visit_fail(struct pdnn_visit *visit, const struct pdnn_err *err) {
    visit->outcome = outcome_of[err->status];
    snprintf(visit->reason, sizeof visit->reason, "%.*s", PDNN_REASON_TEXT - 1, err->text);
}

void pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                    struct pdnn_visit *visit) {
    struct pdnn_err err = {0};
    *visit = (struct pdnn_visit){0};
    process->asked_ns = pdnn_clock_ns();
    /* Ranks choose together, so none may know more than another; the memory is that of all on the host. */
    struct pdnn_request own = *request;
    if (process->world) {
        own.choices[0] = 0;
        own.memory_limit_bytes /= (uint64_t)process->world->local_ranks;
    }
    enum pdnn_status status = request->largest[0] ? visit_member(process, &own, visit, &err)
                                                  : visit_alone(process, &own, visit, &err);
    if (status != PDNN_OK)
        pdnn_visit_fail(visit, &err);
}
