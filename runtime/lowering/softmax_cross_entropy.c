#include "runtime/kernels/rows/loss.h"
#include "runtime/lowering/bound_step.h"

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    return (uint64_t)step->threads * PDNN_LOSS_STRIDE * sizeof(double);
}

static void forward(const struct pdnn_bound_step *step) {
    struct pdnn_loss_job job = {
        .x = step->in[PDNN_SOFTMAX_CROSS_ENTROPY_X],
        .label = step->in[PDNN_SOFTMAX_CROSS_ENTROPY_LABEL],
        .loss = step->out[PDNN_SOFTMAX_CROSS_ENTROPY_LOSS],
        .y = step->out[PDNN_SOFTMAX_CROSS_ENTROPY_P],
        .partial = step->scratch,
        .N = step->rows,
        .C = step->columns,
        .scale = step->node->coef[PDNN_LOSS_SCALE],
    };
    pdnn_loss_forward(&job, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_loss_job job = {
        .x = step->in[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P],
        .label = step->in[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL],
        .y = step->out[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_DX],
        .N = step->rows,
        .C = step->columns,
        .scale = step->node->coef[PDNN_LOSS_SCALE],
    };
    pdnn_loss_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_softmax_cross_entropy = {
    .op = &pdnn_op_softmax_cross_entropy,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes},
             [PDNN_BACKWARD_DATA] = {.run = backward}},
};
