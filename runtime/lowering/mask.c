#include "runtime/lowering/score_rows.h"

#include <math.h>

static struct pdnn_softmax job_of(const struct pdnn_bound_step *step) {
    const int64_t *attr = step->node->attr;
    return pdnn_score_rows_masked_job(step, attr[PDNN_MASK_SEQUENCES], attr[PDNN_MASK_CAUSAL]);
}

static void forward(const struct pdnn_bound_step *step) {
    struct pdnn_softmax job = job_of(step);
    job.bias = step->in[PDNN_MASK_BIAS];
    pdnn_softmax_mask(&job, -INFINITY, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    const struct pdnn_softmax job = job_of(step);
    pdnn_softmax_mask(&job, 0, step->threads);
}

const struct pdnn_step_def pdnn_step_mask = {
    .op = &pdnn_op_mask,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(3)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(3)}},
};
