#include "runtime/kernels/rows/rmsnorm.h"
#include "runtime/lowering/norm_rows.h"

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_rmsnorm job = {
        .x = step->in[PDNN_RMSNORM_X],
        .gamma = step->in[PDNN_RMSNORM_GAMMA],
        .y = pdnn_norm_rows_result(step, PDNN_RMSNORM_Y),
        .inverse_rms = step->out[PDNN_RMSNORM_INVERSE_RMS],
        .epsilon = (float)step->node->coef[PDNN_RMSNORM_EPSILON],
        .R = step->rows,
        .H = step->columns,
    };
    pdnn_rmsnorm_forward(&job, step->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_rmsnorm_backward_scratch(step->rows, step->columns) * sizeof(float);
}

static void backward(const struct pdnn_bound_step *step) {
    const struct pdnn_rmsnorm job = {
        .x = step->in[PDNN_RMSNORM_BACK_X],
        .gamma = step->in[PDNN_RMSNORM_BACK_GAMMA],
        .dy = step->in[PDNN_RMSNORM_BACK_DY],
        .dx = step->out[PDNN_RMSNORM_BACK_DX],
        .dgamma = step->out[PDNN_RMSNORM_BACK_DGAMMA],
        .scratch = step->scratch,
        .inverse_rms = step->in[PDNN_RMSNORM_BACK_INVERSE_RMS],
        .R = step->rows,
        .H = step->columns,
    };
    pdnn_rmsnorm_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_rmsnorm = {
    .op = &pdnn_op_rmsnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .half = PDNN_HALF_ROWS,
                               .whole = 1U << PDNN_RMSNORM_GAMMA},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch}},
};
