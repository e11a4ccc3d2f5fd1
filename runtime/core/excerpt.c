#include "runtime/core/excerpt.h"

#include "base/rng.h"
#include "models/memory.h"
#include "runtime/core/plan_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_FLOATS = 16, COPIES_MAX = 1 << 16 };

static const struct pdnn_step *step_of(const struct pdnn_excerpt *excerpt) {
    return &excerpt->plan->program.steps[excerpt->step];
}

static const struct pdnn_slot *slot_of(const struct pdnn_excerpt *excerpt, int operand) {
    return &excerpt->plan->program.slots[step_of(excerpt)->slot[operand]];
}

/* The part in the same memory as the operand, which is appended if there is none. */
static int find_part(struct pdnn_excerpt *excerpt, int operand, uint64_t *part_offset) {
    uint64_t offset = excerpt->plan->offset[step_of(excerpt)->slot[operand]];
    uint64_t bytes = slot_of(excerpt, operand)->bytes;
    int part = 0;
    while (part < excerpt->n_parts && !(bytes && part_offset[part] == offset && excerpt->part[part].bytes))
        part++;
    if (part == excerpt->n_parts) {
        excerpt->part[part] = (struct pdnn_excerpt_part){.copies = 1};
        part_offset[excerpt->n_parts++] = offset;
    }
    if (excerpt->part[part].bytes < bytes)
        excerpt->part[part].bytes = bytes;
    return part;
}

/* A part is as far as the farthest of its operands. A step that only it and its like run touches, between two
 * uses of one copy, the copies of all parts that are at least as far. */
static void count_copies(struct pdnn_excerpt *excerpt, const uint64_t *part_distance) {
    uint64_t all = 0;
    for (int i = 0; i < excerpt->n_parts; i++)
        all += excerpt->part[i].bytes;
    excerpt->cycle = 1;
    for (int i = 0; i < excerpt->n_parts; i++) {
        struct pdnn_excerpt_part *part = &excerpt->part[i];
        uint64_t per_run = 0, distance = part_distance[i];
        for (int k = 0; k < excerpt->n_parts; k++)
            per_run += part_distance[k] >= distance ? excerpt->part[k].bytes : 0;
        uint64_t copies = per_run ? (distance + per_run / 2) / per_run : 1;
        part->copies = copies < 1 ? 1 : copies > COPIES_MAX ? COPIES_MAX : copies;
        part->is_near = part->copies == 1 && distance < all / 2;
        excerpt->cycle = part->copies > excerpt->cycle ? part->copies : excerpt->cycle;
    }
}

static void place_parts(struct pdnn_excerpt *excerpt) {
    for (int i = 0; i < excerpt->n_parts; i++) {
        struct pdnn_excerpt_part *part = &excerpt->part[i];
        part->stride = (part->bytes + PDNN_MEMORY_ALIGN - 1) / PDNN_MEMORY_ALIGN * PDNN_MEMORY_ALIGN;
        part->at = excerpt->block_bytes;
        excerpt->block_bytes += part->copies * part->stride;
    }
}

static uint64_t largest_operand(const struct pdnn_excerpt *excerpt) {
    uint64_t largest = 0;
    for (int i = 0; i < excerpt->n_parts; i++)
        largest = excerpt->part[i].bytes > largest ? excerpt->part[i].bytes : largest;
    return largest;
}

/* The type of what a slot beyond the tensors holds is not known; these values are sane numbers as f32 and in
 * the graph's type, whichever it is. */
static enum pdnn_dtype dtype_of(const struct pdnn_graph *graph, uint32_t slot) {
    if (slot >= graph->n_tensors)
        return pdnn_dtype_is_half(graph->dtype) ? graph->dtype : PDNN_F32;
    return graph->tensors[slot].dtype;
}

static void fill_computed(const struct pdnn_excerpt *excerpt, uint32_t slot, uint64_t seed,
                          unsigned char *to) {
    enum pdnn_dtype dtype = dtype_of(excerpt->plan->graph, slot);
    uint64_t bytes = excerpt->plan->program.slots[slot].bytes, stream = pdnn_rng_at(seed, slot);
    bool is_float = dtype == PDNN_F32 || pdnn_dtype_is_half(dtype);
    int64_t count = is_float ? (int64_t)(bytes / pdnn_dtype_bytes(dtype)) : 0;
    memset(to, 0, bytes);
#pragma omp parallel for if (count > 65536)
    for (int64_t i = 0; i < count; i++) {
        double value = (double)(int32_t)(pdnn_rng_at(stream, (uint64_t)i) >> 40) * 0x1p-23 - 1;
        pdnn_dtype_store(dtype, to, i, value + 0x1p-24);
    }
}

static enum pdnn_status fill_resident(const struct pdnn_excerpt *excerpt, uint32_t tensor, uint64_t seed,
                                      unsigned char *to, struct pdnn_err *err) {
    const struct pdnn_plan *plan = excerpt->plan;
    const struct pdnn_tensor *what = &plan->graph->tensors[tensor];
    memset(to, 0, plan->program.slots[tensor].bytes);
    if (what->fill.kind == PDNN_FILL_ZERO)
        return PDNN_OK;
    if (pdnn_plan_is_plain(plan, tensor)) {
        pdnn_fill_tensor(plan->graph, tensor, seed, to);
        return PDNN_OK;
    }
    void *plain = malloc(pdnn_tensor_bytes(what));
    if (!plain)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the data of an operand");
    pdnn_fill_tensor(plan->graph, tensor, seed, plain);
    enum pdnn_status status = plan->backend->put(plan->state, &plan->program, tensor, plain, to, err);
    free(plain);
    return status;
}

static enum pdnn_status fill_part(const struct pdnn_excerpt *excerpt, int number, uint64_t seed,
                                  struct pdnn_err *err) {
    const struct pdnn_excerpt_part *part = &excerpt->part[number];
    const struct pdnn_graph *graph = excerpt->plan->graph;
    unsigned char *first = excerpt->block + part->at;
    enum pdnn_status status = PDNN_OK;
    for (int k = 0; k < step_of(excerpt)->n_slots && status == PDNN_OK; k++) {
        uint32_t slot = step_of(excerpt)->slot[k];
        bool is_resident = slot < graph->n_tensors && pdnn_role_is_resident(graph->tensors[slot].role);
        if (excerpt->part_of[k] != number || !slot_of(excerpt, k)->bytes)
            continue;
        if (is_resident)
            status = fill_resident(excerpt, slot, seed, first, err);
        else
            fill_computed(excerpt, slot, seed, first);
    }
#pragma omp parallel for if (part->copies * part->bytes > 1 << 20)
    for (uint64_t i = 1; i < part->copies; i++)
        memcpy(first + i * part->stride, first, part->bytes);
    return status;
}

enum pdnn_status pdnn_excerpt_create(struct pdnn_excerpt *excerpt, const struct pdnn_plan *plan, size_t step,
                                     const struct pdnn_reuse reuse[PDNN_STEP_SLOTS], uint64_t limit_bytes,
                                     uint64_t seed, struct pdnn_err *err) {
    struct pdnn_excerpt made = {.plan = plan, .step = step};
    uint64_t part_offset[PDNN_STEP_SLOTS], part_distance[PDNN_STEP_SLOTS] = {0};
    for (int k = 0; k < step_of(&made)->n_slots; k++) {
        int part = made.part_of[k] = find_part(&made, k, part_offset);
        part_distance[part] = reuse[k].bytes > part_distance[part] ? reuse[k].bytes : part_distance[part];
        made.part[part].is_written = made.part[part].is_written || reuse[k].is_written;
    }
    count_copies(&made, part_distance);
    place_parts(&made);
    if (limit_bytes && made.block_bytes + largest_operand(&made) > limit_bytes)
        return pdnn_fail(err, PDNN_TOO_BIG,
                         "measuring it alone needs %" PRIu64 " bytes, the limit is %" PRIu64,
                         made.block_bytes + largest_operand(&made), limit_bytes);
    made.memory = calloc(plan->program.n_slots + 1, sizeof *made.memory);
    enum pdnn_status status =
        made.memory ? pdnn_block_map(made.block_bytes, false, &made.block, err)
                    : pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the operands of a step");
    for (int i = 0; i < made.n_parts && status == PDNN_OK; i++)
        status = fill_part(&made, i, seed, err);
    if (status != PDNN_OK) {
        pdnn_excerpt_destroy(&made);
        return status;
    }
    *excerpt = made;
    return PDNN_OK;
}

void pdnn_excerpt_destroy(struct pdnn_excerpt *excerpt) {
    pdnn_block_unmap(excerpt->block, excerpt->block_bytes);
    free(excerpt->memory);
    *excerpt = (struct pdnn_excerpt){0};
}

/* Reads one value of each cache line, or writes it back as it is; the lines are divided among the threads as
 * kernels divide them. */
static void use(void *address, uint64_t bytes, bool is_written) {
    volatile float *value = address;
    int64_t lines = (int64_t)(bytes / sizeof *value / LINE_FLOATS);
#pragma omp parallel for schedule(static) if (bytes > 32 << 10)
    for (int64_t i = 0; i < lines; i++) {
        float one = value[i * LINE_FLOATS];
        if (is_written)
            value[i * LINE_FLOATS] = one;
    }
}

/* The uses between the last run and the next one that make the caches what they are in the model. */
static void use_others(const struct pdnn_excerpt *excerpt) {
    for (int i = 0; i < excerpt->n_parts; i++) {
        const struct pdnn_excerpt_part *part = &excerpt->part[i];
        uint64_t last = part->next ? part->next - 1 : part->copies - 1;
        if (part->is_near)
            use(excerpt->block + part->at, part->bytes, part->is_written);
        else if (part->is_written && excerpt->has_run)
            use(excerpt->block + part->at + last * part->stride, part->bytes, true);
    }
}

enum pdnn_status pdnn_excerpt_next(struct pdnn_excerpt *excerpt, struct pdnn_err *err) {
    const struct pdnn_step *step = step_of(excerpt);
    use_others(excerpt);
    excerpt->has_run = true;
    for (int k = 0; k < step->n_slots; k++) {
        const struct pdnn_excerpt_part *part = &excerpt->part[excerpt->part_of[k]];
        excerpt->memory[step->slot[k]] = excerpt->block + part->at + part->next * part->stride;
    }
    for (int i = 0; i < excerpt->n_parts; i++) {
        struct pdnn_excerpt_part *part = &excerpt->part[i];
        part->next = part->next + 1 < part->copies ? part->next + 1 : 0;
    }
    return step->work.bind(step->work.state, excerpt->memory, err);
}

int pdnn_excerpt_run(const struct pdnn_excerpt *excerpt) {
    const struct pdnn_work *work = &step_of(excerpt)->work;
    return work->run(work->state);
}
