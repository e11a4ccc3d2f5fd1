/* Bias over the rows of a matrix or the channels of images. */
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/lowering/bound_step.h"

enum { IMAGE_RANK = 4 };

static bool is_image(const struct pdnn_bound_step *step) {
    return pdnn_node_in(step->graph, step->node, 0)->rank == IMAGE_RANK;
}

static uint64_t channel_scratch(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_channel_bias_scratch(&step->shape, step->threads) * sizeof(double);
}

static uint64_t forward_scratch(const struct pdnn_bound_step *step) {
    return is_image(step) ? channel_scratch(step) : 0;
}

static void forward(const struct pdnn_bound_step *step) {
    const float *x = step->in[PDNN_BIAS_X], *b = step->in[PDNN_BIAS_B];
    float *y = step->out[PDNN_BIAS_Y];
    if (!is_image(step)) {
        pdnn_bias_forward(x, b, y, step->rows, step->columns, step->threads);
        return;
    }
    struct pdnn_channel_bias job = {
        .shape = step->shape,
        .x = x,
        .b = b,
        .y = y,
        .bypass = y != x && pdnn_step_bypasses(step, pdnn_step_image_bytes(step)),
        .scratch = step->scratch,
    };
    pdnn_channel_bias_forward(&job, step->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_step *step) {
    if (is_image(step))
        return channel_scratch(step);
    return (uint64_t)pdnn_column_sums_scratch(step->rows, step->columns, step->threads) * sizeof(float);
}

static void backward(const struct pdnn_bound_step *step) {
    const float *dy = step->in[PDNN_BIAS_BACK_DY];
    float *db = step->out[PDNN_BIAS_BACK_DB];
    if (!is_image(step)) {
        pdnn_column_sums(dy, db, step->scratch, step->rows, step->columns, step->threads);
        return;
    }
    struct pdnn_channel_bias job = {.shape = step->shape, .x = dy, .db = db, .scratch = step->scratch};
    pdnn_channel_bias_gradient(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_bias = {
    .op = &pdnn_op_bias,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2) | PDNN_RANK(IMAGE_RANK),
                               .scratch_bytes = forward_scratch,
                               .half = PDNN_HALF_ROWS,
                               .whole = 1U << PDNN_BIAS_B},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward,
                                        .ranks = PDNN_RANK(2) | PDNN_RANK(IMAGE_RANK),
                                        .scratch_bytes = backward_scratch}},
};
