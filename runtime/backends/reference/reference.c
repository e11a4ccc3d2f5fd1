/* The backend `reference`: naive, readable C in double, the oracle for the other backends. Each slot is an
 * array of double, whatever the tensor's dtype; each call runs the op's own reference kernel. One thread. */
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/distributed/gradient_allreduce.h"
#include "runtime/lowering/call.h"

#include <stdio.h>

struct reference_call {
    struct pdnn_reference reference;
    double **value;        /* by tensor, shared by all calls of the program */
    uint32_t scratch_slot; /* or PDNN_NONE */
};

static const char *version(void) {
    return "reference (double)";
}

static enum pdnn_status open_reference(const struct pdnn_call_options *options, void **state,
                                       struct pdnn_err *err) {
    (void)options, (void)err;
    *state = NULL;
    return PDNN_OK;
}

static void close_reference(void *state) {
    (void)state;
}

static void bind(void *state, void *const *memory) {
    struct reference_call *call = state;
    for (size_t i = 0; i < call->reference.graph->n_tensors; i++)
        call->value[i] = memory[i];
    if (call->scratch_slot != PDNN_NONE)
        call->reference.scratch = memory[call->scratch_slot];
}

/* Rounds to the 16-bit type: an op computes in double, but the next one must read 16-bit values. */
static void round_halves(const struct reference_call *call, uint32_t tensor) {
    const struct pdnn_tensor *what = &call->reference.graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(what);
    double *values = call->value[tensor];
    uint16_t stored;
    for (int64_t i = 0; pdnn_dtype_is_half(what->dtype) && i < elements; i++) {
        pdnn_dtype_store(what->dtype, &stored, 0, values[i]);
        values[i] = pdnn_dtype_load(what->dtype, &stored, 0);
    }
}

/* The kernel is that of one rank; with several, the process's exchange averages. */
static int average(const struct reference_call *call) {
    const struct pdnn_node *node = call->reference.node;
    const struct pdnn_tensor *g = pdnn_node_in(call->reference.graph, node, PDNN_ALLREDUCE_G);
    const struct pdnn_gradient_allreduce_part part = {.values = call->value[node->input[PDNN_ALLREDUCE_G]],
                                                      .count = (size_t)pdnn_tensor_elements(g),
                                                      .is_double = true,
                                                      .mode = (int)node->coef[PDNN_ALLREDUCE_MODE],
                                                      .bucket = (size_t)node->coef[PDNN_ALLREDUCE_AT],
                                                      .is_last = node->coef[PDNN_ALLREDUCE_LAST] != 0};
    return node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WAIT ? pdnn_gradient_allreduce_wait(part.bucket)
                                                                   : pdnn_gradient_allreduce_start(&part);
}

static int run(void *state) {
    struct reference_call *call = state;
    const struct pdnn_node *node = call->reference.node;
    if (node->op == &pdnn_op_allreduce)
        return average(call);
    pdnn_reference_run(&call->reference, node);
    for (int i = 0; i < node->n_outputs; i++)
        round_halves(call, node->output[i]);
    return 0;
}

static bool has_reference(const struct pdnn_node *node) {
    bool has = node->op->pass[node->pass].reference != NULL;
    for (int i = 0; i < node->n_posts; i++)
        has = has && node->posts[i].op->pass[node->posts[i].pass].reference;
    return has;
}

static enum pdnn_status compile_node(struct pdnn_program *program, double **value, uint32_t index,
                                     struct pdnn_err *err) {
    const struct pdnn_node *node = &program->graph->nodes[index];
    if (!has_reference(node))
        return pdnn_call_unsupported("reference", program->graph, node, err);
    const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
    int64_t scratch = pass->scratch ? pass->scratch(program->graph, node) : 0;
    struct reference_call *state = pdnn_arena_alloc(&program->arena, 1, sizeof *state);
    struct pdnn_call call = pdnn_call_of_node(program->graph, index);
    *state = (struct reference_call){
        .reference = {.graph = program->graph, .node = node, .value = value},
        .value = value,
        .scratch_slot = pdnn_call_scratch(&call, program, (uint64_t)scratch * sizeof(double))};
    snprintf(call.implementation, sizeof call.implementation, "reference:f64");
    call.work = (struct pdnn_work){state, bind, run, NULL};
    pdnn_program_call(program, &call);
    return PDNN_OK;
}

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    (void)state;
    double **value = pdnn_arena_alloc(&program->arena, graph->n_tensors + 1, sizeof *value);
    for (size_t i = 0; i < graph->n_tensors; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[i];
        if (!pdnn_mul_u64((uint64_t)pdnn_tensor_elements(tensor), sizeof(double), &program->slots[i].bytes))
            return pdnn_fail(err, PDNN_OVERFLOW, "a tensor's bytes in double do not fit in 64 bits");
    }
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++)
        status = compile_node(program, value, i, err);
    return status;
}

static enum pdnn_status put(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *plain, void *memory, struct pdnn_err *err) {
    const struct pdnn_tensor *t = &program->graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(t);
    double *to = memory;
    (void)state;
    (void)err;
    for (int64_t i = 0; i < elements; i++)
        to[i] = pdnn_dtype_load(t->dtype, plain, i);
    return PDNN_OK;
}

static enum pdnn_status get(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *memory, void *plain, struct pdnn_err *err) {
    const struct pdnn_tensor *t = &program->graph->tensors[tensor];
    int64_t elements = pdnn_tensor_elements(t);
    const double *from = memory;
    (void)state;
    (void)err;
    for (int64_t i = 0; i < elements; i++)
        pdnn_dtype_store(t->dtype, plain, i, from[i]);
    return PDNN_OK;
}

const struct pdnn_backend_def pdnn_backend_reference = {
    .name = "reference",
    .is_reference = true,
    .help = "naive C in double precision, one thread: what the others are checked against",
    .version = version,
    .open = open_reference,
    .close = close_reference,
    .compile = compile,
    .put = put,
    .get = get,
};
