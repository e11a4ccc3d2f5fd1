#include "runtime/backend/backend.h"

#include "models/cost/lifetimes.h"
#include "models/op.h"

struct pdnn_call_options pdnn_call_options(const struct pdnn_host *host, int64_t threads,
                                           uint64_t measured_bytes) {
    uint64_t reported = pdnn_host_last_cache_bytes(host, threads);
    return (struct pdnn_call_options){threads, measured_bytes ? measured_bytes : reported, reported};
}

void pdnn_program_init(struct pdnn_program *program, const struct pdnn_graph *graph) {
    *program = (struct pdnn_program){.graph = graph, .trial_bytes = UINT64_MAX};
    pdnn_users_init(&program->users, graph, &program->arena);
    for (size_t i = 0; i < graph->n_tensors; i++)
        pdnn_program_slot(program, pdnn_tensor_bytes(&graph->tensors[i]),
                          pdnn_role_is_resident(graph->tensors[i].role));
}

void pdnn_program_finish(struct pdnn_program *program) {
    for (size_t i = 0; i < program->n_calls; i++) {
        if (program->calls[i].work.destroy)
            program->calls[i].work.destroy(program->calls[i].work.state);
    }
    if (program->release)
        program->release(program->layouts);
    pdnn_arena_finish(&program->arena);
    *program = (struct pdnn_program){0};
}

uint32_t pdnn_program_slot(struct pdnn_program *program, uint64_t bytes, bool resident) {
    program->slots = pdnn_arena_grow(&program->arena, program->slots, &program->slot_room, program->n_slots,
                                     sizeof *program->slots);
    program->slots[program->n_slots] = (struct pdnn_slot){.bytes = bytes, .resident = resident};
    return (uint32_t)program->n_slots++;
}

void pdnn_program_call(struct pdnn_program *program, const struct pdnn_call *call) {
    program->calls = pdnn_arena_grow(&program->arena, program->calls, &program->call_room, program->n_calls,
                                     sizeof *program->calls);
    program->calls[program->n_calls++] = *call;
}

void pdnn_program_bind(const struct pdnn_program *program, void *const *memory) {
    for (size_t i = 0; i < program->n_calls; i++)
        program->calls[i].work.bind(program->calls[i].work.state, memory);
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
        if ((*user > node && pdnn_node_readings(&graph->nodes[*user], tensor)) ||
            pdnn_memory_is_view(graph, &graph->nodes[*user]))
            return false;
    }
    return true;
}

unsigned pdnn_program_flags(const struct pdnn_program *program) {
    unsigned flags = program->is_untried ? PDNN_FLAG_UNTRIED : 0;
    for (size_t i = 0; i < program->n_calls; i++)
        flags |= (program->calls[i].is_reference ? PDNN_FLAG_REF : 0) |
                 (program->calls[i].is_slow ? PDNN_FLAG_SLOW : 0);
    return flags;
}
