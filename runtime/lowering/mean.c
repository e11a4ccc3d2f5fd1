#include "runtime/kernels/rows/mean.h"
#include "runtime/lowering/bound_call.h"

/* x (rows, columns) is dx in backward. */
static struct pdnn_mean_job job_of(const struct pdnn_bound_call *call, const int64_t *x) {
    const int64_t *attr = call->node->attr, sequences = attr[PDNN_MEAN_SEQUENCES];
    struct pdnn_mean_job job = {.outer = x[0], .n = x[1], .inner = 1, .stored = call->shape.stored};
    if (attr[PDNN_MEAN_ALONG] == PDNN_MEAN_ROWS) {
        job.outer = sequences;
        job.n = x[0] / sequences;
        job.inner = x[1];
    }
    return job;
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_mean_job job = job_of(call, pdnn_call_in_dim(call, PDNN_MEAN_X));
    job.x = call->in[PDNN_MEAN_X];
    job.y = call->out[PDNN_MEAN_Y];
    pdnn_mean_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_mean_job job = job_of(call, pdnn_call_out_dim(call, PDNN_MEAN_Y));
    job.x = call->out[PDNN_MEAN_Y];
    job.y = call->in[PDNN_MEAN_X];
    job.bypass = pdnn_call_bypasses_output(call, PDNN_MEAN_Y);
    pdnn_mean_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_mean = {
    .op = &pdnn_op_mean,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_NATIVE}},
};
