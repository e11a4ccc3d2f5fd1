#include "runtime/lowering/norm_rows.h"

static void forward(const struct pdnn_bound_step *step) {
    struct pdnn_layernorm job = {
        .R = step->rows,
        .H = step->columns,
        .x = step->in[PDNN_LAYERNORM_X],
        .gamma = step->in[PDNN_LAYERNORM_GAMMA],
        .beta = step->in[PDNN_LAYERNORM_BETA],
        .y = pdnn_norm_rows_result(step, PDNN_LAYERNORM_Y),
        .mean = step->out[PDNN_LAYERNORM_MEAN],
        .inverse_std = step->out[PDNN_LAYERNORM_INVERSE_STD],
        .epsilon = (float)step->node->coef[PDNN_LAYERNORM_EPSILON],
    };
    pdnn_layernorm_forward(&job, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_layernorm_gradients job = {
        .R = step->rows,
        .H = step->columns,
        .dy = step->in[PDNN_LAYERNORM_BACK_DY],
        .x = step->in[PDNN_LAYERNORM_BACK_X],
        .gamma = step->in[PDNN_LAYERNORM_BACK_GAMMA],
        .mean = step->in[PDNN_LAYERNORM_BACK_MEAN],
        .inverse_std = step->in[PDNN_LAYERNORM_BACK_INVERSE_STD],
        .dx = pdnn_norm_rows_result(step, PDNN_LAYERNORM_BACK_DX),
        .dgamma = step->out[PDNN_LAYERNORM_BACK_DGAMMA],
        .dbeta = step->out[PDNN_LAYERNORM_BACK_DBETA],
        .scratch = step->scratch,
    };
    pdnn_layernorm_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_layernorm = {
    .op = &pdnn_op_layernorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .half = PDNN_HALF_ROWS,
                               .whole = 1U << PDNN_LAYERNORM_GAMMA | 1U << PDNN_LAYERNORM_BETA},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = pdnn_norm_rows_backward_scratch}},
};
