#include "runtime/kernels/rows/rmsnorm.h"
#include "runtime/lowering/norm_rows.h"

/* Where the rows or their heads lie. */
static struct pdnn_rmsnorm job_of(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr, ld = call->columns;
    bool is_whole = !attr[PDNN_RMSNORM_HEADS];
    return (struct pdnn_rmsnorm){
        .R = call->rows,
        .H = is_whole ? ld : attr[PDNN_RMSNORM_WIDTH],
        .heads = is_whole ? 1 : attr[PDNN_RMSNORM_HEADS],
        .column = attr[PDNN_RMSNORM_COLUMN],
        .ld = ld,
        .stored = call->shape.stored,
    };
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_rmsnorm job = job_of(call);
    job.x = call->in[PDNN_RMSNORM_X];
    job.gamma = call->in[PDNN_RMSNORM_GAMMA];
    job.y = pdnn_norm_rows_result(call, PDNN_RMSNORM_Y);
    job.inverse_rms = call->out[PDNN_RMSNORM_INVERSE_RMS];
    job.epsilon = (float)call->node->coef[PDNN_RMSNORM_EPSILON];
    pdnn_rmsnorm_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    const struct pdnn_rmsnorm job = job_of(call);
    return (uint64_t)pdnn_rmsnorm_backward_scratch(job.R, job.H) * sizeof(float);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_rmsnorm job = job_of(call);
    job.x = call->in[PDNN_RMSNORM_BACK_X];
    job.gamma = call->in[PDNN_RMSNORM_BACK_GAMMA];
    job.dy = call->in[PDNN_RMSNORM_BACK_DY];
    job.dx = pdnn_norm_rows_result(call, PDNN_RMSNORM_BACK_DX);
    job.dgamma = call->out[PDNN_RMSNORM_BACK_DGAMMA];
    job.scratch = call->scratch;
    job.inverse_rms = call->in[PDNN_RMSNORM_BACK_INVERSE_RMS];
    pdnn_rmsnorm_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_rmsnorm = {
    .op = &pdnn_op_rmsnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch,
                                     .half = PDNN_HALF_NATIVE}},
};
