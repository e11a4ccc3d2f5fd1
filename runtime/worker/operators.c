#include "runtime/worker/operators.h"

#include "base/clock.h"
#include "runtime/core/excerpt.h"
#include "runtime/core/far.h"
#include "runtime/core/measure.h"
#include "runtime/core/reuse.h"
#include "runtime/worker/step_rows.h"
#include "runtime/worker/visit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_outlined {
    struct pdnn_request request; /* the one that opened it */
    struct pdnn_model model;
    struct pdnn_plan plan; /* without memory */
    struct pdnn_step_rows rows;
    uint64_t far_bytes;
    bool is_cold;
    uint64_t prepare_ns;
    struct pdnn_operator *operators;
    uint32_t *first; /* by operator: its first step */
    size_t n_operators;
};

static void destroy(struct pdnn_outlined *outlined) {
    if (!outlined)
        return;
    pdnn_step_rows_finish(&outlined->rows);
    pdnn_plan_destroy(&outlined->plan);
    pdnn_model_finish(&outlined->model);
    free(outlined->operators);
    free(outlined->first);
    free(outlined);
}

void pdnn_operators_close(struct pdnn_process *process) {
    destroy(process->outlined);
    process->outlined = NULL;
}

/* " 2048b16@64KiB": one operand. */
static void add_operand(struct pdnn_str *key, const struct pdnn_plan *plan, const struct pdnn_step *step,
                        int operand, struct pdnn_reuse reuse) {
    const struct pdnn_slot *slot = &plan->program.slots[step->slot[operand]];
    pdnn_str_printf(key, " %" PRIu64, slot->bytes);
    if (slot->channel_block)
        pdnn_str_printf(key, "b%" PRId64, slot->channel_block);
    for (int k = 0; k < operand && slot->bytes; k++) {
        if (plan->offset[step->slot[k]] == plan->offset[step->slot[operand]] &&
            plan->program.slots[step->slot[k]].bytes) {
            pdnn_str_printf(key, "=%d", k);
            return;
        }
    }
    if (reuse.bytes >= 1 << 20)
        pdnn_str_printf(key, "@%" PRIu64 "MiB", reuse.bytes >> 20);
    else if (reuse.bytes)
        pdnn_str_printf(key, "@%" PRIu64 "KiB", reuse.bytes >> 10);
    if (reuse.is_written)
        pdnn_str_printf(key, "*");
}

static void format_key(const struct pdnn_outlined *outlined, size_t index, struct pdnn_str *key) {
    const struct pdnn_plan *plan = &outlined->plan;
    const struct pdnn_step *step = &plan->program.steps[index];
    const struct pdnn_instance *instance = &outlined->model.instance;
    struct pdnn_reuse reuse[PDNN_STEP_SLOTS];
    pdnn_reuse_find(plan, index, outlined->is_cold, outlined->far_bytes, reuse);
    pdnn_str_clear(key);
    pdnn_str_printf(key, "%s threads=%" PRId64 " isa=%s %s [%s]", plan->backend->name,
                    outlined->model.threads, pdnn_isa_names[instance->setting[PDNN_SETTING_ISA]],
                    outlined->rows.ops[outlined->rows.row_of[index]].key, step->implementation);
    for (int k = 0; k < step->n_slots; k++)
        add_operand(key, plan, step, k, reuse[k]);
}

static uint64_t bytes_of(const struct pdnn_program *program, const struct pdnn_step *step) {
    uint64_t sum = 0;
    for (int k = 0; k < step->n_slots; k++)
        sum += program->slots[step->slot[k]].bytes;
    return sum;
}

static enum pdnn_status add_step(struct pdnn_outlined *outlined, size_t index, const struct pdnn_str *key,
                                 struct pdnn_err *err) {
    const struct pdnn_program *program = &outlined->plan.program;
    uint32_t row = outlined->rows.row_of[index];
    size_t at = 0;
    if (key->failed)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the operators of a model");
    if (key->length >= PDNN_OPERATOR_KEY_TEXT)
        return pdnn_fail(err, PDNN_INTERNAL, "too long for the key of an operator: %s", key->text);
    while (at < outlined->n_operators && (outlined->operators[at].op != row ||
                                          strcmp(outlined->operators[at].key, pdnn_str_text(key)) != 0))
        at++;
    struct pdnn_operator *found = &outlined->operators[at];
    if (at == outlined->n_operators) {
        outlined->n_operators++;
        outlined->first[at] = (uint32_t)index;
        *found = (struct pdnn_operator){.op = row, .bytes = bytes_of(program, &program->steps[index])};
        memcpy(found->key, key->text, key->length + 1);
    }
    found->runs++;
    return PDNN_OK;
}

static enum pdnn_status find_operators(struct pdnn_outlined *outlined, struct pdnn_err *err) {
    size_t n_steps = outlined->plan.program.n_steps;
    struct pdnn_str key = {0};
    enum pdnn_status status = pdnn_step_rows_init(&outlined->rows, &outlined->plan.program, err);
    outlined->operators = calloc(n_steps + 1, sizeof *outlined->operators);
    outlined->first = calloc(n_steps + 1, sizeof *outlined->first);
    if (status == PDNN_OK && (!outlined->operators || !outlined->first))
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the operators of %zu steps", n_steps);
    for (size_t i = 0; i < n_steps && status == PDNN_OK; i++) {
        format_key(outlined, i, &key);
        status = add_step(outlined, i, &key, err);
    }
    pdnn_str_finish(&key);
    return status;
}

static uint64_t count_measured(const struct pdnn_open_backend *backend) {
    return backend->tune ? backend->tune->n_measured : 0;
}

/* Choices may change from one compilation to the next until their times have been measured often enough.
 * Compiles until nothing is left to measure, so that what is listed stays as it is. */
enum { COMPILATIONS_MAX = 16 };

static enum pdnn_status compile(struct pdnn_outlined *outlined, const struct pdnn_open_backend *backend,
                                const struct pdnn_plan_options *options, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    bool is_settled = false;
    for (int i = 0; i < COMPILATIONS_MAX && !is_settled && status == PDNN_OK; i++) {
        uint64_t measured = count_measured(backend);
        pdnn_plan_destroy(&outlined->plan);
        status = pdnn_plan_outline(&outlined->plan, backend->def, backend->state, &outlined->model.graph,
                                   options, err);
        is_settled = count_measured(backend) == measured;
    }
    return status;
}

static enum pdnn_status open_model(struct pdnn_process *process, const struct pdnn_request *request,
                                   struct pdnn_err *err) {
    const struct pdnn_plan_options options = {.limit_bytes = request->memory_limit_bytes,
                                              .beside_bytes = pdnn_far_held_bytes(),
                                              .seed = request->seed,
                                              .allow_slow = request->allow_slow};
    const struct pdnn_open_backend *backend;
    struct pdnn_outlined *made = calloc(1, sizeof *made);
    uint64_t started_ns = pdnn_clock_ns();
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory");
    made->request = *request;
    enum pdnn_status status = pdnn_model_init(&made->model, process, request->id, err);
    if (status == PDNN_OK)
        status =
            pdnn_process_open(process, pdnn_backend_names[made->model.instance.setting[PDNN_SETTING_BACKEND]],
                              made->model.threads, request, &backend, err);
    if (status == PDNN_OK)
        status = compile(made, backend, &options, err);
    if (status == PDNN_OK) {
        uint64_t cache_bytes = request->cache_bytes
                                   ? request->cache_bytes
                                   : pdnn_far_reported_bytes(&process->host, made->model.threads);
        made->far_bytes = pdnn_reuse_far(cache_bytes);
        made->is_cold = made->model.instance.setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
        status = find_operators(made, err);
    }
    if (status != PDNN_OK) {
        destroy(made);
        return status;
    }
    made->prepare_ns = pdnn_clock_ns() - started_ns;
    process->outlined = made;
    return PDNN_OK;
}

/* The requested model, compiled. What it was compiled with must be the same; rules and probe may differ. */
static enum pdnn_status get_model(struct pdnn_process *process, const struct pdnn_request *request,
                                  struct pdnn_err *err) {
    const struct pdnn_request *open = process->outlined ? &process->outlined->request : NULL;
    if (open && strcmp(open->id, request->id) == 0 && open->seed == request->seed &&
        open->memory_limit_bytes == request->memory_limit_bytes &&
        open->cache_bytes == request->cache_bytes && open->allow_slow == request->allow_slow)
        return pdnn_process_instance(process, request->id, &process->outlined->model.instance, err);
    pdnn_operators_close(process);
    return open_model(process, request, err);
}

void pdnn_operators_list(struct pdnn_process *process, const struct pdnn_request *request,
                         struct pdnn_visit *visit, const struct pdnn_operator **operators, size_t *count) {
    struct pdnn_err err = {0};
    *visit = (struct pdnn_visit){0};
    *operators = NULL;
    *count = 0;
    enum pdnn_status status = get_model(process, request, &err);
    struct pdnn_outlined *outlined = process->outlined;
    if (status == PDNN_OK && !(visit->ops = malloc((outlined->rows.n_ops + 1) * sizeof *visit->ops)))
        status = pdnn_fail(&err, PDNN_NO_MEMORY, "out of memory for the rows of the operators");
    if (status != PDNN_OK) {
        pdnn_visit_fail(visit, &err);
        return;
    }
    visit->n_ops = outlined->rows.n_ops;
    memcpy(visit->ops, outlined->rows.ops, visit->n_ops * sizeof *visit->ops);
    visit->plan_bytes = outlined->plan.block_bytes;
    visit->prepare_ns = outlined->prepare_ns;
    visit->flags = outlined->plan.program.is_untried ? PDNN_FLAG_UNTRIED : 0;
    for (size_t i = 0; i < outlined->plan.program.n_steps; i++)
        visit->flags |= outlined->plan.program.steps[i].is_slow ? PDNN_FLAG_SLOW : 0;
    *operators = outlined->operators;
    *count = outlined->n_operators;
}

/* An excerpt being timed. Binding and whatever else precedes a run is not part of it: it is taken off the
 * clock.
 */
struct timed {
    struct pdnn_excerpt excerpt;
    uint64_t excluded_ns, clock_cost_ns;
    struct pdnn_err err;
};

static uint64_t net_clock(void *user) {
    return pdnn_clock_ns() - ((const struct timed *)user)->excluded_ns;
}

static int run_next(void *user) {
    struct timed *timed = user;
    uint64_t began_ns = pdnn_clock_ns();
    if (pdnn_excerpt_next(&timed->excerpt, &timed->err) != PDNN_OK)
        return (int)timed->err.status;
    timed->excluded_ns += pdnn_clock_ns() - began_ns + timed->clock_cost_ns;
    return pdnn_excerpt_run(&timed->excerpt);
}

/* Uses every copy once, so that the caches hold what they hold later; not for long. */
static int settle(struct timed *timed, uint64_t most_ns) {
    uint64_t began_ns = pdnn_clock_ns();
    int code = 0;
    for (uint64_t i = 0; i < timed->excerpt.cycle && !code && pdnn_clock_ns() - began_ns < most_ns; i++)
        code = run_next(timed);
    return code;
}

static enum pdnn_status measure(const struct pdnn_outlined *outlined, size_t step,
                                const struct pdnn_request *request, struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    struct timed timed = {.clock_cost_ns = pdnn_clock_read_cost_ns()};
    const struct pdnn_measure_target target = {.user = &timed, .step = run_next, .clock = net_clock};
    struct pdnn_reuse reuse[PDNN_STEP_SLOTS];
    pdnn_reuse_find(&outlined->plan, step, outlined->is_cold, outlined->far_bytes, reuse);
    enum pdnn_status status = pdnn_excerpt_create(&timed.excerpt, &outlined->plan, step, reuse,
                                                  request->memory_limit_bytes, request->seed, err);
    if (status != PDNN_OK)
        return status;
    visit->plan_bytes = timed.excerpt.block_bytes;
    int code = settle(&timed, request->rules.max_visit_ns / 4);
    status = code ? pdnn_fail(err, PDNN_INTERNAL, "the operator failed with code %d", code)
                  : pdnn_measure_visit(&target, &request->rules, visit, NULL, err);
    if (status != PDNN_OK && timed.err.status != PDNN_OK)
        status = pdnn_fail(err, timed.err.status, "%s", timed.err.text);
    pdnn_excerpt_destroy(&timed.excerpt);
    return status;
}

void pdnn_operator_measure(struct pdnn_process *process, const struct pdnn_operator_request *request,
                           struct pdnn_visit *visit) {
    struct pdnn_err err = {0};
    uint64_t started_ns = pdnn_clock_ns();
    *visit = (struct pdnn_visit){0};
    enum pdnn_status status = get_model(process, &request->request, &err);
    const struct pdnn_outlined *outlined = process->outlined;
    size_t at = 0;
    while (status == PDNN_OK && at < outlined->n_operators &&
           strcmp(outlined->operators[at].key, request->key) != 0)
        at++;
    if (status == PDNN_OK && at == outlined->n_operators)
        status = pdnn_fail(&err, PDNN_INVALID, "%s does not consist of the operator %s", request->request.id,
                           request->key);
    visit->prepare_ns = pdnn_clock_ns() - started_ns;
    if (status == PDNN_OK)
        status = measure(outlined, outlined->first[at], &request->request, visit, &err);
    if (status != PDNN_OK)
        pdnn_visit_fail(visit, &err);
}
