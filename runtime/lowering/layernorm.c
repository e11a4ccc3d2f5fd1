#include "runtime/lowering/norm_rows.h"

/* Gamma and beta are NULL where there are none, and so are their gradients. */
static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_layernorm job = {
        .R = call->rows,
        .H = call->columns,
        .stored = call->shape.stored,
        .x = call->in[PDNN_LAYERNORM_X],
        .gamma = call->in[PDNN_LAYERNORM_GAMMA],
        .beta = call->in[PDNN_LAYERNORM_BETA],
        .y = pdnn_norm_rows_result(call, PDNN_LAYERNORM_Y),
        .mean = call->out[PDNN_LAYERNORM_MEAN],
        .inverse_std = call->out[PDNN_LAYERNORM_INVERSE_STD],
        .epsilon = (float)call->node->coef[PDNN_LAYERNORM_EPSILON],
        .scratch = call->scratch,
    };
    pdnn_layernorm_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const int mean = call->node->n_inputs - 2; /* then comes inverse_std */
    struct pdnn_layernorm_gradients job = {
        .R = call->rows,
        .H = call->columns,
        .stored = call->shape.stored,
        .dy = call->in[PDNN_LAYERNORM_BACK_DY],
        .x = call->in[PDNN_LAYERNORM_BACK_X],
        .gamma = mean == PDNN_LAYERNORM_BACK_MEAN ? call->in[PDNN_LAYERNORM_BACK_GAMMA] : NULL,
        .mean = call->in[mean],
        .inverse_std = call->in[mean + 1],
        .dx = pdnn_norm_rows_result(call, PDNN_LAYERNORM_BACK_DX),
        .dgamma = call->out[PDNN_LAYERNORM_BACK_DGAMMA],
        .dbeta = call->out[PDNN_LAYERNORM_BACK_DBETA],
        .scratch = call->scratch,
    };
    pdnn_layernorm_backward(&job, call->threads);
}

/* Rows in f32 are read where they lie. */
static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return call->shape.stored == PDNN_STORED_F32 ? 0 : pdnn_norm_rows_scratch(call);
}

const struct pdnn_lowering pdnn_lowering_layernorm = {
    .op = &pdnn_op_layernorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .scratch_bytes = forward_scratch,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = pdnn_norm_rows_backward_scratch,
                                     .half = PDNN_HALF_NATIVE}},
};
