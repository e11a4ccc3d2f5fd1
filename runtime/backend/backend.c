#include "runtime/backend/backend.h"

#include "models/cost/lifetimes.h"
#include "models/op.h"

#include <string.h>

enum pdnn_status pdnn_program_init(struct pdnn_program *program, const struct pdnn_graph *graph,
                                   struct pdnn_err *err) {
    *program = (struct pdnn_program){.graph = graph, .trial_bytes = UINT64_MAX};
    pdnn_arena_init(&program->arena);
    enum pdnn_status status = pdnn_users_init(&program->users, graph, &program->arena, err);
    for (size_t i = 0; i < graph->n_tensors && status == PDNN_OK; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[i];
        uint32_t slot;
        status = pdnn_program_slot(program, pdnn_tensor_bytes(tensor), pdnn_role_is_resident(tensor->role),
                                   &slot, err);
    }
    if (status != PDNN_OK)
        pdnn_program_finish(program);
    return status;
}

void pdnn_program_finish(struct pdnn_program *program) {
    for (size_t i = 0; i < program->n_steps; i++) {
        if (program->steps[i].work.destroy)
            program->steps[i].work.destroy(program->steps[i].work.state);
    }
    if (program->release)
        program->release(program->layouts);
    pdnn_arena_finish(&program->arena);
    *program = (struct pdnn_program){0};
}

/* Makes room for one more entry in a table of the program's arena. An outgrown table stays in the arena. */
static void *with_room(struct pdnn_arena *arena, void *table, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return table;
    size_t wanted = *room ? *room * 2 : 64;
    void *larger = pdnn_arena_alloc(arena, wanted, size);
    if (larger && count)
        memcpy(larger, table, count * size);
    if (larger)
        *room = wanted;
    return larger;
}

enum pdnn_status pdnn_program_slot(struct pdnn_program *program, uint64_t bytes, bool resident,
                                   uint32_t *slot, struct pdnn_err *err) {
    struct pdnn_slot *slots = with_room(&program->arena, program->slots, program->n_slots,
                                        &program->slot_room, sizeof *program->slots);
    if (!slots)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a program of %zu slots", program->n_slots);
    program->slots = slots;
    slots[program->n_slots] = (struct pdnn_slot){.bytes = bytes, .resident = resident};
    *slot = (uint32_t)program->n_slots++;
    return PDNN_OK;
}

enum pdnn_status pdnn_program_step(struct pdnn_program *program, const struct pdnn_step *step,
                                   struct pdnn_err *err) {
    struct pdnn_step *steps = with_room(&program->arena, program->steps, program->n_steps,
                                        &program->step_room, sizeof *program->steps);
    if (!steps)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a program of %zu steps", program->n_steps);
    program->steps = steps;
    steps[program->n_steps++] = *step;
    return PDNN_OK;
}

enum pdnn_status pdnn_program_bind(const struct pdnn_program *program, void *const *memory,
                                   struct pdnn_err *err) {
    for (size_t i = 0; i < program->n_steps; i++) {
        const struct pdnn_work *work = &program->steps[i].work;
        if (work->bind(work->state, memory, err) != PDNN_OK)
            return pdnn_wrap(err, "%s", program->steps[i].implementation);
    }
    return PDNN_OK;
}

static bool reads(const struct pdnn_node *node, uint32_t tensor) {
    for (int i = 0; i < node->n_inputs; i++) {
        if (node->input[i] == tensor)
            return true;
    }
    for (int i = 0; i < node->n_posts; i++) {
        if (node->posts[i].input == tensor)
            return true;
    }
    return false;
}

bool pdnn_program_takes_over(const struct pdnn_program *program, uint32_t node, uint32_t tensor) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_slot *from = &program->slots[tensor],
                           *to = &program->slots[graph->nodes[node].output[0]];
    const struct pdnn_heritage heritage = pdnn_memory_heritage(graph, &graph->nodes[node]);
    if (program->keep_all || heritage.input != PDNN_NONE || heritage.summand != tensor || from->resident ||
        from->bytes != to->bytes || tensor == graph->loss || tensor == graph->result)
        return false;
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, tensor);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        if (*user > node && reads(&graph->nodes[*user], tensor))
            return false;
    }
    return true;
}

unsigned pdnn_program_flags(const struct pdnn_program *program) {
    unsigned flags = program->is_untried ? PDNN_FLAG_UNTRIED : 0;
    for (size_t i = 0; i < program->n_steps; i++)
        flags |= (program->steps[i].is_reference ? PDNN_FLAG_REF : 0) |
                 (program->steps[i].is_slow ? PDNN_FLAG_SLOW : 0);
    return flags;
}
