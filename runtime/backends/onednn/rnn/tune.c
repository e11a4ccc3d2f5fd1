#include "runtime/backends/onednn/rnn/tune.h"

#include "models/op.h"
#include "runtime/backends/onednn/compile.h"
#include "base/clock.h"
#include "runtime/core/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shapes of more FLOP per step are measured with fewer steps or sequences, down to the least. */
static const double MAX_FLOP = 1.6e10;
enum { LEAST_T = 8, LEAST_N = 64, ROUNDS = 3 };

/* The unrolled layer replaces the primitive where it takes at most this part of its time. */
static const double MARGIN = 0.95;

struct pdnn_recurrence_entry {
    struct pdnn_recurrence_entry *next;
    struct pdnn_onednn_rnn_shape shape;
    bool is_fused;
};

void pdnn_recurrences_finish(struct pdnn_recurrences *recurrences) {
    while (recurrences->first) {
        struct pdnn_recurrence_entry *next = recurrences->first->next;
        free(recurrences->first);
        recurrences->first = next;
    }
}

static void shrink(struct pdnn_onednn_rnn_shape *shape) {
    double gates = (double)(pdnn_cells[shape->cell].n_gates * shape->H);
    double row = (shape->is_training ? 6 : 2) * gates * (double)(shape->I + shape->H);
    while (row * (double)(shape->T * shape->N) > MAX_FLOP) {
        if (shape->T / 2 >= LEAST_T)
            shape->T /= 2;
        else if (shape->N / 2 >= LEAST_N)
            shape->N /= 2;
        else
            return;
    }
}

static uint32_t new_data(struct pdnn_graph *graph, int64_t rows, int64_t columns) {
    const struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                       .rank = 2,
                                       .dim = {rows, columns},
                                       .fill = {.kind = PDNN_FILL_UNIFORM, .scale = 1},
                                       .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &tensor);
}

static uint32_t new_weights(struct pdnn_graph *graph, int rank, int64_t rows, int64_t columns) {
    const struct pdnn_fill fill = {.kind = PDNN_FILL_UNIFORM, .scale = 0.1};
    return pdnn_graph_weight(graph, rank, (int64_t[]){rows, columns}, fill);
}

static void append_backward(struct pdnn_graph *graph, bool wants_dx) {
    const struct pdnn_node forward = graph->nodes[0];
    const uint32_t *in = forward.input, *out = forward.output;
    const struct pdnn_tensor *y = &graph->tensors[out[PDNN_RNN_Y]];
    bool has_saved = forward.n_outputs > PDNN_RNN_SAVED;
    struct pdnn_node node = {.op = &pdnn_op_rnn,
                             .pass = PDNN_BACKWARD_DATA,
                             .n_inputs = PDNN_RNN_BACK_SAVED + has_saved,
                             .n_outputs = PDNN_RNN_BACK_DX + wants_dx};
    node.input[PDNN_RNN_BACK_DY] = new_data(graph, y->dim[0], y->dim[1]);
    node.input[PDNN_RNN_BACK_X] = in[PDNN_RNN_X];
    node.input[PDNN_RNN_BACK_Y] = out[PDNN_RNN_Y];
    node.input[PDNN_RNN_BACK_W] = in[PDNN_RNN_W];
    node.input[PDNN_RNN_BACK_U] = in[PDNN_RNN_U];
    node.input[PDNN_RNN_BACK_SAVED] = out[PDNN_RNN_SAVED];
    node.output[PDNN_RNN_BACK_DW] = pdnn_graph_like(graph, in[PDNN_RNN_W], PDNN_ROLE_WEIGHT_GRADIENT);
    node.output[PDNN_RNN_BACK_DU] = pdnn_graph_like(graph, in[PDNN_RNN_U], PDNN_ROLE_WEIGHT_GRADIENT);
    node.output[PDNN_RNN_BACK_DB] = pdnn_graph_like(graph, in[PDNN_RNN_B], PDNN_ROLE_WEIGHT_GRADIENT);
    if (wants_dx)
        node.output[PDNN_RNN_BACK_DX] = pdnn_graph_like(graph, in[PDNN_RNN_X], PDNN_ROLE_GRADIENT);
    memcpy(node.attr, forward.attr, sizeof node.attr);
    pdnn_graph_node(graph, &node);
}

/* The layer alone, with all passes of its step. */
static void build(const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence way,
                  struct pdnn_graph *graph) {
    const struct pdnn_cell_def *cell = &pdnn_cells[shape->cell];
    int64_t gates = cell->n_gates * shape->H;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = shape->cell,
                                            [PDNN_RNN_STEPS] = shape->T,
                                            [PDNN_RNN_REVERSE] = shape->is_reverse,
                                            [PDNN_RNN_TRAIN] = shape->is_training};
    const uint32_t inputs[] = {
        [PDNN_RNN_X] = new_data(graph, shape->T * shape->N, shape->I),
        [PDNN_RNN_W] = new_weights(graph, 2, gates, shape->I),
        [PDNN_RNN_U] = new_weights(graph, 2, gates, shape->H),
        [PDNN_RNN_B] =
            new_weights(graph, 1, shape->has_two_biases ? 2 * gates : cell->n_biases * shape->H, 1),
        [PDNN_RNN_INPUTS] = PDNN_NONE,
    };
    graph->rnn = way;
    graph->result = pdnn_graph_forward(graph, &pdnn_op_rnn, inputs, attrs);
    if (shape->is_training && pdnn_graph_status(graph, NULL) == PDNN_OK)
        append_backward(graph, shape->wants_dx);
}

/* A way to run the layer, prepared. */
struct way {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    bool is_there;
    double ns; /* the least of all runs; INFINITY: it fails, or there is none */
};

static enum pdnn_status prepare(struct way *way, const struct pdnn_onednn_compile *compile,
                                const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence kind,
                                struct pdnn_err *err) {
    way->ns = INFINITY;
    pdnn_arena_init(&way->arena);
    pdnn_graph_init(&way->graph, &way->arena);
    build(shape, kind, &way->graph);
    enum pdnn_status status = pdnn_graph_status(&way->graph, err);
    if (status == PDNN_OK)
        status = pdnn_plan_create(&way->plan, compile->steps.backend, compile->onednn, &way->graph,
                                  &(struct pdnn_plan_options){.seed = 1}, err);
    way->is_there = status == PDNN_OK;
    /* The first run is no measure of anything. */
    way->is_there = way->is_there && pdnn_plan_run(&way->plan) == 0;
    return status;
}

static void finish(struct way *way) {
    pdnn_plan_destroy(&way->plan);
    pdnn_arena_finish(&way->arena);
}

static void visit(struct way *way) {
    if (!way->is_there)
        return;
    uint64_t start = pdnn_clock_ns();
    int code = pdnn_plan_run(&way->plan);
    double ns = (double)(pdnn_clock_ns() - start);
    way->ns = code == 0 && ns < way->ns ? ns : way->ns;
}

static enum pdnn_status measure(const struct pdnn_onednn_compile *compile,
                                const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                struct pdnn_err *err) {
    struct pdnn_onednn_rnn_shape measured = *shape;
    struct way fused = {0}, unrolled = {0};
    shrink(&measured);
    enum pdnn_status status = prepare(&fused, compile, &measured, PDNN_RECURRENCE_FUSED, err);
    if (status == PDNN_OK || status == PDNN_UNSUPPORTED)
        status = prepare(&unrolled, compile, &measured, PDNN_RECURRENCE_UNROLLED, err);
    if (status == PDNN_UNSUPPORTED && fused.is_there)
        status = PDNN_OK;
    for (int round = 0; status == PDNN_OK && round < ROUNDS; round++) {
        visit(&fused);
        visit(&unrolled);
    }
    *is_fused = !(unrolled.ns <= MARGIN * fused.ns);
    finish(&fused);
    finish(&unrolled);
    return status;
}

enum pdnn_status pdnn_onednn_rnn_choose(const struct pdnn_onednn_compile *compile,
                                        const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                        struct pdnn_err *err) {
    struct pdnn_recurrence_entry *entry = compile->onednn->recurrences.first;
    while (entry && memcmp(&entry->shape, shape, sizeof *shape) != 0)
        entry = entry->next;
    if (entry) {
        *is_fused = entry->is_fused;
        return PDNN_OK;
    }
    enum pdnn_status status = measure(compile, shape, is_fused, err);
    if (status != PDNN_OK)
        return status;
    entry = malloc(sizeof *entry);
    if (!entry)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a choice");
    memcpy(&entry->shape, shape, sizeof *shape); /* with its padding, for memcmp */
    entry->is_fused = *is_fused;
    entry->next = compile->onednn->recurrences.first;
    compile->onednn->recurrences.first = entry;
    return PDNN_OK;
}
