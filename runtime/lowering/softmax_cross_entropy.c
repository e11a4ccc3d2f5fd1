#include "runtime/kernels/rows/loss.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)call->threads * PDNN_LOSS_STRIDE * sizeof(double);
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_loss_job job = {
        .x = call->in[PDNN_SOFTMAX_CROSS_ENTROPY_X],
        .label = call->in[PDNN_SOFTMAX_CROSS_ENTROPY_LABEL],
        .loss = call->out[PDNN_SOFTMAX_CROSS_ENTROPY_LOSS],
        .y = call->out[PDNN_SOFTMAX_CROSS_ENTROPY_P],
        .partial = call->scratch,
        .N = call->rows,
        .C = call->columns,
        .scale = call->node->coef[PDNN_LOSS_SCALE],
    };
    pdnn_loss_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_loss_job job = {
        .x = call->in[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P],
        .label = call->in[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL],
        .y = call->out[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_DX],
        .N = call->rows,
        .C = call->columns,
        .scale = call->node->coef[PDNN_LOSS_SCALE],
    };
    pdnn_loss_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_softmax_cross_entropy = {
    .op = &pdnn_op_softmax_cross_entropy,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes},
             [PDNN_BACKWARD_DATA] = {.run = backward}},
};
