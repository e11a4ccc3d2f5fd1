#include "runtime/lowering/score_rows.h"

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_softmax job = pdnn_score_rows_job(step);
    pdnn_softmax_forward(&job, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_softmax job = pdnn_score_rows_job(step);
    job.p = step->in[PDNN_SOFTMAX_BACK_Y];
    pdnn_softmax_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_softmax = {
    .op = &pdnn_op_softmax,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_ROWS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .half = PDNN_HALF_ROWS}},
};
