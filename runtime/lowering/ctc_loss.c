#include "runtime/kernels/sequence/ctc.h"
#include "runtime/lowering/bound_call.h"

static struct pdnn_ctc job_of(const struct pdnn_bound_call *call) {
    const int64_t *labels = pdnn_call_in_dim(call, PDNN_CTC_LOSS_LABELS); /* (L, N) */
    return (struct pdnn_ctc){
        .T = call->rows / labels[1],
        .N = labels[1],
        .C = call->columns,
        .L = labels[0],
        .logits = call->in[PDNN_CTC_LOSS_LOGITS],
        .labels = call->in[PDNN_CTC_LOSS_LABELS],
        .loss = call->out[PDNN_CTC_LOSS_LOSS],
        .dlogits = call->out[PDNN_CTC_LOSS_DLOGITS],
        .scratch = call->scratch,
        .scale = call->node->coef[PDNN_LOSS_SCALE],
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    const struct pdnn_ctc job = job_of(call);
    return (uint64_t)pdnn_ctc_scratch(&job, call->threads) * sizeof(double);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_ctc job = job_of(call);
    pdnn_ctc_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_ctc_loss = {
    .op = &pdnn_op_ctc_loss,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes}},
};
