/* The rows of add and multiply, whose second operand may repeat over the first (models/graph.h). */
#include "runtime/kernels/images/spread.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/pointwise.h"

enum { IMAGE_RANK = 4 };

/* The smaller tensor: b, or its gradient where b is not read. */
static const struct pdnn_tensor *small_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *first = pdnn_node_in(graph, node, 0);
    const struct pdnn_tensor *last = pdnn_node_out(graph, node, node->n_outputs - 1);
    return pdnn_tensor_same_shape(first, last) ? pdnn_node_in(graph, node, 1) : last;
}

static bool is_spread(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return !pdnn_tensor_same_shape(small_of(graph, node), pdnn_node_in(graph, node, 0));
}

/* The call without its operands. */
static struct pdnn_spread spread_of(const struct pdnn_bound_call *call, bool adds) {
    const struct pdnn_tensor *large = pdnn_node_in(call->graph, call->node, 0);
    const struct pdnn_tensor *small = small_of(call->graph, call->node);
    struct pdnn_broadcast by = {0};
    pdnn_broadcast_of(large, small, &by);
    struct pdnn_spread spread = {
        .shape = {by.outer, by.inner, by.again * by.last, by.last == 1 ? by.inner : 1},
        .adds = adds,
        .b_stride = by.inner,
        .half = pdnn_half_of(call->graph->dtype),
        .is_half = pdnn_dtype_is_half(large->dtype),
        .b_is_half = pdnn_dtype_is_half(small->dtype),
        .scratch = call->scratch,
    };
    if (large->rank == IMAGE_RANK) {
        spread.shape = call->shape;
        spread.is_shared = small->rank == 1;
        spread.b_stride = small->rank == IMAGE_RANK ? pdnn_channels_padded(&call->shape) : by.inner;
    }
    return spread;
}

static void forward(const struct pdnn_bound_call *call, enum pdnn_elementwise function) {
    if (!is_spread(call->graph, call->node)) {
        pdnn_pointwise_run(call, function);
        return;
    }
    struct pdnn_spread job = spread_of(call, function == PDNN_ADD);
    job.a = call->in[0];
    job.b = call->in[1];
    job.y = call->out[0];
    job.bypass = job.y != job.a && pdnn_call_bypasses(call, pdnn_call_image_bytes(call));
    pdnn_spread_forward(&job, call->threads);
}

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    if (!is_spread(call->graph, call->node))
        return 0;
    const struct pdnn_spread job = spread_of(call, false);
    return (uint64_t)pdnn_spread_scratch(&job.shape, job.is_shared, call->threads) * sizeof(double);
}

static void add(const struct pdnn_bound_call *call) {
    forward(call, PDNN_ADD);
}

/* Of two gradients, or of one over what meets the same element of b. */
static void add_backward(const struct pdnn_bound_call *call) {
    if (call->node->n_inputs > 1) {
        pdnn_pointwise_run(call, PDNN_ADD);
        return;
    }
    struct pdnn_spread job = spread_of(call, true);
    job.dy = call->in[0];
    job.db = call->out[0];
    pdnn_spread_backward(&job, call->threads);
}

static void multiply(const struct pdnn_bound_call *call) {
    forward(call, PDNN_MULTIPLY);
}

static void multiply_backward(const struct pdnn_bound_call *call) {
    bool is_both = call->node->n_inputs > PDNN_MULTIPLY_BACK_A;
    if (!is_both && pdnn_tensor_same_shape(pdnn_node_in(call->graph, call->node, 0),
                                           pdnn_node_out(call->graph, call->node, 0))) {
        multiply(call);
        return;
    }
    struct pdnn_spread job = spread_of(call, false);
    job.dy = call->in[PDNN_MULTIPLY_BACK_DY];
    job.a = call->in[is_both ? PDNN_MULTIPLY_BACK_A : PDNN_MULTIPLY_BACK_OTHER];
    job.b = is_both ? call->in[PDNN_MULTIPLY_BACK_B] : NULL;
    job.da = is_both ? call->out[PDNN_MULTIPLY_BACK_DX] : NULL;
    job.db = call->out[is_both ? PDNN_MULTIPLY_BACK_DB : PDNN_MULTIPLY_BACK_DX];
    job.bypass = is_both && job.da != job.dy && pdnn_call_bypasses(call, pdnn_call_image_bytes(call));
    pdnn_spread_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_add = {
    .op = &pdnn_op_add,
    .pass = {[PDNN_FORWARD] = {.run = add, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = add_backward,
                                     .scratch_bytes = scratch_bytes,
                                     .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_WEIGHTS] = {.run = add, .half = PDNN_HALF_NATIVE}},
};

const struct pdnn_lowering pdnn_lowering_multiply = {
    .op = &pdnn_op_multiply,
    .pass = {[PDNN_FORWARD] = {.run = multiply, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = multiply_backward,
                                     .scratch_bytes = scratch_bytes,
                                     .half = PDNN_HALF_NATIVE}},
};
