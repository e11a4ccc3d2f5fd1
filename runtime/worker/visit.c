#include "runtime/worker/visit.h"

#include "models/group.h"
#include "models/op.h"
#include "runtime/core/probe.h"
#include "base/clock.h"
#include "runtime/core/evict.h"
#include "runtime/core/measure.h"
#include "runtime/core/tune.h"
#include "runtime/worker/finite.h"
#include "runtime/worker/set.h"

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

/* A plan to be measured, with its steps grouped into the rows of ops.csv. */
struct bench {
    const struct pdnn_plan *plan;
    struct pdnn_far far;
    struct pdnn_process_probe *probe; /* the process's last one */
    struct pdnn_evictor evictor;      /* cold visits only */
    uint32_t *part_of;                /* by step: index into ops */
    uint64_t *step_ns;                /* by step: its time in one stamped step */
    uint64_t clock_cost_ns, asked_ns;
    struct pdnn_visit_op *ops;
    size_t n_ops;
};

static void bench_finish(struct bench *bench) {
    free(bench->part_of);
    free(bench->step_ns);
    free(bench->ops);
}

/* The stem of the layer whose tensor is reordered, if the graph distinguishes stems; else NULL. */
static const char *stem_of(const struct pdnn_graph *graph, uint32_t tensor) {
    for (size_t i = 0; graph->stems_apart && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool uses = node->n_outputs && node->output[0] == tensor;
        for (int k = 0; k < node->n_inputs; k++)
            uses = uses || node->input[k] == tensor;
        if (uses && node->layer.stem)
            return node->layer.stem;
    }
    return NULL;
}

/* Key "dense/backward-data/64x1024:..." for a node; a reorder has the pass that needs it. The key also
 * ends with the layer. */
static void name_op(const struct pdnn_program *program, size_t index, struct pdnn_visit_op *op) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_step *step = &program->steps[index];
    char *key = op->key;
    if (step->node != PDNN_NONE) {
        const struct pdnn_node *node = &graph->nodes[step->node];
        int length = snprintf(key, PDNN_OP_KEY_TEXT, "%s/%s/", node->op->name, pdnn_node_pass_name(node));
        if (length > 0 && length < PDNN_OP_KEY_TEXT)
            pdnn_node_shape(graph, node, key + length, PDNN_OP_KEY_TEXT - (size_t)length);
        if (graph->stems_apart && node->layer.stem)
            snprintf(op->layer, sizeof op->layer, "%s", node->layer.stem);
        return;
    }
    const struct pdnn_tensor *tensor = &graph->tensors[step->tensor];
    int length = snprintf(key, PDNN_OP_KEY_TEXT, "reorder/%s/", pdnn_pass_name(step->pass));
    for (int i = 0; i < tensor->rank && length < PDNN_OP_KEY_TEXT; i++)
        length += snprintf(key + length, PDNN_OP_KEY_TEXT - (size_t)length, "%s%" PRId64, i ? "x" : "",
                           tensor->dim[i]);
    const char *stem = stem_of(graph, step->tensor);
    if (stem && length < PDNN_OP_KEY_TEXT)
        snprintf(key + length, PDNN_OP_KEY_TEXT - (size_t)length, "@%s", stem);
    snprintf(op->layer, sizeof op->layer, "%s", stem ? stem : "");
}

/* Finds or appends the row of the step. A node with two implementations gets two rows with the same key. */
static uint32_t find_part(struct bench *bench, size_t index) {
    const struct pdnn_step *step = &bench->plan->program.steps[index];
    struct pdnn_visit_op named = {.count = 0};
    name_op(&bench->plan->program, index, &named);
    for (size_t i = 0; i < bench->n_ops; i++) {
        if (strcmp(bench->ops[i].implementation, step->implementation) == 0 &&
            strcmp(bench->ops[i].key, named.key) == 0)
            return (uint32_t)i;
    }
    struct pdnn_visit_op *op = &bench->ops[bench->n_ops];
    *op = named;
    memcpy(op->implementation, step->implementation, sizeof op->implementation);
    return (uint32_t)bench->n_ops++;
}

static enum pdnn_status bench_init(struct bench *bench, const struct pdnn_plan *plan, struct pdnn_err *err) {
    const struct pdnn_program *program = &plan->program;
    struct bench made = {.plan = plan, .clock_cost_ns = pdnn_clock_read_cost_ns()};
    size_t room = program->n_steps ? program->n_steps : 1;
    made.part_of = calloc(room, sizeof *made.part_of);
    made.step_ns = calloc(room, sizeof *made.step_ns);
    made.ops = calloc(room, sizeof *made.ops);
    if (!made.part_of || !made.step_ns || !made.ops) {
        bench_finish(&made);
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the times of %zu steps", program->n_steps);
    }
    for (size_t i = 0; i < program->n_steps; i++) {
        const struct pdnn_step *step = &program->steps[i];
        uint32_t part = find_part(&made, i);
        made.part_of[i] = part;
        made.ops[part].bytes += step->reorder_bytes;
        bool same_node = i && step->node != PDNN_NONE && program->steps[i - 1].node == step->node;
        if (!same_node || made.part_of[i - 1] != part)
            made.ops[part].count++;
    }
    *bench = made;
    return PDNN_OK;
}

static int run_step(void *user) {
    return pdnn_plan_run(((struct bench *)user)->plan);
}

static int run_stamped_step(void *user, uint64_t *ns) {
    struct bench *bench = user;
    size_t n_steps = bench->plan->program.n_steps;
    memset(bench->step_ns, 0, n_steps * sizeof *bench->step_ns);
    int code = pdnn_plan_run_stamped(bench->plan, bench->clock_cost_ns, bench->step_ns);
    for (size_t i = 0; i < n_steps; i++)
        ns[bench->part_of[i]] += bench->step_ns[i];
    return code;
}

static void evict(void *user) {
    pdnn_evictor_run(&((struct bench *)user)->evictor);
}

/* "ref" in a library is slow code that nobody asked for; the backend `reference` was asked for. */
static unsigned find_ref(const struct bench *bench) {
    if (strcmp(bench->plan->backend->name, "reference") == 0)
        return 0;
    for (size_t i = 0; i < bench->n_ops; i++) {
        const char *name = bench->ops[i].implementation;
        const char *ref = strstr(name, "ref");
        if (ref && ((ref > name && ref[-1] == ':') || ref[3] == ':' || ref[3] == '_'))
            return PDNN_FLAG_REF;
    }
    return 0;
}

static unsigned find_slow(const struct pdnn_program *program) {
    for (size_t i = 0; i < program->n_steps; i++) {
        if (program->steps[i].is_slow)
            return PDNN_FLAG_SLOW;
    }
    return 0;
}

/* The rate of two runs of the same work together; 0: there was none before. */
static double together(double before, double now) {
    return before > 0 ? 2 / (1 / before + 1 / now) : now;
}

/* A probe serves the next visit too if that visit's samples begin so soon after it. */
static const uint64_t probe_age_ns = 20000000;

static bool is_recent(const struct pdnn_process_probe *last, const struct pdnn_far *far) {
    return last->threads == far->threads && last->far_bytes == pdnn_far_bytes(far) &&
           pdnn_clock_ns() - last->ended_ns < probe_age_ns;
}

/* Runs a probe; before the visit, may_share takes a recent one instead. The probes just before and after a
 * visit together tell how fast the machine was in between. Where memory leaves no room beyond the caches,
 * there is no probe. */
static enum pdnn_status probe(const struct bench *bench, const struct pdnn_request *request, bool may_share,
                              struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_process_probe *last = bench->probe;
    uint64_t begun_ns = pdnn_clock_ns();
    if (!request->probe || !pdnn_far_bytes(&bench->far))
        return PDNN_OK;
    if (!may_share || !is_recent(last, &bench->far)) {
        *last = (struct pdnn_process_probe){0};
        enum pdnn_status status = pdnn_probe(&bench->far, &last->gflops, &last->gbs, err);
        if (status != PDNN_OK)
            return pdnn_wrap(err, "probe");
        last->threads = bench->far.threads;
        last->far_bytes = pdnn_far_bytes(&bench->far);
        last->ended_ns = pdnn_clock_ns();
    }
    visit->spent.probe_ns += pdnn_clock_ns() - begun_ns;
    visit->probe_gflops = together(visit->probe_gflops, last->gflops);
    visit->probe_gbs = together(visit->probe_gbs, last->gbs);
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

static enum pdnn_status measure(struct bench *bench, const struct pdnn_request *request,
                                struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_measure_target target = {.user = bench,
                                               .step = run_step,
                                               .stamped_step = run_stamped_step,
                                               .n_parts = bench->n_ops,
                                               .evict = request->rules.cold ? evict : NULL};
    uint64_t throttled = pdnn_host_throttle_count();
    double *part_ns = calloc(bench->n_ops ? bench->n_ops : 1, sizeof *part_ns);
    if (!part_ns)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the times of %zu ops", bench->n_ops);
    enum pdnn_status status = probe(bench, request, true, visit, err);
    const struct pdnn_measure_rules rules = rules_now(request, bench->asked_ns);
    if (status == PDNN_OK)
        status = pdnn_measure_visit(&target, &rules, visit, part_ns, err);
    if (status == PDNN_OK)
        status = probe(bench, request, false, visit, err);
    for (size_t i = 0; status == PDNN_OK && i < bench->n_ops; i++)
        bench->ops[i].time_ns = part_ns[i];
    if (pdnn_host_throttle_count() != throttled)
        visit->flags |= PDNN_FLAG_THROTTLED;
    visit->flags |= find_ref(bench) | find_slow(&bench->plan->program);
    visit->flags |= bench->plan->program.is_untried ? PDNN_FLAG_UNTRIED : 0;
    free(part_ns);
    return status;
}

/* Measures a plan that is ready to run. */
static enum pdnn_status visit_plan(struct pdnn_process *process, const struct pdnn_request *request,
                                   const struct pdnn_plan *plan, const struct pdnn_far *far,
                                   struct pdnn_visit *visit, struct pdnn_err *err) {
    struct bench bench = {0};
    enum pdnn_status status = bench_init(&bench, plan, err);
    bench.far = *far;
    bench.asked_ns = process->asked_ns;
    bench.probe = &process->probe;
    visit->plan_bytes = plan->block_bytes;
    visit->spent.prepare_ns = pdnn_clock_ns() - process->asked_ns;
    if (status == PDNN_OK && request->rules.cold)
        status = pdnn_evictor_init(&bench.evictor, far, err);
    if (status == PDNN_OK)
        status = measure(&bench, request, visit, err);
    if (status == PDNN_OK)
        status = pdnn_finite_check(plan, visit, err);
    if (status == PDNN_OK) {
        visit->ops = bench.ops;
        visit->n_ops = bench.n_ops;
        bench.ops = NULL;
    }
    bench_finish(&bench);
    return status;
}

/* Takes the memory that the evictor and the probe need, before that of the plan. The plan may have the rest.
 */
static enum pdnn_status reserve(const struct pdnn_process *process, const struct pdnn_request *request,
                                int64_t threads, struct pdnn_far *far, struct pdnn_err *err) {
    uint64_t usable = process->host.memory_limit_bytes, limit = request->memory_limit_bytes;
    const struct pdnn_stream *stream;
    *far = (struct pdnn_far){.threads = threads, .cache_bytes = request->cache_bytes, .limit_bytes = limit};
    if (usable && (!limit || usable < limit))
        far->limit_bytes = usable;
    if (request->rules.cold && !far->cache_bytes)
        far->cache_bytes = pdnn_far_reported_bytes(&process->host, threads);
    bool is_needed = request->rules.cold || (request->probe && pdnn_far_bytes(far));
    enum pdnn_status status = is_needed ? pdnn_far_get(far, &stream, err) : PDNN_OK;
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

static enum pdnn_status visit_alone(struct pdnn_process *process, const struct pdnn_request *request,
                                    struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_plan_options options = {
        .limit_bytes = request->memory_limit_bytes, .seed = request->seed, .allow_slow = request->allow_slow};
    struct pdnn_far far;
    const struct pdnn_open_backend *backend = NULL;
    struct pdnn_model model = {0};
    struct pdnn_plan plan = {0};
    uint64_t started_ns = pdnn_clock_ns(), opening_ns = 0;
    pdnn_set_close(process);
    enum pdnn_status status = pdnn_model_init(&model, process, request->id, err);
    if (status != PDNN_OK)
        return status;
    opening_ns = pdnn_clock_ns();
    status = pdnn_process_open(process, pdnn_backend_names[model.instance.setting[PDNN_SETTING_BACKEND]],
                               model.threads, request, &backend, err);
    if (status != PDNN_OK)
        goto out;
    status = reserve(process, request, model.threads, &far, err);
    if (status != PDNN_OK)
        goto out;
    options.beside_bytes = pdnn_far_held_bytes();
    opening_ns = pdnn_clock_ns() - opening_ns;
    const struct pdnn_tune before = tune_now(backend);
    status = pdnn_plan_create(&plan, backend->def, backend->state, &model.graph, &options, err);
    if (status != PDNN_OK)
        goto out;
    visit->prepare_ns = pdnn_clock_ns() - started_ns - opening_ns;
    note_choices(&before, backend, visit);
    status = visit_plan(process, request, &plan, &far, visit, err);
out:
    pdnn_plan_destroy(&plan);
    pdnn_model_finish(&model);
    return status;
}

static enum pdnn_status visit_member(struct pdnn_process *process, const struct pdnn_request *request,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_plan_member *member;
    struct pdnn_instance instance;
    struct pdnn_far far;
    enum pdnn_status status = pdnn_process_instance(process, request->largest, &instance, err);
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
    return visit_plan(process, request, &member->plan, &far, visit, err);
}

void pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                    struct pdnn_visit *visit) {
    struct pdnn_err err = {0};
    *visit = (struct pdnn_visit){0};
    process->asked_ns = pdnn_clock_ns();
    enum pdnn_status status = request->largest[0] ? visit_member(process, request, visit, &err)
                                                  : visit_alone(process, request, visit, &err);
    if (status == PDNN_OK)
        return;
    visit->outcome = outcome_of[status];
    snprintf(visit->reason, sizeof visit->reason, "%.*s", PDNN_REASON_TEXT - 1, err.text);
}
