#include "runtime/plan/call_window.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "models/cost/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 4096, PARALLEL_BYTES = 1 << 20 };

/* So that sums and products of what is seeded stay within any type for as long as it runs. */
static const double seeded_scale = 0x1p-5;

/* Memory of the block that calls touch, in granules. */
struct touched {
    unsigned char *is_touched;
    uint64_t bytes;
};

static void touch(struct touched *touched, const struct pdnn_plan *plan, const struct pdnn_call *call) {
    for (int k = 0; k < call->n_slots; k++) {
        uint64_t bytes = plan->program.slots[call->slot[k]].bytes, offset = plan->offset[call->slot[k]];
        for (uint64_t i = offset / GRANULE; bytes && i <= (offset + bytes - 1) / GRANULE; i++) {
            touched->bytes += touched->is_touched[i] ? 0 : GRANULE;
            touched->is_touched[i] = 1;
        }
    }
}

static struct touched nothing_touched(const struct pdnn_plan *plan) {
    return (struct touched){pdnn_alloc(plan->block_bytes / GRANULE + 1, 1), 0};
}

size_t pdnn_call_window_before(const struct pdnn_plan *plan, size_t call, uint64_t bytes, bool is_cold) {
    size_t n_calls = plan->program.n_calls, most = is_cold ? call : n_calls - 1, count = 0;
    struct touched touched = nothing_touched(plan);
    for (; count < most && touched.bytes < bytes; count++)
        touch(&touched, plan, &plan->program.calls[(call + n_calls - 1 - count) % n_calls]);
    free(touched.is_touched);
    return count;
}

static const struct pdnn_call *call_at(const struct pdnn_call_window *window, size_t i) {
    return &window->plan->program.calls[(window->first + i) % window->plan->program.n_calls];
}

static bool is_resident(const struct pdnn_plan *plan, uint32_t slot) {
    return plan->program.slots[slot].resident ||
           (slot < plan->graph->n_tensors && pdnn_role_is_resident(plan->graph->tensors[slot].role));
}

/* What the stretch does with each slot. */
enum use { USE_NONE, USE_FIRST_HERE, USE_RESIDENT, USE_COMPUTED_BEFORE };

/* By slot. The call that touches a slot first computes it. */
static enum use *find_uses(const struct pdnn_call_window *window) {
    const struct pdnn_program *program = &window->plan->program;
    uint32_t *computes = pdnn_alloc(program->n_slots, sizeof *computes);
    enum use *use = pdnn_alloc(program->n_slots, sizeof *use);
    for (size_t i = program->n_calls; i-- > 0;)
        for (int k = 0; k < program->calls[i].n_slots; k++)
            computes[program->calls[i].slot[k]] = (uint32_t)i;
    for (size_t i = 0; i < window->count; i++) {
        const struct pdnn_call *call = call_at(window, i);
        for (int k = 0; k < call->n_slots; k++) {
            uint32_t slot = call->slot[k];
            if (use[slot] != USE_NONE || !program->slots[slot].bytes)
                continue;
            bool is_first = &program->calls[computes[slot]] == call;
            use[slot] = is_resident(window->plan, slot) ? USE_RESIDENT
                        : is_first                      ? USE_FIRST_HERE
                                                        : USE_COMPUTED_BEFORE;
        }
    }
    free(computes);
    return use;
}

/* The type of what a slot beyond the tensors holds is not known; these values are sane numbers as f32 and in
 * the graph's type, whichever it is. */
static enum pdnn_dtype dtype_of(const struct pdnn_graph *graph, uint32_t slot) {
    if (slot >= graph->n_tensors)
        return pdnn_dtype_is_half(graph->dtype) ? graph->dtype : PDNN_F32;
    return graph->tensors[slot].dtype;
}

static void fill_computed(const struct pdnn_call_window *window, uint32_t slot, uint64_t seed) {
    unsigned char *to = window->memory[slot];
    enum pdnn_dtype dtype = dtype_of(window->plan->graph, slot);
    uint64_t bytes = window->plan->program.slots[slot].bytes, stream = pdnn_rng_at(seed, slot);
    bool is_float = dtype == PDNN_F32 || pdnn_dtype_is_half(dtype);
    int64_t count = is_float ? (int64_t)(bytes / pdnn_dtype_bytes(dtype)) : 0;
    memset(to, 0, bytes);
#pragma omp parallel for if (count > 65536)
    for (int64_t i = 0; i < count; i++) {
        double value = (double)(int32_t)(pdnn_rng_at(stream, (uint64_t)i) >> 40) * 0x1p-23 - 1;
        pdnn_dtype_store(dtype, to, i, (value + 0x1p-24) * seeded_scale);
    }
}

/* buffer: as large as pdnn_plan_moved_bytes says. */
static enum pdnn_status fill_resident(const struct pdnn_call_window *window, uint32_t tensor, uint64_t seed,
                                      void *buffer, struct pdnn_err *err) {
    const struct pdnn_plan *plan = window->plan;
    const struct pdnn_fill_source source = {.seed = seed};
    if (tensor >= plan->graph->n_tensors || plan->graph->tensors[tensor].fill.kind == PDNN_FILL_ZERO)
        return PDNN_OK; /* fresh pages are zero */
    return pdnn_plan_fill_tensor(plan, tensor, &source, buffer, window->memory[tensor], err);
}

static enum pdnn_status fill(const struct pdnn_call_window *window, const enum use *use, uint64_t seed,
                             struct pdnn_err *err) {
    void *buffer = pdnn_ask(pdnn_plan_moved_bytes(window->plan), "to make data in", err);
    enum pdnn_status status = buffer ? PDNN_OK : PDNN_NO_MEMORY;
    for (uint32_t i = 0; i < window->plan->program.n_slots && status == PDNN_OK; i++) {
        if (use[i] == USE_RESIDENT)
            status = fill_resident(window, i, seed, buffer, err);
        else if (use[i] == USE_COMPUTED_BEFORE)
            fill_computed(window, i, seed);
    }
    free(buffer);
    return status;
}

/* Whether something that the stretch computes lies in the slot's memory. */
static bool is_overwritten(const struct pdnn_plan *plan, const enum use *use, uint32_t slot) {
    uint64_t begin = plan->offset[slot], end = begin + plan->program.slots[slot].bytes;
    for (uint32_t i = 0; i < plan->program.n_slots; i++)
        if (use[i] == USE_FIRST_HERE && plan->offset[i] < end &&
            plan->offset[i] + plan->program.slots[i].bytes > begin)
            return true;
    return false;
}

/* All calls follow themselves: each finds what the others left. */
static bool is_whole(const struct pdnn_call_window *window) {
    return window->count == window->plan->program.n_calls;
}

static void find_restored(struct pdnn_call_window *window, const enum use *use) {
    const struct pdnn_plan *plan = window->plan;
    window->restored = pdnn_alloc(plan->program.n_slots, sizeof *window->restored);
    for (uint32_t i = 0; i < plan->program.n_slots && !is_whole(window); i++) {
        if (use[i] != USE_COMPUTED_BEFORE || !is_overwritten(plan, use, i))
            continue;
        uint64_t bytes = plan->program.slots[i].bytes;
        window->restored[window->n_restored++] =
            (struct pdnn_call_window_restored){plan->offset[i], bytes, window->copies_bytes};
        window->copies_bytes += (bytes + PDNN_MEMORY_ALIGN - 1) / PDNN_MEMORY_ALIGN * PDNN_MEMORY_ALIGN;
    }
}

static enum pdnn_status check_limit(struct pdnn_call_window *window, uint64_t limit_bytes,
                                    struct pdnn_err *err) {
    const struct pdnn_plan *plan = window->plan;
    struct touched touched = nothing_touched(plan);
    for (size_t i = 0; i < window->count; i++)
        touch(&touched, plan, call_at(window, i));
    free(touched.is_touched);
    window->touched_bytes = touched.bytes + window->copies_bytes;
    const uint64_t need = window->touched_bytes + pdnn_plan_moved_bytes(plan);
    if (limit_bytes && need > limit_bytes)
        return pdnn_fail(err, PDNN_TOO_BIG,
                         "measuring it with what runs before it needs %" PRIu64
                         " bytes, the limit is %" PRIu64,
                         need, limit_bytes);
    return PDNN_OK;
}

static void bind(const struct pdnn_call_window *window) {
    const struct pdnn_plan *plan = window->plan;
    for (size_t i = 0; i < plan->program.n_slots; i++)
        window->memory[i] = window->block + plan->offset[i];
    for (size_t i = 0; i < window->count; i++) {
        const struct pdnn_work *work = &call_at(window, i)->work;
        work->bind(work->state, window->memory);
    }
}

static void copy(unsigned char *to, const unsigned char *from, uint64_t bytes) {
    const int64_t piece = PARALLEL_BYTES / 8, pieces = (int64_t)bytes / piece;
#pragma omp parallel for if (bytes > PARALLEL_BYTES)
    for (int64_t i = 0; i < pieces; i++)
        memcpy(to + i * piece, from + i * piece, (size_t)piece);
    memcpy(to + pieces * piece, from + pieces * piece, bytes - (uint64_t)(pieces * piece));
}

static enum pdnn_status allocate(struct pdnn_call_window *window, struct pdnn_err *err) {
    const struct pdnn_plan *plan = window->plan;
    window->memory = pdnn_alloc(plan->program.n_slots, sizeof *window->memory);
    enum pdnn_status status = pdnn_block_map(plan->block_bytes, true, &window->block, err);
    if (status == PDNN_OK)
        status = pdnn_block_map(window->copies_bytes, false, &window->copies, err);
    return status;
}

enum pdnn_status pdnn_call_window_create(struct pdnn_call_window *window, const struct pdnn_plan *plan,
                                         size_t first, size_t count, uint64_t limit_bytes, uint64_t seed,
                                         struct pdnn_err *err) {
    struct pdnn_call_window made = {.plan = plan, .first = first, .count = count};
    enum use *use = find_uses(&made);
    find_restored(&made, use);
    enum pdnn_status status = check_limit(&made, limit_bytes, err);
    if (status == PDNN_OK)
        status = allocate(&made, err);
    if (status == PDNN_OK) {
        bind(&made);
        status = fill(&made, use, seed, err);
    }
    free(use);
    if (status != PDNN_OK) {
        pdnn_call_window_destroy(&made);
        return status;
    }
    for (size_t i = 0; i < made.n_restored; i++)
        copy(made.copies + made.restored[i].at, made.block + made.restored[i].offset, made.restored[i].bytes);
    *window = made;
    return PDNN_OK;
}

void pdnn_call_window_destroy(struct pdnn_call_window *window) {
    pdnn_block_unmap(window->block, window->plan ? window->plan->block_bytes : 0);
    pdnn_block_unmap(window->copies, window->copies_bytes);
    free(window->restored);
    free(window->memory);
    *window = (struct pdnn_call_window){0};
}

void pdnn_call_window_restore(const struct pdnn_call_window *window) {
    for (size_t i = 0; i < window->n_restored; i++)
        copy(window->block + window->restored[i].offset, window->copies + window->restored[i].at,
             window->restored[i].bytes);
}

int pdnn_call_window_run(const struct pdnn_call_window *window, uint64_t clock_cost_ns, uint64_t *ns) {
    uint64_t before = pdnn_clock_ns();
    for (size_t i = 0; i < window->count; i++) {
        const struct pdnn_work *work = &call_at(window, i)->work;
        int code = work->run(work->state);
        if (code)
            return code;
        uint64_t after = pdnn_clock_ns();
        ns[i] = pdnn_clock_net_ns(after - before, clock_cost_ns);
        before = after;
    }
    return 0;
}
