#include "base/rng.h"
#include "runtime/lowering/norm_rows.h"

/* Percentage dropped; 0 if nothing is. */
static int64_t percent_of(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr;
    return attr[PDNN_DROPOUT_ADD_NORM_TRAIN] ? attr[PDNN_DROPOUT_ADD_NORM_PERCENT] : 0;
}

/* From the counter, which is the last input in both passes if values are dropped. */
static uint64_t seed_of(const struct pdnn_bound_call *call) {
    int last = call->node->n_inputs - 1;
    const float *counter = call->in[last];
    return percent_of(call) ? pdnn_rng_at(call->node->input[last], (uint64_t)*counter) : 0;
}

static void forward(const struct pdnn_bound_call *call) {
    float *counter = call->out[PDNN_DROPOUT_ADD_NORM_NEW_COUNTER];
    if (counter)
        *counter += 1;
    struct pdnn_layernorm job = {
        .R = call->rows,
        .H = call->columns,
        .stored = call->shape.stored,
        .x = call->in[PDNN_DROPOUT_ADD_NORM_X],
        .residual = call->in[PDNN_DROPOUT_ADD_NORM_RESIDUAL],
        .gamma = call->in[PDNN_DROPOUT_ADD_NORM_GAMMA],
        .beta = call->in[PDNN_DROPOUT_ADD_NORM_BETA],
        .y = pdnn_norm_rows_result(call, PDNN_DROPOUT_ADD_NORM_Y),
        .mean = call->out[PDNN_DROPOUT_ADD_NORM_MEAN],
        .inverse_std = call->out[PDNN_DROPOUT_ADD_NORM_INVERSE_STD],
        .epsilon = (float)call->node->coef[PDNN_DROPOUT_ADD_NORM_EPSILON],
        .seed = seed_of(call),
        .percent = percent_of(call),
        .scratch = call->scratch,
    };
    if (!call->node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY])
        job.z = pdnn_norm_rows_result(call, PDNN_DROPOUT_ADD_NORM_Z);
    pdnn_layernorm_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_layernorm_gradients job = {
        .R = call->rows,
        .H = call->columns,
        .stored = call->shape.stored,
        .dy = call->in[PDNN_DROPOUT_ADD_NORM_BACK_DY],
        .x = call->in[PDNN_DROPOUT_ADD_NORM_BACK_Z],
        .gamma = call->in[PDNN_DROPOUT_ADD_NORM_BACK_GAMMA],
        .mean = call->in[PDNN_DROPOUT_ADD_NORM_BACK_MEAN],
        .inverse_std = call->in[PDNN_DROPOUT_ADD_NORM_BACK_INVERSE_STD],
        .dx = pdnn_norm_rows_result(call, PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL),
        .dgamma = call->out[PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA],
        .dbeta = call->out[PDNN_DROPOUT_ADD_NORM_BACK_DBETA],
        .percent = percent_of(call),
        .seed = seed_of(call),
        .scratch = call->scratch,
    };
    if (call->node->n_inputs - (job.percent > 0) > PDNN_DROPOUT_ADD_NORM_BACK_DZ)
        job.dz = call->in[PDNN_DROPOUT_ADD_NORM_BACK_DZ];
    if (job.percent)
        job.masked = pdnn_norm_rows_result(call, PDNN_DROPOUT_ADD_NORM_BACK_DX);
    pdnn_layernorm_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_dropout_add_norm = {
    .op = &pdnn_op_dropout_add_norm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .scratch_bytes = pdnn_norm_rows_scratch,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = pdnn_norm_rows_backward_scratch,
                                     .half = PDNN_HALF_NATIVE}},
};
