#include "runtime/worker/operators.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/backend/core_share.h"
#include "runtime/measure/evict.h"
#include "runtime/measure/window_times.h"
#include "runtime/plan/reuse.h"
#include "runtime/worker/call_rows.h"
#include "runtime/worker/visit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_compiled_model {
    struct pdnn_request request; /* the one that opened it */
    struct pdnn_model model;
    struct pdnn_plan plan; /* without memory */
    struct pdnn_call_rows rows;
    struct pdnn_reuse_caches caches;
    struct pdnn_far_memory *far; /* the process's, as the next */
    const struct pdnn_thread_team *team;
    bool is_cold;
    uint64_t prepare_ns;
    struct pdnn_operator *operators;
    uint32_t *first;       /* by operator: its first call */
    uint32_t *operator_of; /* by call */
    size_t n_operators;
};

static void destroy(struct pdnn_compiled_model *compiled) {
    if (!compiled)
        return;
    pdnn_call_rows_finish(&compiled->rows);
    pdnn_plan_destroy(&compiled->plan);
    pdnn_model_finish(&compiled->model);
    free(compiled->operators);
    free(compiled->first);
    free(compiled->operator_of);
    free(compiled);
}

void pdnn_operators_close(struct pdnn_process *process) {
    destroy(process->compiled);
    process->compiled = NULL;
}

/* " 2048b16@64KiB": one operand. */
static void add_operand(struct pdnn_str *key, const struct pdnn_plan *plan, const struct pdnn_call *call,
                        int operand, struct pdnn_reuse reuse) {
    const struct pdnn_slot *slot = &plan->program.slots[call->slot[operand]];
    pdnn_str_printf(key, " %" PRIu64, slot->bytes);
    if (slot->channel_block)
        pdnn_str_printf(key, "b%" PRId64, slot->channel_block);
    for (int k = 0; k < operand && slot->bytes; k++) {
        if (plan->offset[call->slot[k]] == plan->offset[call->slot[operand]] &&
            plan->program.slots[call->slot[k]].bytes) {
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

static void format_key(const struct pdnn_compiled_model *compiled, size_t index, struct pdnn_str *key) {
    const struct pdnn_plan *plan = &compiled->plan;
    const struct pdnn_call *call = &plan->program.calls[index];
    char platform[PDNN_CONDITION_TEXT];
    struct pdnn_reuse reuse[PDNN_CALL_SLOTS];
    pdnn_reuse_find(plan, index, compiled->is_cold, &compiled->caches, reuse);
    pdnn_str_clear(key);
    pdnn_str_printf(key, "%s %s [%s]", pdnn_instance_platform(&compiled->model.instance, platform),
                    compiled->rows.ops[compiled->rows.row_of[index]].key, call->implementation);
    for (int k = 0; k < call->n_slots; k++)
        add_operand(key, plan, call, k, reuse[k]);
}

static uint64_t bytes_of(const struct pdnn_program *program, const struct pdnn_call *call) {
    uint64_t sum = 0;
    for (int k = 0; k < call->n_slots; k++)
        sum += program->slots[call->slot[k]].bytes;
    return sum;
}

static enum pdnn_status add_call(struct pdnn_compiled_model *compiled, size_t index,
                                 const struct pdnn_str *key, struct pdnn_err *err) {
    const struct pdnn_program *program = &compiled->plan.program;
    uint32_t row = compiled->rows.row_of[index];
    size_t at = 0;
    if (key->length >= PDNN_OPERATOR_KEY_TEXT)
        return pdnn_fail(err, PDNN_INTERNAL, "too long for the key of an operator: %s", key->text);
    while (at < compiled->n_operators && (compiled->operators[at].op != row ||
                                          strcmp(compiled->operators[at].key, pdnn_str_text(key)) != 0))
        at++;
    struct pdnn_operator *found = &compiled->operators[at];
    if (at == compiled->n_operators) {
        compiled->n_operators++;
        compiled->first[at] = (uint32_t)index;
        *found = (struct pdnn_operator){.op = row, .bytes = bytes_of(program, &program->calls[index])};
        memcpy(found->key, key->text, key->length + 1);
    }
    found->runs++;
    compiled->operator_of[index] = (uint32_t)at;
    return PDNN_OK;
}

static enum pdnn_status find_operators(struct pdnn_compiled_model *compiled, struct pdnn_err *err) {
    size_t n_calls = compiled->plan.program.n_calls;
    struct pdnn_str key = {0};
    enum pdnn_status status = PDNN_OK;
    compiled->rows = pdnn_call_rows_of(&compiled->plan.program);
    compiled->operators = pdnn_alloc(n_calls, sizeof *compiled->operators);
    compiled->first = pdnn_alloc(n_calls, sizeof *compiled->first);
    compiled->operator_of = pdnn_alloc(n_calls, sizeof *compiled->operator_of);
    for (size_t i = 0; i < n_calls && status == PDNN_OK; i++) {
        format_key(compiled, i, &key);
        status = add_call(compiled, i, &key, err);
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

static enum pdnn_status compile(struct pdnn_compiled_model *compiled, const struct pdnn_open_backend *backend,
                                const struct pdnn_plan_options *options, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    bool is_settled = false;
    for (int i = 0; i < COMPILATIONS_MAX && !is_settled && status == PDNN_OK; i++) {
        uint64_t measured = count_measured(backend);
        pdnn_plan_destroy(&compiled->plan);
        status = pdnn_plan_outline(&compiled->plan, backend->def, backend->state, &compiled->model.graph,
                                   options, err);
        is_settled = count_measured(backend) == measured;
    }
    return status;
}

static enum pdnn_status open_model(struct pdnn_process *process, const struct pdnn_request *request,
                                   struct pdnn_err *err) {
    const struct pdnn_plan_options options = {.limit_bytes = request->memory_limit_bytes,
                                              .beside_bytes = pdnn_far_memory_bytes(&process->far),
                                              .seed = request->seed,
                                              .allow_slow = request->allow_slow};
    const struct pdnn_open_backend *backend;
    struct pdnn_compiled_model *made = pdnn_alloc(1, sizeof *made);
    uint64_t started_ns = pdnn_clock_ns();
    made->request = *request;
    made->far = &process->far;
    made->team = &process->team;
    enum pdnn_status status = pdnn_model_init(&made->model, process, request->id, err);
    if (status == PDNN_OK && made->model.instance.setting[PDNN_SETTING_DATA] != PDNN_DATA_RESIDENT)
        status = pdnn_fail(err, PDNN_UNSUPPORTED,
                           "how long a step waits for its data does not follow from operators: only with "
                           "data=resident");
    if (status == PDNN_OK && made->model.instance.setting[PDNN_SETTING_RANKS] > 1)
        status = pdnn_fail(err, PDNN_UNSUPPORTED, "operators are measured with ranks=1 only");
    if (status == PDNN_OK)
        status =
            pdnn_process_open(process, pdnn_backend_names[made->model.instance.setting[PDNN_SETTING_BACKEND]],
                              made->model.threads, request, &backend, err);
    if (status == PDNN_OK)
        status = compile(made, backend, &options, err);
    if (status == PDNN_OK) {
        uint64_t cache_bytes = request->cache_bytes
                                   ? request->cache_bytes
                                   : pdnn_host_last_cache_bytes(&process->host, made->model.threads);
        made->caches = (struct pdnn_reuse_caches){
            .core_bytes = pdnn_reuse_far(pdnn_host_cache_bytes(&process->host, made->model.threads, 1)) / 2,
            .far_bytes = pdnn_reuse_far(cache_bytes)};
        made->is_cold = made->model.instance.setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
        status = find_operators(made, err);
    }
    if (status != PDNN_OK) {
        destroy(made);
        return status;
    }
    made->prepare_ns = pdnn_clock_ns() - started_ns;
    process->compiled = made;
    return PDNN_OK;
}

/* The requested model, compiled. What it was compiled with must be the same; rules and probe may differ. */
static enum pdnn_status get_model(struct pdnn_process *process, const struct pdnn_request *request,
                                  struct pdnn_err *err) {
    const struct pdnn_request *open = process->compiled ? &process->compiled->request : NULL;
    if (open && strcmp(open->id, request->id) == 0 && open->seed == request->seed &&
        open->memory_limit_bytes == request->memory_limit_bytes &&
        open->cache_bytes == request->cache_bytes && open->allow_slow == request->allow_slow)
        return pdnn_process_instance(process, request->id, &process->compiled->model.instance, err);
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
    struct pdnn_compiled_model *compiled = process->compiled;
    if (status != PDNN_OK) {
        pdnn_visit_fail(visit, &err);
        return;
    }
    visit->n_ops = compiled->rows.n_ops;
    visit->ops = pdnn_alloc(visit->n_ops, sizeof *visit->ops);
    memcpy(visit->ops, compiled->rows.ops, visit->n_ops * sizeof *visit->ops);
    visit->plan_bytes = compiled->plan.block_bytes;
    visit->prepare_ns = compiled->prepare_ns;
    visit->flags = pdnn_program_flags(&compiled->plan.program);
    *operators = compiled->operators;
    *count = compiled->n_operators;
}

/* Steps [first, first + count) in the circle; those from `sure` on find the caches as in the model. */
struct stretch {
    size_t first, count, sure;
};

/* The operator's first call, after what fills the caches before it; and then, as long as they touch no more
 * than that again, those until the last one that is wanted too, for which the same calls serve. */
static struct stretch find_stretch(const struct pdnn_compiled_model *compiled, size_t asked,
                                   const struct pdnn_operator_request *request) {
    const struct pdnn_program *program = &compiled->plan.program;
    size_t call = compiled->first[asked], last = call;
    uint64_t more = 0;
    size_t sure =
        pdnn_call_window_before(&compiled->plan, call, compiled->caches.far_bytes, compiled->is_cold);
    for (size_t i = call + 1; i < program->n_calls; i++) {
        more += bytes_of(program, &program->calls[i]);
        if (more > compiled->caches.far_bytes)
            break;
        last = pdnn_operator_is_wanted(request, compiled->operator_of[i]) ? i : last;
    }
    size_t count = sure + 1 + (last - call);
    if (count >= program->n_calls && !compiled->is_cold)
        return (struct stretch){0, program->n_calls, 0};
    return (struct stretch){(call + program->n_calls - sure) % program->n_calls, count, sure};
}

/* Which part of the stretch each call is: one for each operator that is asked for or wanted. part_of: by
 * call of the stretch; times: by part, with room for all operators. */
static size_t number_parts(const struct pdnn_compiled_model *compiled, size_t asked,
                           const struct pdnn_operator_request *request, const struct stretch *stretch,
                           uint32_t *part_of, struct pdnn_operator_time *times) {
    size_t n_parts = 0, n_calls = compiled->plan.program.n_calls;
    for (size_t i = 0; i < stretch->count; i++) {
        uint32_t number = compiled->operator_of[(stretch->first + i) % n_calls];
        size_t part = 0;
        part_of[i] = PDNN_NONE;
        if (i < stretch->sure || (number != asked && !pdnn_operator_is_wanted(request, number)))
            continue;
        while (part < n_parts && times[part].number != number)
            part++;
        part_of[i] = (uint32_t)part;
        times[part].number = number;
        n_parts += part == n_parts;
    }
    return n_parts;
}

static void evict(void *user) {
    pdnn_evictor_run(user);
}

static enum pdnn_status time_stretch(const struct pdnn_compiled_model *compiled,
                                     const struct pdnn_operator_request *request,
                                     struct pdnn_call_window_target *target, struct pdnn_part_time *parts,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    const struct pdnn_dram_buffer far = {.threads = compiled->model.threads,
                                         .cache_bytes = compiled->caches.far_bytes / 2,
                                         .limit_bytes = request->request.memory_limit_bytes,
                                         .memory = compiled->far};
    struct pdnn_evictor evictor;
    if (compiled->is_cold && pdnn_evictor_init(&evictor, &far, err) != PDNN_OK)
        return err->status;
    target->evict = compiled->is_cold ? evict : NULL;
    target->user = &evictor;
    target->threads = pdnn_core_share_threads(compiled->model.threads);
    target->team = compiled->team;
    visit->plan_bytes = target->window->touched_bytes;
    return pdnn_call_window_measure(target, &request->request.rules, parts, visit, err);
}

static enum pdnn_status measure(const struct pdnn_compiled_model *compiled, size_t asked,
                                const struct pdnn_operator_request *request, struct pdnn_visit *visit,
                                struct pdnn_operator_time **times, size_t *n_times, struct pdnn_err *err) {
    const struct stretch stretch = find_stretch(compiled, asked, request);
    struct pdnn_call_window window;
    uint32_t *part_of = pdnn_alloc(stretch.count, sizeof *part_of);
    struct pdnn_part_time *parts = pdnn_alloc(compiled->n_operators, sizeof *parts);
    *times = pdnn_alloc(compiled->n_operators, sizeof **times);
    enum pdnn_status status =
        pdnn_call_window_create(&window, &compiled->plan, stretch.first, stretch.count,
                                request->request.memory_limit_bytes, request->request.seed, err);
    if (status == PDNN_OK) {
        struct pdnn_call_window_target target = {.window = &window, .part_of = part_of};
        target.n_parts = number_parts(compiled, asked, request, &stretch, part_of, *times);
        status = time_stretch(compiled, request, &target, parts, visit, err);
        *n_times = status == PDNN_OK ? target.n_parts : 0;
        for (size_t i = 0; i < *n_times; i++) {
            struct pdnn_operator_time *time = &(*times)[i];
            *time = (struct pdnn_operator_time){time->number, parts[i].ns, parts[i].min_ns, parts[i].mad_ns};
        }
        pdnn_call_window_destroy(&window);
    }
    free(part_of);
    free(parts);
    return status;
}

void pdnn_operator_measure(struct pdnn_process *process, const struct pdnn_operator_request *request,
                           struct pdnn_visit *visit, struct pdnn_operator_time **times, size_t *n_times) {
    struct pdnn_err err = {0};
    uint64_t started_ns = pdnn_clock_ns();
    *visit = (struct pdnn_visit){0};
    *times = NULL;
    *n_times = 0;
    enum pdnn_status status = get_model(process, &request->request, &err);
    const struct pdnn_compiled_model *compiled = process->compiled;
    size_t at = 0;
    while (status == PDNN_OK && at < compiled->n_operators &&
           strcmp(compiled->operators[at].key, request->key) != 0)
        at++;
    if (status == PDNN_OK && at == compiled->n_operators)
        status = pdnn_fail(&err, PDNN_INVALID, "%s does not consist of the operator %s", request->request.id,
                           request->key);
    visit->prepare_ns = pdnn_clock_ns() - started_ns;
    if (status == PDNN_OK)
        status = measure(compiled, at, request, visit, times, n_times, &err);
    if (status != PDNN_OK)
        pdnn_visit_fail(visit, &err);
}
