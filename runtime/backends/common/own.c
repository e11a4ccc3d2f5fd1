#define _GNU_SOURCE /* _SC_LEVEL3_CACHE_SIZE */
#include "runtime/backends/common/own.h"

#include "models/op.h"
#include "runtime/backends/common/step.h"
#include "runtime/kernels/bias.h"
#include "runtime/kernels/clones.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/loss.h"
#include "runtime/kernels/optimizer.h"

#include <stdio.h>
#include <unistd.h>

/* One step. Addresses are known after bind. */
struct own {
    const struct own_row *row;
    const struct pdnn_node *node; /* borrowed from the graph */
    int64_t threads;
    int64_t elements;      /* of the first input's slot, padding included */
    int64_t rows, columns; /* of the first input, where it is a matrix */
    uint64_t bypass_bytes;
    uint32_t scratch_slot; /* or PDNN_NONE */
    void *in[PDNN_NODE_INPUTS], *out[PDNN_NODE_OUTPUTS], *scratch;
};

struct own_row {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    int function; /* enum pdnn_elementwise or enum pdnn_update, where there are several */
    void (*run)(const struct own *own);
    uint64_t (*scratch_bytes)(const struct own *own); /* NULL: none */
};

static void run_elementwise(const struct own *own) {
    uint64_t bytes = (uint64_t)own->elements * sizeof(float);
    bool in_place = own->out[0] == own->in[0] || own->out[0] == own->in[1];
    struct pdnn_elementwise_job job = {
        .function = (enum pdnn_elementwise)own->row->function,
        .a = own->in[0],
        .b = own->in[1],
        .y = own->out[0],
        .elements = own->elements,
        .bypass = !in_place && bytes >= own->bypass_bytes,
    };
    pdnn_elementwise_run(&job, own->threads);
}

static void run_bias(const struct own *own) {
    pdnn_bias_forward(own->in[0], own->in[1], own->out[0], own->rows, own->columns, own->threads);
}

static uint64_t column_sums_scratch(const struct own *own) {
    return (uint64_t)pdnn_column_sums_scratch(own->rows, own->columns, own->threads) * sizeof(float);
}

static void run_column_sums(const struct own *own) {
    pdnn_column_sums(own->in[0], own->out[0], own->scratch, own->rows, own->columns, own->threads);
}

static uint64_t loss_scratch(const struct own *own) {
    return (uint64_t)own->threads * PDNN_LOSS_STRIDE * sizeof(double);
}

static void run_loss(const struct own *own) {
    struct pdnn_loss_job job = {
        .x = own->in[0],
        .label = own->in[1],
        .loss = own->out[0],
        .y = own->out[1],
        .partial = own->scratch,
        .N = own->rows,
        .C = own->columns,
    };
    pdnn_loss_forward(&job, own->threads);
}

static void run_loss_backward(const struct own *own) {
    struct pdnn_loss_job job = {
        .x = own->in[0], .label = own->in[1], .y = own->out[0], .N = own->rows, .C = own->columns};
    pdnn_loss_backward(&job, own->threads);
}

static void run_update(const struct own *own) {
    struct pdnn_update_job job = {
        .rule = (enum pdnn_update)own->row->function,
        .w = own->in[0],
        .g = own->in[1],
        .state = {own->in[2], own->in[3]},
        .power = own->in[4],
        .elements = own->elements,
    };
    for (int i = 0; i < PDNN_UPDATE_COEFS; i++)
        job.coef[i] = own->node->coef[i];
    pdnn_update_run(&job, own->threads);
}

static const struct own_row rows[] = {
    {&pdnn_op_relu, PDNN_FORWARD, PDNN_RELU_FORWARD, run_elementwise, NULL},
    {&pdnn_op_relu, PDNN_BACKWARD_DATA, PDNN_RELU_BACKWARD, run_elementwise, NULL},
    {&pdnn_op_sigmoid, PDNN_FORWARD, PDNN_SIGMOID_FORWARD, run_elementwise, NULL},
    {&pdnn_op_sigmoid, PDNN_BACKWARD_DATA, PDNN_SIGMOID_BACKWARD, run_elementwise, NULL},
    {&pdnn_op_tanh, PDNN_FORWARD, PDNN_TANH_FORWARD, run_elementwise, NULL},
    {&pdnn_op_tanh, PDNN_BACKWARD_DATA, PDNN_TANH_BACKWARD, run_elementwise, NULL},
    {&pdnn_op_add, PDNN_FORWARD, PDNN_ADD, run_elementwise, NULL},
    {&pdnn_op_bias, PDNN_FORWARD, 0, run_bias, NULL},
    {&pdnn_op_bias, PDNN_BACKWARD_WEIGHTS, 0, run_column_sums, column_sums_scratch},
    {&pdnn_op_softmax_cross_entropy, PDNN_FORWARD, 0, run_loss, loss_scratch},
    {&pdnn_op_softmax_cross_entropy, PDNN_BACKWARD_DATA, 0, run_loss_backward, NULL},
    {&pdnn_op_sgd, PDNN_UPDATE, PDNN_UPDATE_SGD, run_update, NULL},
    {&pdnn_op_momentum, PDNN_UPDATE, PDNN_UPDATE_MOMENTUM, run_update, NULL},
    {&pdnn_op_rmsprop, PDNN_UPDATE, PDNN_UPDATE_RMSPROP, run_update, NULL},
    {&pdnn_op_adam, PDNN_UPDATE, PDNN_UPDATE_ADAM, run_update, NULL},
};

static const struct own_row *find_row(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    for (int i = 0; i < node->n_inputs; i++) {
        enum pdnn_dtype dtype = pdnn_node_in(graph, node, i)->dtype;
        if (dtype != PDNN_F32 && dtype != PDNN_S32)
            return NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].op == node->op && rows[i].pass == node->pass && node->n_posts == 0)
            return &rows[i];
    }
    return NULL;
}

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct own *own = state;
    (void)err;
    for (int i = 0; i < own->node->n_inputs; i++)
        own->in[i] = memory[own->node->input[i]];
    for (int i = 0; i < own->node->n_outputs; i++)
        own->out[i] = memory[own->node->output[i]];
    if (own->scratch_slot != PDNN_NONE)
        own->scratch = memory[own->scratch_slot];
    return PDNN_OK;
}

static int run(void *state) {
    const struct own *own = state;
    own->row->run(own);
    return 0;
}

struct pdnn_own_options pdnn_own_options(int64_t threads) {
    const uint64_t usual = 32 << 20;
    long cache_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return (struct pdnn_own_options){threads, cache_bytes > 0 ? (uint64_t)cache_bytes : usual};
}

enum pdnn_status pdnn_own_compile(const struct pdnn_own_options *options, struct pdnn_program *program,
                                  uint32_t node, bool *found, struct pdnn_err *err) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_node *n = &graph->nodes[node];
    const struct own_row *row = find_row(graph, n);
    *found = row != NULL;
    if (!row)
        return PDNN_OK;
    struct own *own = pdnn_arena_alloc(&program->arena, 1, sizeof *own);
    if (!own)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    const struct pdnn_tensor *first = pdnn_node_in(graph, n, 0);
    *own = (struct own){.row = row, .node = n, .threads = options->threads, .scratch_slot = PDNN_NONE};
    own->bypass_bytes = options->bypass_bytes;
    own->elements = (int64_t)(program->slots[n->input[0]].bytes / sizeof(float));
    own->rows = first->dim[0];
    own->columns = first->rank > 1 ? first->dim[1] : 1;
    struct pdnn_step step = pdnn_step_of_node(graph, node);
    uint64_t scratch_bytes = row->scratch_bytes ? row->scratch_bytes(own) : 0;
    if (scratch_bytes) {
        enum pdnn_status status = pdnn_program_slot(program, scratch_bytes, false, &own->scratch_slot, err);
        if (status != PDNN_OK)
            return status;
        pdnn_step_use(&step, own->scratch_slot);
    }
    step.work = (struct pdnn_work){own, bind, run, NULL};
    snprintf(step.implementation, sizeof step.implementation, "own:%s %s", n->op->name, pdnn_clone_name());
    return pdnn_program_step(program, &step, err);
}
