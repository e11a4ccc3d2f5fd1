#include "runtime/lowering/upcast.h"

#include "models/cost/memory.h"
#include "models/op.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/step.h"

#include <stdio.h>

/* A step that is itself a program. */
struct upcast {
    struct pdnn_graph graph; /* of one node */
    struct pdnn_program program;
    struct pdnn_f32_copies copies;   /* of the outer tensors */
    uint32_t outer[PDNN_STEP_SLOTS]; /* by inner tensor: its number outside */
    uint64_t *scratch_at;            /* by slot after the tensors': offset in the scratch */
    uint32_t scratch_slot;           /* or PDNN_NONE */
    void **memory;                   /* by slot */
    int64_t threads;
};

enum pdnn_status pdnn_upcast_refuse(const char *backend, const char *isa, const struct pdnn_graph *graph,
                                    const struct pdnn_node *node, struct pdnn_err *err) {
    bool is_int8 = pdnn_node_in(graph, node, 0)->dtype == PDNN_INT8; /* the rest of the graph is f32 */
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: no fast %s code for %s %s with %s; --allow-slow runs it",
                     backend, pdnn_dtype_name(is_int8 ? PDNN_INT8 : graph->dtype), node->op->name,
                     pdnn_pass_name(node->pass), isa);
}

/* The tensor's number inside. */
static uint32_t inner_of(const struct upcast *upcast, uint32_t outer) {
    uint32_t i = 0;
    while (outer != PDNN_NONE && upcast->outer[i] != outer)
        i++;
    return outer == PDNN_NONE ? PDNN_NONE : i;
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

static void build(struct upcast *upcast, const struct pdnn_graph *outer, uint32_t index,
                  struct pdnn_arena *arena) {
    const struct pdnn_step all = pdnn_step_of_node(outer, index);
    struct pdnn_node node = outer->nodes[index];
    struct pdnn_graph *graph = &upcast->graph;
    pdnn_graph_init(graph, arena);
    graph->algorithm = outer->algorithm;
    graph->rnn = PDNN_RECURRENCE_UNROLLED;
    for (int i = 0; i < all.n_slots; i++) {
        struct pdnn_tensor tensor = outer->tensors[all.slot[i]];
        tensor.role = PDNN_ROLE_ACTIVATION;
        tensor.dtype = pdnn_dtype_is_half(tensor.dtype) ? PDNN_F32 : tensor.dtype;
        tensor.of = PDNN_NONE;
        tensor.fold = NULL;
        upcast->outer[i] = all.slot[i];
        pdnn_graph_tensor(graph, &tensor);
    }
    for (int i = 0; i < node.n_inputs; i++)
        node.input[i] = inner_of(upcast, node.input[i]);
    for (int i = 0; i < node.n_outputs; i++)
        node.output[i] = inner_of(upcast, node.output[i]);
    struct pdnn_post *posts = pdnn_arena_alloc(arena, PDNN_NODE_POSTS, sizeof *posts);
    for (int i = 0; posts && i < node.n_posts; i++) {
        posts[i] = node.posts[i];
        posts[i].input = inner_of(upcast, posts[i].input);
        posts[i].output = inner_of(upcast, posts[i].output);
    }
    node.posts = posts;
    pdnn_graph_node(graph, &node);
    if (!posts)
        pdnn_fail(&graph->err, PDNN_NO_MEMORY, "out of memory for a step");
}

/* Packs the slots after those of the tensors into one slot of the outer program. */
static enum pdnn_status place_scratch(struct upcast *upcast, struct pdnn_program *outer,
                                      struct pdnn_step *step, struct pdnn_err *err) {
    uint64_t bytes = 0;
    size_t n_slots = upcast->program.n_slots;
    upcast->scratch_slot = PDNN_NONE;
    upcast->scratch_at = pdnn_arena_alloc(&outer->arena, n_slots, sizeof *upcast->scratch_at);
    upcast->memory = pdnn_arena_alloc(&outer->arena, n_slots, sizeof *upcast->memory);
    if (!upcast->scratch_at || !upcast->memory)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    for (size_t i = upcast->graph.n_tensors; i < n_slots; i++) {
        upcast->scratch_at[i] = bytes;
        bytes +=
            (upcast->program.slots[i].bytes + PDNN_MEMORY_ALIGN - 1) & ~(uint64_t)(PDNN_MEMORY_ALIGN - 1);
    }
    if (!bytes)
        return PDNN_OK;
    enum pdnn_status status = pdnn_program_slot(outer, bytes, false, &upcast->scratch_slot, err);
    if (status == PDNN_OK)
        pdnn_step_use(step, upcast->scratch_slot);
    return status;
}

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct upcast *upcast = state;
    enum pdnn_status status = PDNN_OK;
    pdnn_f32_copies_bind(&upcast->copies, memory);
    for (size_t i = 0; i < upcast->graph.n_tensors; i++) {
        float *copy = pdnn_f32_copies_find(&upcast->copies, upcast->outer[i]);
        upcast->memory[i] = copy ? copy : memory[upcast->outer[i]];
    }
    for (size_t i = upcast->graph.n_tensors; i < upcast->program.n_slots; i++)
        upcast->memory[i] = (char *)memory[upcast->scratch_slot] + upcast->scratch_at[i];
    for (size_t i = 0; i < upcast->program.n_steps && status == PDNN_OK; i++) {
        const struct pdnn_work *work = &upcast->program.steps[i].work;
        status = work->bind(work->state, upcast->memory, err);
    }
    return status;
}

static int run(void *state) {
    const struct upcast *upcast = state;
    int code = 0;
    pdnn_f32_copies_widen(&upcast->copies, upcast->threads);
    for (size_t i = 0; i < upcast->program.n_steps && !code; i++) {
        const struct pdnn_work *work = &upcast->program.steps[i].work;
        code = work->run(work->state);
    }
    pdnn_f32_copies_narrow(&upcast->copies, upcast->threads);
    return code;
}

static void destroy(void *state) {
    pdnn_program_finish(&((struct upcast *)state)->program);
}

/* "slow bf16 x64:gemm:jit matmul ab": with the implementation name of the inner step. */
static void name_step(const struct upcast *upcast, const struct pdnn_graph *outer, struct pdnn_step *step) {
    const char *name = "";
    for (size_t i = 0; i < upcast->program.n_steps; i++) {
        if (upcast->program.steps[i].node == PDNN_NONE)
            continue;
        name = upcast->program.steps[i].implementation;
        step->is_reference = upcast->program.steps[i].is_reference;
    }
    snprintf(step->implementation, sizeof step->implementation, "slow %s %.50s",
             pdnn_dtype_name(outer->dtype), name);
}

enum pdnn_status pdnn_upcast_compile(const struct pdnn_backend_def *backend, void *state, int64_t threads,
                                     struct pdnn_program *program, uint32_t node, struct pdnn_err *err) {
    const struct pdnn_graph *graph = program->graph;
    struct pdnn_step step = pdnn_step_of_node(graph, node);
    struct upcast *upcast = pdnn_arena_alloc(&program->arena, 1, sizeof *upcast);
    if (!upcast)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    enum pdnn_status status = check_way(graph, &graph->nodes[node], err);
    if (status != PDNN_OK)
        return status;
    upcast->threads = threads;
    build(upcast, graph, node, &program->arena);
    status = pdnn_graph_status(&upcast->graph, err);
    if (status == PDNN_OK)
        status = pdnn_program_init(&upcast->program, &upcast->graph, err);
    upcast->program.keep_all = upcast->program.keeps_plain = true;
    upcast->program.trial_bytes = program->trial_bytes;
    if (status == PDNN_OK)
        status = backend->compile(state, &upcast->graph, &upcast->program, err);
    program->is_untried = program->is_untried || upcast->program.is_untried;
    if (status == PDNN_OK)
        status = place_scratch(upcast, program, &step, err);
    if (status == PDNN_OK)
        status = pdnn_f32_copies_create(&upcast->copies, program, &graph->nodes[node], &step, err);
    name_step(upcast, graph, &step);
    step.is_slow = true;
    step.work = (struct pdnn_work){upcast, bind, run, destroy};
    if (status == PDNN_OK)
        status = pdnn_program_step(program, &step, err);
    if (status != PDNN_OK)
        destroy(upcast);
    return status;
}
