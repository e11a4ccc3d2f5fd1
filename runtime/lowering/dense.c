/* dense by a library's sgemm, one product per pass.
 * N minibatch, I inputs, O outputs; x (N, I), w (O, I), y (N, O). */
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/lowering/step.h"
#include "runtime/lowering/steps.h"

#include <stdio.h>

/* A step's state: the product, and the slots that hold its matrices. */
struct product {
    struct pdnn_sgemm gemm;
    int (*sgemm)(const struct pdnn_sgemm *gemm);
    uint32_t a_slot, b_slot, c_slot;
};

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct product *product = state;
    (void)err;
    product->gemm.a = memory[product->a_slot];
    product->gemm.b = memory[product->b_slot];
    product->gemm.c = memory[product->c_slot];
    return PDNN_OK;
}

static int run(void *state) {
    const struct product *product = state;
    return product->sgemm(&product->gemm);
}

/* A tensor of higher rank is treated as a matrix: all dimensions after the first are its columns. */
static int64_t width_of(const struct pdnn_tensor *tensor) {
    return pdnn_tensor_elements(tensor) / tensor->dim[0];
}

/* c = op(a) op(b), all row-major; the dimensions follow from the tensors and the transposes. */
static struct product product_of(const struct pdnn_graph *graph, uint32_t a, bool a_transposed, uint32_t b,
                                 bool b_transposed, uint32_t c) {
    const struct pdnn_tensor *left = &graph->tensors[a], *right = &graph->tensors[b];
    const struct pdnn_sgemm gemm = {
        .a_transposed = a_transposed,
        .b_transposed = b_transposed,
        .m = a_transposed ? width_of(left) : left->dim[0],
        .n = b_transposed ? right->dim[0] : width_of(right),
        .k = a_transposed ? left->dim[0] : width_of(left),
        .a_stride = width_of(left),
        .b_stride = width_of(right),
        .c_stride = b_transposed ? right->dim[0] : width_of(right),
    };
    return (struct product){.gemm = gemm, .a_slot = a, .b_slot = b, .c_slot = c};
}

static enum pdnn_status append(const struct pdnn_steps *steps, uint32_t node, struct product product,
                               struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_sgemm *gemm = &product.gemm;
    struct pdnn_step step = pdnn_step_of_node(graph, node);
    int64_t most = steps->library->most;
    if (graph->tensors[product.a_slot].dtype != PDNN_F32)
        return pdnn_step_unsupported(steps->backend->name, graph, &graph->nodes[node], err);
    if (gemm->m > most || gemm->n > most || gemm->k > most)
        return pdnn_sgemm_refuse(steps, node, err);
    product.sgemm = steps->library->sgemm;
    struct product *state = pdnn_arena_alloc(&steps->program->arena, 1, sizeof *state);
    if (!state)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    *state = product;
    pdnn_sgemm_name(steps->library, step.implementation);
    step.work = (struct pdnn_work){state, bind, run, NULL};
    return pdnn_program_step(steps->program, &step, err);
}

/* y = x w^T */
static enum pdnn_status forward(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err) {
    const struct pdnn_node *n = &steps->program->graph->nodes[node];
    return append(steps, node,
                  product_of(steps->program->graph, n->input[PDNN_DENSE_X], false, n->input[PDNN_DENSE_W],
                             true, n->output[PDNN_DENSE_Y]),
                  err);
}

/* dx = dy w */
static enum pdnn_status backward_data(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err) {
    const struct pdnn_node *n = &steps->program->graph->nodes[node];
    return append(steps, node,
                  product_of(steps->program->graph, n->input[PDNN_DENSE_DATA_DY], false,
                             n->input[PDNN_DENSE_DATA_W], false, n->output[PDNN_DENSE_DATA_DX]),
                  err);
}

/* dw = dy^T x */
static enum pdnn_status backward_weights(const struct pdnn_steps *steps, uint32_t node,
                                         struct pdnn_err *err) {
    const struct pdnn_node *n = &steps->program->graph->nodes[node];
    return append(steps, node,
                  product_of(steps->program->graph, n->input[PDNN_DENSE_WEIGHTS_DY], true,
                             n->input[PDNN_DENSE_WEIGHTS_X], false, n->output[PDNN_DENSE_WEIGHTS_DW]),
                  err);
}

const struct pdnn_step_def pdnn_step_dense = {
    .op = &pdnn_op_dense,
    .pass = {[PDNN_FORWARD] = {.compile = forward, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = backward_data, .needs_sgemm = true},
             [PDNN_BACKWARD_WEIGHTS] = {.compile = backward_weights, .needs_sgemm = true}},
};
