#include "base/rng.h"
#include "runtime/lowering/norm_rows.h"

/* Percentage dropped; 0 if nothing is. */
static int64_t percent_of(const struct pdnn_bound_step *step) {
    const int64_t *attr = step->node->attr;
    return attr[PDNN_DROPOUT_ADD_NORM_TRAIN] ? attr[PDNN_DROPOUT_ADD_NORM_PERCENT] : 0;
}

/* From the counter, which is the last input in both passes if values are dropped. */
static uint64_t seed_of(const struct pdnn_bound_step *step) {
    int last = step->node->n_inputs - 1;
    const float *counter = step->in[last];
    return percent_of(step) ? pdnn_rng_at(step->node->input[last], (uint64_t)*counter) : 0;
}

static void forward(const struct pdnn_bound_step *step) {
    float *counter = step->out[PDNN_DROPOUT_ADD_NORM_NEW_COUNTER];
    if (counter)
        *counter += 1;
    struct pdnn_layernorm job = {
        .R = step->rows,
        .H = step->columns,
        .x = step->in[PDNN_DROPOUT_ADD_NORM_X],
        .residual = step->in[PDNN_DROPOUT_ADD_NORM_RESIDUAL],
        .gamma = step->in[PDNN_DROPOUT_ADD_NORM_GAMMA],
        .beta = step->in[PDNN_DROPOUT_ADD_NORM_BETA],
        .y = pdnn_norm_rows_result(step, PDNN_DROPOUT_ADD_NORM_Y),
        .mean = step->out[PDNN_DROPOUT_ADD_NORM_MEAN],
        .inverse_std = step->out[PDNN_DROPOUT_ADD_NORM_INVERSE_STD],
        .epsilon = (float)step->node->coef[PDNN_DROPOUT_ADD_NORM_EPSILON],
        .seed = seed_of(step),
        .percent = percent_of(step),
        .scratch = step->scratch,
    };
    if (!step->node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY])
        job.z = pdnn_norm_rows_result(step, PDNN_DROPOUT_ADD_NORM_Z);
    pdnn_layernorm_forward(&job, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_layernorm_gradients job = {
        .R = step->rows,
        .H = step->columns,
        .dy = step->in[PDNN_DROPOUT_ADD_NORM_BACK_DY],
        .x = step->in[PDNN_DROPOUT_ADD_NORM_BACK_Z],
        .gamma = step->in[PDNN_DROPOUT_ADD_NORM_BACK_GAMMA],
        .mean = step->in[PDNN_DROPOUT_ADD_NORM_BACK_MEAN],
        .inverse_std = step->in[PDNN_DROPOUT_ADD_NORM_BACK_INVERSE_STD],
        .dx = pdnn_norm_rows_result(step, PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL),
        .dgamma = step->out[PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA],
        .dbeta = step->out[PDNN_DROPOUT_ADD_NORM_BACK_DBETA],
        .percent = percent_of(step),
        .seed = seed_of(step),
        .scratch = step->scratch,
    };
    if (step->node->n_inputs - (job.percent > 0) > PDNN_DROPOUT_ADD_NORM_BACK_DZ)
        job.dz = step->in[PDNN_DROPOUT_ADD_NORM_BACK_DZ];
    if (job.percent)
        job.masked = pdnn_norm_rows_result(step, PDNN_DROPOUT_ADD_NORM_BACK_DX);
    pdnn_layernorm_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_dropout_add_norm = {
    .op = &pdnn_op_dropout_add_norm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .scratch_bytes = pdnn_norm_rows_scratch},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = pdnn_norm_rows_backward_scratch}},
};
