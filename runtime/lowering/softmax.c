#include "runtime/lowering/score_rows.h"

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_softmax job = pdnn_score_rows_job(call);
    pdnn_softmax_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_softmax job = pdnn_score_rows_job(call);
    job.p = call->in[PDNN_SOFTMAX_BACK_Y];
    pdnn_softmax_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_softmax = {
    .op = &pdnn_op_softmax,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_ROWS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .half = PDNN_HALF_ROWS}},
};
