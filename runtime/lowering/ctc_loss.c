#include "runtime/kernels/sequence/ctc.h"
#include "runtime/lowering/bound_step.h"

static struct pdnn_ctc job_of(const struct pdnn_bound_step *step) {
    const int64_t *labels = pdnn_step_in_dim(step, PDNN_CTC_LOSS_LABELS); /* (L, N) */
    return (struct pdnn_ctc){
        .T = step->rows / labels[1],
        .N = labels[1],
        .C = step->columns,
        .L = labels[0],
        .logits = step->in[PDNN_CTC_LOSS_LOGITS],
        .labels = step->in[PDNN_CTC_LOSS_LABELS],
        .loss = step->out[PDNN_CTC_LOSS_LOSS],
        .dlogits = step->out[PDNN_CTC_LOSS_DLOGITS],
        .scratch = step->scratch,
        .scale = step->node->coef[PDNN_LOSS_SCALE],
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    const struct pdnn_ctc job = job_of(step);
    return (uint64_t)pdnn_ctc_scratch(&job, step->threads) * sizeof(double);
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_ctc job = job_of(step);
    pdnn_ctc_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_ctc_loss = {
    .op = &pdnn_op_ctc_loss,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes}},
};
