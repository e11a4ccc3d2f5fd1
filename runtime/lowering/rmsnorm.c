#include "runtime/kernels/rows/rmsnorm.h"
#include "runtime/lowering/norm_rows.h"

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_rmsnorm job = {
        .x = call->in[PDNN_RMSNORM_X],
        .gamma = call->in[PDNN_RMSNORM_GAMMA],
        .y = pdnn_norm_rows_result(call, PDNN_RMSNORM_Y),
        .inverse_rms = call->out[PDNN_RMSNORM_INVERSE_RMS],
        .epsilon = (float)call->node->coef[PDNN_RMSNORM_EPSILON],
        .R = call->rows,
        .H = call->columns,
    };
    pdnn_rmsnorm_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_rmsnorm_backward_scratch(call->rows, call->columns) * sizeof(float);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_rmsnorm job = {
        .x = call->in[PDNN_RMSNORM_BACK_X],
        .gamma = call->in[PDNN_RMSNORM_BACK_GAMMA],
        .dy = call->in[PDNN_RMSNORM_BACK_DY],
        .dx = call->out[PDNN_RMSNORM_BACK_DX],
        .dgamma = call->out[PDNN_RMSNORM_BACK_DGAMMA],
        .scratch = call->scratch,
        .inverse_rms = call->in[PDNN_RMSNORM_BACK_INVERSE_RMS],
        .R = call->rows,
        .H = call->columns,
    };
    pdnn_rmsnorm_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_rmsnorm = {
    .op = &pdnn_op_rmsnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .half = PDNN_HALF_ROWS,
                               .whole = 1U << PDNN_RMSNORM_GAMMA},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch}},
};
