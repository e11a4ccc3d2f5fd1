#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "runtime/plan/plan.h"

#include "models/cost/packing.h"
#include "models/op.h"
#include "models/sharing.h"
#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

bool pdnn_plan_is_shared(const struct pdnn_plan *plan, size_t slot) {
    return slot < plan->graph->n_tensors && pdnn_role_is_shared(plan->graph->tensors[slot].role);
}

static int use_call(const void *user, uint32_t index, uint32_t buffer[PDNN_USE_BUFFERS]) {
    const struct pdnn_call *call = &((const struct pdnn_plan *)user)->program.calls[index];
    memcpy(buffer, call->slot, (size_t)call->n_slots * sizeof *call->slot);
    return call->n_slots;
}

static uint32_t inherit_call(const void *user, uint32_t index, struct pdnn_heritage *heritage) {
    const struct pdnn_plan *plan = user;
    const struct pdnn_call *call = &plan->program.calls[index];
    if (call->node == PDNN_NONE)
        return PDNN_NONE;
    const struct pdnn_node *node = &plan->graph->nodes[call->node];
    *heritage = pdnn_memory_heritage(plan->graph, node);
    heritage->is_view = call->is_view;
    if (!call->is_view && pdnn_memory_is_view(plan->graph, node))
        heritage->input = PDNN_NONE;
    if (!call->sums_in_place)
        heritage->summand = PDNN_NONE;
    return node->output[0];
}

_Static_assert((int)PDNN_CALL_SLOTS <= (int)PDNN_USE_BUFFERS, "a use holds the slots of a call");

/* Lifetimes of slots from the calls that touch them. */
static struct pdnn_lifetime *find_lifetimes(struct pdnn_plan *plan) {
    struct pdnn_program *program = &plan->program;
    struct pdnn_lifetime *all = pdnn_arena_alloc(&program->arena, program->n_slots, sizeof *all);
    for (size_t i = 0; i < program->n_slots; i++) {
        bool is_kept = program->slots[i].resident || program->keep_all;
        all[i].bytes = program->slots[i].bytes;
        all[i].last = is_kept ? UINT32_MAX : 0;
        all[i].leads = is_kept && pdnn_plan_is_shared(plan, i);
    }
    bool has_views = false;
    for (size_t i = 0; i < program->n_calls; i++)
        has_views |= program->calls[i].is_view;
    const struct pdnn_use_list list = {.n_buffers = program->n_slots,
                                       .n_calls = program->n_calls,
                                       .kept = {plan->graph->loss, plan->graph->result},
                                       .has_views = has_views,
                                       .use = use_call,
                                       .inherit = inherit_call,
                                       .user = plan};
    pdnn_lifetimes_find(&list, all);
    return all;
}

/* Huge pages, so that TLB misses do not show up in the ops we measure. */
enum pdnn_status pdnn_block_map(uint64_t bytes, bool is_reserve, unsigned char **block,
                                struct pdnn_err *err) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (is_reserve ? MAP_NORESERVE : 0);
    *block = NULL;
    if (!bytes)
        return PDNN_OK;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        return pdnn_fail(err, PDNN_NO_MEMORY, "cannot allocate the %" PRIu64 " bytes of the plan", bytes);
    if (bytes >= HUGE_PAGE_BYTES)
        madvise(memory, bytes, MADV_HUGEPAGE);
    *block = memory;
    return PDNN_OK;
}

void pdnn_block_unmap(unsigned char *block, uint64_t bytes) {
    if (block)
        munmap(block, bytes);
}

static enum pdnn_status pack(struct pdnn_plan *plan, struct pdnn_err *err) {
    struct pdnn_program *program = &plan->program;
    struct pdnn_lifetime *lifetimes = find_lifetimes(plan);
    enum pdnn_status status =
        pdnn_memory_pack(lifetimes, program->n_slots, &program->arena, &plan->block_bytes, err);
    if (status != PDNN_OK)
        return status;
    plan->offset = pdnn_arena_alloc(&program->arena, program->n_slots, sizeof *plan->offset);
    plan->memory = pdnn_arena_alloc(&program->arena, program->n_slots, sizeof *plan->memory);
    for (size_t i = 0; i < program->n_slots; i++)
        plan->offset[i] = lifetimes[i].offset;
    return PDNN_OK;
}

static enum pdnn_status compile_and_pack(struct pdnn_plan *plan, struct pdnn_err *err) {
    enum pdnn_status status = plan->backend->compile(plan->state, plan->graph, &plan->program, err);
    return status == PDNN_OK ? pack(plan, err) : status;
}

enum pdnn_status pdnn_plan_compile(struct pdnn_plan *plan, struct pdnn_err *err) {
    if (plan->graph->unsupported)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "%s", plan->graph->unsupported);
    const struct pdnn_program asked = plan->program;
    enum pdnn_status status = compile_and_pack(plan, err);
    if (status != PDNN_OK || !plan->program.could_spare ||
        plan->block_bytes + pdnn_plan_moved_bytes(plan) <= asked.trial_bytes)
        return status;
    pdnn_program_finish(&plan->program);
    pdnn_program_init(&plan->program, plan->graph);
    plan->program.keep_all = asked.keep_all;
    plan->program.keeps_plain = asked.keeps_plain;
    plan->program.allow_slow = asked.allow_slow;
    plan->program.trial_bytes = asked.trial_bytes;
    plan->program.opens_weights = asked.opens_weights;
    plan->program.like = asked.like;
    plan->program.spares_memory = true;
    return compile_and_pack(plan, err);
}

void pdnn_plan_bind(struct pdnn_plan *plan, unsigned char *memory) {
    for (size_t i = 0; i < plan->program.n_slots; i++)
        plan->memory[i] = memory + plan->offset[i];
    pdnn_program_bind(&plan->program, plan->memory);
}

/* Zero-filled tensors are skipped: fresh pages are zero, and should first be touched by the thread
 * that uses them. */
static bool needs_data(const struct pdnn_plan *plan, uint32_t tensor, bool is_shared) {
    const struct pdnn_tensor *t = &plan->graph->tensors[tensor];
    return pdnn_role_is_resident(t->role) && t->fill.kind != PDNN_FILL_ZERO &&
           pdnn_plan_is_shared(plan, tensor) == is_shared;
}

bool pdnn_plan_is_plain(const struct pdnn_plan *plan, uint32_t tensor) {
    const struct pdnn_backend_def *backend = plan->backend;
    return backend->is_plain ? backend->is_plain(&plan->program, tensor) : !backend->put;
}

/* The result, the loss and trained weights are looked at after the last step. */
static bool is_read(const struct pdnn_graph *graph, uint32_t tensor) {
    return tensor == graph->result || tensor == graph->loss ||
           (graph->loss != PDNN_NONE && graph->tensors[tensor].role == PDNN_ROLE_WEIGHT);
}

uint64_t pdnn_plan_moved_bytes(const struct pdnn_plan *plan) {
    const struct pdnn_graph *graph = plan->graph;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        bool is_touched = needs_data(plan, i, true) || needs_data(plan, i, false) || is_read(graph, i);
        uint64_t bytes =
            is_touched && !pdnn_plan_is_plain(plan, i) ? pdnn_tensor_bytes(&graph->tensors[i]) : 0;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

enum pdnn_status pdnn_plan_fill_tensor(const struct pdnn_plan *plan, uint32_t tensor,
                                       const struct pdnn_fill_source *source, void *buffer, void *to,
                                       struct pdnn_err *err) {
    bool is_plain = pdnn_plan_is_plain(plan, tensor);
    pdnn_fill_tensor(plan->graph, tensor, source, is_plain ? to : buffer);
    return is_plain ? PDNN_OK : plan->backend->put(plan->state, &plan->program, tensor, buffer, to, err);
}

enum pdnn_status pdnn_plan_fill(struct pdnn_plan *plan, bool is_shared, const struct pdnn_fill_source *source,
                                struct pdnn_err *err) {
    const uint64_t bytes = pdnn_plan_moved_bytes(plan);
    void *buffer = pdnn_ask(bytes, "to make data in", err);
    if (!buffer)
        return PDNN_NO_MEMORY;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < plan->graph->n_tensors; i++) {
        if (needs_data(plan, i, is_shared))
            status = pdnn_plan_fill_tensor(plan, i, source, buffer, plan->memory[i], err);
    }
    free(buffer);
    return status;
}

uint64_t pdnn_plan_room(const struct pdnn_plan_options *options) {
    uint64_t limit = options->limit_bytes, beside = options->beside_bytes;
    if (!limit)
        return UINT64_MAX;
    return limit > beside ? limit - beside : 0;
}

enum pdnn_status pdnn_plan_check(const struct pdnn_plan *plan, const struct pdnn_plan_options *options,
                                 struct pdnn_err *err) {
    uint64_t limit = options->limit_bytes, beside = options->beside_bytes;
    uint64_t need = plan->block_bytes + pdnn_plan_moved_bytes(plan);
    if (need <= pdnn_plan_room(options))
        return PDNN_OK;
    if (need > limit || !beside)
        return pdnn_fail(err, PDNN_TOO_BIG, "needs %" PRIu64 " bytes, the limit is %" PRIu64, need, limit);
    return pdnn_fail(err, PDNN_TOO_BIG,
                     "needs %" PRIu64 " bytes beside the %" PRIu64 " that evict caches and probe, "
                     "the limit is %" PRIu64,
                     need, beside, limit);
}

enum pdnn_status pdnn_plan_outline(struct pdnn_plan *plan, const struct pdnn_backend_def *backend,
                                   void *state, const struct pdnn_graph *graph,
                                   const struct pdnn_plan_options *options, struct pdnn_err *err) {
    struct pdnn_plan made = {
        .backend = backend, .state = state, .graph = graph, .between_calls = options->between_calls};
    pdnn_program_init(&made.program, graph);
    made.program.keep_all = options->keep_all;
    made.program.allow_slow = options->allow_slow;
    made.program.trial_bytes = pdnn_plan_room(options);
    enum pdnn_status status = pdnn_plan_compile(&made, err);
    if (status == PDNN_OK)
        status = pdnn_plan_check(&made, options, err);
    if (status != PDNN_OK) {
        pdnn_plan_destroy(&made);
        return status;
    }
    *plan = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_plan_create(struct pdnn_plan *plan, const struct pdnn_backend_def *backend, void *state,
                                  const struct pdnn_graph *graph, const struct pdnn_plan_options *options,
                                  struct pdnn_err *err) {
    const struct pdnn_fill_source source = {.seed = options->seed, .rank = options->rank};
    struct pdnn_plan made;
    enum pdnn_status status = pdnn_plan_outline(&made, backend, state, graph, options, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_block_map(made.block_bytes, false, &made.block, err);
    if (status == PDNN_OK)
        pdnn_plan_bind(&made, made.block);
    if (status == PDNN_OK)
        status = pdnn_plan_fill(&made, true, &source, err);
    if (status == PDNN_OK)
        status = pdnn_plan_fill(&made, false, &source, err);
    if (status != PDNN_OK) {
        pdnn_plan_destroy(&made);
        return status;
    }
    *plan = made;
    return PDNN_OK;
}

void pdnn_plan_destroy(struct pdnn_plan *plan) {
    pdnn_block_unmap(plan->block, plan->block_bytes);
    pdnn_program_finish(&plan->program);
    *plan = (struct pdnn_plan){0};
}

/* after: NULL, or called after each call of the program, with its number. */
static inline int run(const struct pdnn_plan *plan, void (*after)(void *user, size_t call), void *user) {
    for (size_t i = 0; i < plan->program.n_calls; i++) {
        const struct pdnn_work *work = &plan->program.calls[i].work;
        int code = work->run(work->state);
        if (!code && plan->between_calls)
            code = plan->between_calls();
        if (code)
            return code;
        if (after)
            after(user, i);
    }
    return 0;
}

int pdnn_plan_run(const struct pdnn_plan *plan) {
    return run(plan, NULL, NULL);
}

int pdnn_plan_run_watched(const struct pdnn_plan *plan, void (*after)(void *user, size_t call), void *user) {
    return run(plan, after, user);
}

struct stamps {
    uint64_t before, clock_cost_ns, *ns;
};

static inline void stamp(void *user, size_t call) {
    struct stamps *stamps = user;
    uint64_t after = pdnn_clock_ns();
    stamps->ns[call] += pdnn_clock_net_ns(after - stamps->before, stamps->clock_cost_ns);
    stamps->before = after;
}

int pdnn_plan_run_stamped(const struct pdnn_plan *plan, uint64_t clock_cost_ns, uint64_t *ns) {
    struct stamps stamps = {pdnn_clock_ns(), clock_cost_ns, ns};
    return run(plan, stamp, &stamps);
}

bool pdnn_plan_has(const struct pdnn_plan *plan, uint32_t tensor) {
    return plan->program.slots[tensor].bytes > 0;
}

enum pdnn_status pdnn_plan_get(const struct pdnn_plan *plan, uint32_t tensor, void *plain,
                               struct pdnn_err *err) {
    if (plan->backend->get)
        return plan->backend->get(plan->state, &plan->program, tensor, plan->memory[tensor], plain, err);
    memcpy(plain, plan->memory[tensor], pdnn_tensor_bytes(&plan->graph->tensors[tensor]));
    return PDNN_OK;
}

enum pdnn_status pdnn_plan_put(const struct pdnn_plan *plan, uint32_t tensor, const void *plain,
                               struct pdnn_err *err) {
    const struct pdnn_tensor *t = &plan->graph->tensors[tensor];
    enum pdnn_status status = PDNN_OK;
    if (plan->backend->put)
        status = plan->backend->put(plan->state, &plan->program, tensor, plain, plan->memory[tensor], err);
    else
        memcpy(plan->memory[tensor], plain, pdnn_tensor_bytes(t));
    /* Calls may keep what they made of weights. */
    if (status == PDNN_OK && pdnn_role_is_weight(t->role))
        pdnn_program_bind(&plan->program, plan->memory);
    return status;
}
