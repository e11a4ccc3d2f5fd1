#include "runtime/backend/one_node.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LINE_BYTES = 64, STAGGER_BYTES = 5 * LINE_BYTES };

void pdnn_one_node_init(struct pdnn_one_node *one, const struct pdnn_graph *from, struct pdnn_arena *arena) {
    *one = (struct pdnn_one_node){.from = from};
    pdnn_graph_init(&one->graph, arena);
    one->graph.dtype = from->dtype;
    one->graph.algorithm = from->algorithm;
}

/* The tensor's number here. What no node here writes is data of the step, or a weight. */
static uint32_t inner_of(struct pdnn_one_node *one, uint32_t outer, bool is_written) {
    uint32_t i = 0;
    while (i < one->graph.n_tensors && one->outer[i] != outer)
        i++;
    if (outer == PDNN_NONE || i < one->graph.n_tensors)
        return outer == PDNN_NONE ? PDNN_NONE : i;
    struct pdnn_tensor copy = one->from->tensors[outer];
    copy.fill = (struct pdnn_fill){0};
    copy.fold = NULL;
    if (!is_written)
        copy.role = pdnn_role_is_weight(copy.role) ? PDNN_ROLE_WEIGHT : PDNN_ROLE_INPUT;
    if (one->edit)
        one->edit(one->user, outer, &copy);
    copy.of = copy.role == PDNN_ROLE_WEIGHT_GRADIENT ? inner_of(one, copy.of, false) : PDNN_NONE;
    assert(one->graph.n_tensors < PDNN_ONE_NODE_TENSORS);
    i = pdnn_graph_tensor(&one->graph, &copy);
    one->outer[i] = outer;
    return i;
}

void pdnn_one_node_add(struct pdnn_one_node *one, const struct pdnn_node *node) {
    uint32_t input[PDNN_NODE_INPUTS], output[PDNN_NODE_OUTPUTS];
    struct pdnn_node copy = *node;
    copy.input = input;
    copy.output = output;
    copy.posts = pdnn_arena_alloc(one->graph.arena, PDNN_NODE_POSTS, sizeof *copy.posts);
    for (int i = 0; i < node->n_inputs; i++)
        copy.input[i] = inner_of(one, node->input[i], false);
    for (int i = 0; i < node->n_outputs; i++)
        copy.output[i] = inner_of(one, node->output[i], true);
    for (int i = 0; i < node->n_posts; i++) {
        copy.posts[i] = node->posts[i];
        copy.posts[i].input = inner_of(one, node->posts[i].input, false);
        copy.posts[i].output = inner_of(one, node->posts[i].output, true);
    }
    pdnn_graph_node(&one->graph, &copy);
}

enum pdnn_status pdnn_one_node_compile(struct pdnn_one_node *one, const struct pdnn_backend_def *backend,
                                       void *state, const struct pdnn_program *outer, bool keeps_plain,
                                       struct pdnn_err *err) {
    enum pdnn_status status = pdnn_graph_status(&one->graph, err);
    if (status != PDNN_OK)
        return status;
    pdnn_program_init(&one->program, &one->graph);
    one->program.keep_all = true;
    one->program.opens_weights = one->opens_weights;
    one->program.keeps_plain = keeps_plain;
    one->program.allow_slow = outer->allow_slow;
    one->program.trial_bytes = outer->trial_bytes;
    return backend->compile(state, &one->graph, &one->program, err);
}

const struct pdnn_call *pdnn_one_node_call(const struct pdnn_one_node *one) {
    const struct pdnn_call *call = one->program.calls + one->program.n_calls - 1;
    while (call->node == PDNN_NONE)
        call--;
    return call;
}

/* What a reorder has just written would not be cold. */
static bool runs(const struct pdnn_one_node *one, const struct pdnn_call *call) {
    bool reorders = call->node == PDNN_NONE;
    return reorders ? one->part != PDNN_ONE_NODE_LAST || !one->cold_bytes
                    : one->part != PDNN_ONE_NODE_REORDERS;
}

static bool counts(const struct pdnn_one_node *one, const struct pdnn_call *call) {
    return one->part != PDNN_ONE_NODE_LAST || call->node == one->graph.n_nodes - 1;
}

/* The next place at *end, on a cache line: no two slots begin at the same offset in a page. */
static uint64_t take(uint64_t *end, uint64_t bytes) {
    uint64_t at = *end;
    *end += (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES + STAGGER_BYTES;
    return at;
}

void pdnn_one_node_place(struct pdnn_one_node *one) {
    const struct pdnn_program *program = &one->program;
    one->slots = pdnn_arena_alloc(one->graph.arena, program->n_slots, sizeof *one->slots);
    one->memory = pdnn_arena_alloc(one->graph.arena, program->n_slots, sizeof *one->memory);
    for (size_t i = 0; i < program->n_slots; i++) {
        bool is_weight = i < one->graph.n_tensors && one->graph.tensors[i].role == PDNN_ROLE_WEIGHT;
        one->slots[i].kind = one->cold_bytes && is_weight ? PDNN_ONE_NODE_COLD
                             : program->slots[i].resident ? PDNN_ONE_NODE_READ
                                                          : PDNN_ONE_NODE_OTHER;
    }
    for (size_t i = 0; i < program->n_calls; i++) {
        const struct pdnn_call *call = &program->calls[i];
        for (int k = 0; one->cold_bytes && call->node == PDNN_NONE && k < call->n_slots; k++)
            one->slots[call->slot[k]].kind = PDNN_ONE_NODE_COLD;
    }
    for (size_t i = 0; i < program->n_slots; i++)
        one->slots[i].offset = take(&one->bytes[one->slots[i].kind], program->slots[i].bytes);
    uint64_t set_bytes = one->bytes[PDNN_ONE_NODE_COLD];
    one->n_sets = set_bytes && 2 * set_bytes < one->cold_bytes ? one->cold_bytes / set_bytes : 2;
}

/* Finds the addresses of what is cold, in the next set, or of all else, and binds the calls that run. */
static void bind(struct pdnn_one_node *one, bool is_cold) {
    uint64_t at = is_cold ? one->set * one->bytes[PDNN_ONE_NODE_COLD] : 0;
    for (size_t i = 0; i < one->program.n_slots; i++) {
        const struct pdnn_one_node_slot *slot = &one->slots[i];
        if (!is_cold || slot->kind == PDNN_ONE_NODE_COLD)
            one->memory[i] = one->begin[slot->kind] + slot->offset + at;
    }
    pdnn_program_bind(&one->program, one->memory);
}

void pdnn_one_node_bind(struct pdnn_one_node *one, char *const begin[PDNN_ONE_NODE_KINDS]) {
    memcpy(one->begin, begin, sizeof one->begin);
    bind(one, false);
}

double pdnn_one_node_run(struct pdnn_one_node *one) {
    double ns = 0;
    one->set = (one->set + 1) % one->n_sets;
    if (one->bytes[PDNN_ONE_NODE_COLD])
        bind(one, true);
    for (size_t i = 0; i < one->program.n_calls; i++) {
        const struct pdnn_call *call = &one->program.calls[i];
        if (!runs(one, call))
            continue;
        uint64_t start_ns = pdnn_clock_ns();
        if (call->work.run(call->work.state) != 0)
            return INFINITY;
        ns += counts(one, call) ? (double)(pdnn_clock_ns() - start_ns) : 0;
    }
    return ns;
}
