/* The rows of losses that are a mean over elements: x and the targets are flat arrays. Where these are images
 * whose channels are padded, padding adds nothing to the sum, and does not count in the mean. */
#include "runtime/kernels/rows/element_loss.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)call->threads * PDNN_LOSS_STRIDE * sizeof(double);
}

static struct pdnn_element_loss_job job_of(const struct pdnn_bound_call *call,
                                           enum pdnn_element_loss_kind kind) {
    const struct pdnn_tensor *x = pdnn_node_in(call->graph, call->node, PDNN_ELEMENT_LOSS_X);
    return (struct pdnn_element_loss_job){
        .kind = kind,
        .stored = call->shape.stored,
        .x = call->in[PDNN_ELEMENT_LOSS_X],
        .target = call->in[PDNN_ELEMENT_LOSS_TARGET],
        .elements = call->elements,
        .scale = call->node->coef[PDNN_LOSS_SCALE] * (double)call->elements / (double)pdnn_tensor_elements(x),
    };
}

static void forward(const struct pdnn_bound_call *call, enum pdnn_element_loss_kind kind) {
    struct pdnn_element_loss_job job = job_of(call, kind);
    job.loss = call->out[PDNN_ELEMENT_LOSS_LOSS];
    job.partial = call->scratch;
    pdnn_element_loss_forward_run(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call, enum pdnn_element_loss_kind kind) {
    struct pdnn_element_loss_job job = job_of(call, kind);
    job.dx = call->out[PDNN_ELEMENT_LOSS_BACK_DX];
    job.bypass = job.dx != job.x && pdnn_call_bypasses_output(call, PDNN_ELEMENT_LOSS_BACK_DX);
    pdnn_element_loss_backward_run(&job, call->threads);
}

#define ELEMENT_LOSS(op_name, KIND)                                                                          \
    static void op_name##_forward(const struct pdnn_bound_call *call) {                                      \
        forward(call, KIND);                                                                                 \
    }                                                                                                        \
    static void op_name##_backward(const struct pdnn_bound_call *call) {                                     \
        backward(call, KIND);                                                                                \
    }                                                                                                        \
    const struct pdnn_lowering pdnn_lowering_##op_name = {                                                   \
        .op = &pdnn_op_##op_name,                                                                            \
        .pass = {[PDNN_FORWARD] = {.run = op_name##_forward,                                                 \
                                   .scratch_bytes = scratch_bytes,                                           \
                                   .half = PDNN_HALF_NATIVE},                                                \
                 [PDNN_BACKWARD_DATA] = {.run = op_name##_backward, .half = PDNN_HALF_NATIVE}},              \
    };
ELEMENT_LOSS(logistic_loss, PDNN_LOGISTIC_LOSS)
ELEMENT_LOSS(squared_error, PDNN_SQUARED_ERROR)
ELEMENT_LOSS(smooth_l1, PDNN_SMOOTH_L1)
