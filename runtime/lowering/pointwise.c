/* The rows of activations and of scale. */
#include "runtime/lowering/pointwise.h"

#include "runtime/lowering/f32_copies.h"

void pdnn_pointwise_run(const struct pdnn_bound_call *call, enum pdnn_elementwise function) {
    const struct pdnn_tensor *a = pdnn_node_in(call->graph, call->node, 0),
                             *b = pdnn_node_in(call->graph, call->node, call->node->n_inputs > 1),
                             *y = pdnn_node_out(call->graph, call->node, 0);
    uint64_t bytes = (uint64_t)call->elements * pdnn_dtype_bytes(y->dtype);
    bool in_place = call->out[0] == call->in[0] || call->out[0] == call->in[1];
    struct pdnn_elementwise_job job = {
        .function = function,
        .a = call->in[0],
        .b = call->in[1],
        .y = call->out[0],
        .elements = call->elements,
        .bypass = !in_place && bytes >= call->cache_bytes / PDNN_CALL_BYPASS_ELEMENTWISE,
        .coef = {(float)call->node->coef[0], (float)call->node->coef[1]},
        .halves = {pdnn_dtype_is_half(a->dtype), pdnn_dtype_is_half(b->dtype), pdnn_dtype_is_half(y->dtype),
                   pdnn_half_of(call->graph->dtype)},
    };
    pdnn_elementwise_run(&job, call->threads);
}

/* Channels that pad the last block are zero, and stay so where the function maps 0 to 0. */
static void clear_padding(const struct pdnn_bound_call *call, enum pdnn_elementwise function) {
    float zero = 0, image = 0;
    const struct pdnn_elementwise_job job = {
        .function = function,
        .a = &zero,
        .y = &image,
        .elements = 1,
        .coef = {(float)call->node->coef[0], (float)call->node->coef[1]},
    };
    if (pdnn_channels_padded(&call->shape) == call->shape.C)
        return;
    pdnn_elementwise_run(&job, 1);
    if (image != 0)
        pdnn_channels_clear_padding(call->out[0],
                                    pdnn_dtype_bytes(pdnn_node_out(call->graph, call->node, 0)->dtype),
                                    &call->shape, call->threads);
}

#define ACTIVATION(op_name, FUNCTION)                                                                        \
    static void op_name##_forward(const struct pdnn_bound_call *call) {                                      \
        pdnn_pointwise_run(call, PDNN_##FUNCTION##_FORWARD);                                                 \
        clear_padding(call, PDNN_##FUNCTION##_FORWARD);                                                      \
    }                                                                                                        \
    static void op_name##_backward(const struct pdnn_bound_call *call) {                                     \
        pdnn_pointwise_run(call, PDNN_##FUNCTION##_BACKWARD);                                                \
    }                                                                                                        \
    const struct pdnn_lowering pdnn_lowering_##op_name = {                                                   \
        .op = &pdnn_op_##op_name,                                                                            \
        .pass = {[PDNN_FORWARD] = {.run = op_name##_forward, .half = PDNN_HALF_NATIVE},                      \
                 [PDNN_BACKWARD_DATA] = {.run = op_name##_backward, .half = PDNN_HALF_NATIVE}},              \
    };
PDNN_ACTIVATIONS(ACTIVATION)

static void scale(const struct pdnn_bound_call *call) {
    pdnn_pointwise_run(call, PDNN_SCALE);
}

const struct pdnn_lowering pdnn_lowering_scale = {
    .op = &pdnn_op_scale,
    .pass = {[PDNN_FORWARD] = {.run = scale, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = scale, .half = PDNN_HALF_NATIVE}},
};
