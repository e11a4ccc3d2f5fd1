#include "runtime/lowering/upcast.h"

#include "models/cost/memory.h"
#include "models/op.h"
#include "runtime/backend/one_node.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/call.h"

#include <stdio.h>

/* A call that is itself a program. */
struct upcast {
    struct pdnn_one_node one;
    struct pdnn_f32_copies copies; /* of the outer tensors */
    uint64_t *scratch_at;          /* by slot after the tensors': offset in the scratch */
    uint32_t scratch_slot;         /* or PDNN_NONE */
    void **memory;                 /* by slot */
    int64_t threads;
};

enum pdnn_status pdnn_upcast_refuse(const char *backend, const char *isa, const struct pdnn_graph *graph,
                                    const struct pdnn_node *node, struct pdnn_err *err) {
    bool is_int8 = pdnn_node_in(graph, node, 0)->dtype == PDNN_INT8; /* the rest of the graph is f32 */
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: no fast %s code for %s %s with %s; --allow-slow runs it",
                     backend, pdnn_dtype_name(is_int8 ? PDNN_INT8 : graph->dtype), node->op->name,
                     pdnn_pass_name(node->pass), isa);
}

/* The slow path for recurrent layers is always unrolled. */
static enum pdnn_status check_way(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                  struct pdnn_err *err) {
    if (node->op == &pdnn_op_rnn && graph->rnn == PDNN_RECURRENCE_FUSED)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "slow recurrent layers in %s run unrolled; use rnn=auto or rnn=unrolled",
                         pdnn_dtype_name(graph->dtype));
    return PDNN_OK;
}

static void widen(const void *user, uint32_t outer, struct pdnn_tensor *tensor) {
    (void)user;
    (void)outer;
    tensor->role = PDNN_ROLE_ACTIVATION;
    tensor->dtype = pdnn_dtype_is_half(tensor->dtype) ? PDNN_F32 : tensor->dtype;
}

/* Packs the slots after those of the tensors into one slot of the outer program. */
static void place_scratch(struct upcast *upcast, struct pdnn_program *outer, struct pdnn_call *call) {
    uint64_t bytes = 0;
    size_t n_slots = upcast->one.program.n_slots;
    upcast->scratch_at = pdnn_arena_alloc(&outer->arena, n_slots, sizeof *upcast->scratch_at);
    upcast->memory = pdnn_arena_alloc(&outer->arena, n_slots, sizeof *upcast->memory);
    for (size_t i = upcast->one.graph.n_tensors; i < n_slots; i++) {
        upcast->scratch_at[i] = bytes;
        bytes +=
            (upcast->one.program.slots[i].bytes + PDNN_MEMORY_ALIGN - 1) & ~(uint64_t)(PDNN_MEMORY_ALIGN - 1);
    }
    upcast->scratch_slot = pdnn_call_scratch(call, outer, bytes);
}

static void bind(void *state, void *const *memory) {
    struct upcast *upcast = state;
    pdnn_f32_copies_bind(&upcast->copies, memory);
    for (size_t i = 0; i < upcast->one.graph.n_tensors; i++) {
        float *copy = pdnn_f32_copies_find(&upcast->copies, upcast->one.outer[i]);
        upcast->memory[i] = copy ? copy : memory[upcast->one.outer[i]];
    }
    for (size_t i = upcast->one.graph.n_tensors; i < upcast->one.program.n_slots; i++)
        upcast->memory[i] = (char *)memory[upcast->scratch_slot] + upcast->scratch_at[i];
    pdnn_program_bind(&upcast->one.program, upcast->memory);
}

static int run(void *state) {
    const struct upcast *upcast = state;
    int code = 0;
    pdnn_f32_copies_widen(&upcast->copies, upcast->threads);
    for (size_t i = 0; i < upcast->one.program.n_calls && !code; i++) {
        const struct pdnn_work *work = &upcast->one.program.calls[i].work;
        code = work->run(work->state);
    }
    pdnn_f32_copies_narrow(&upcast->copies, upcast->threads);
    return code;
}

static void destroy(void *state) {
    pdnn_program_finish(&((struct upcast *)state)->one.program);
}

enum pdnn_status pdnn_upcast_compile(const struct pdnn_backend_def *backend, void *state, int64_t threads,
                                     struct pdnn_program *program, uint32_t node, struct pdnn_err *err) {
    const struct pdnn_graph *graph = program->graph;
    struct pdnn_call call = pdnn_call_of_node(graph, node);
    struct upcast *upcast = pdnn_arena_alloc(&program->arena, 1, sizeof *upcast);
    enum pdnn_status status = check_way(graph, &graph->nodes[node], err);
    if (status != PDNN_OK)
        return status;
    upcast->threads = threads;
    pdnn_one_node_init(&upcast->one, graph, &program->arena);
    upcast->one.edit = widen;
    upcast->one.graph.dtype = PDNN_F32;
    upcast->one.graph.rnn = PDNN_RECURRENCE_UNROLLED;
    pdnn_one_node_add(&upcast->one, &graph->nodes[node]);
    status = pdnn_one_node_compile(&upcast->one, backend, state, program, true, err);
    program->is_untried = program->is_untried || upcast->one.program.is_untried;
    if (status != PDNN_OK) {
        destroy(upcast);
        return status;
    }
    place_scratch(upcast, program, &call);
    const struct pdnn_call *inner = pdnn_one_node_call(&upcast->one);
    call.extra = inner->extra;
    upcast->copies = pdnn_f32_copies_create(program, &graph->nodes[node], &call);
    snprintf(call.implementation, sizeof call.implementation, "slow %s %.50s", pdnn_dtype_name(graph->dtype),
             inner->implementation); /* "slow bf16 x64:gemm:jit matmul ab" */
    call.is_reference = inner->is_reference;
    call.is_slow = true;
    call.work = (struct pdnn_work){upcast, bind, run, destroy};
    pdnn_program_call(program, &call);
    return PDNN_OK;
}
