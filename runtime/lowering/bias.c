/* Bias over the rows of a matrix or the channels of images. */
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/lowering/bound_call.h"

enum { IMAGE_RANK = 4 };

static bool is_image(const struct pdnn_bound_call *call) {
    return pdnn_node_in(call->graph, call->node, 0)->rank == IMAGE_RANK;
}

static uint64_t channel_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_channel_bias_scratch(&call->shape, call->threads) * sizeof(double);
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return is_image(call) ? channel_scratch(call) : 0;
}

static void forward(const struct pdnn_bound_call *call) {
    const float *x = call->in[PDNN_BIAS_X], *b = call->in[PDNN_BIAS_B];
    float *y = call->out[PDNN_BIAS_Y];
    if (!is_image(call)) {
        pdnn_bias_forward(x, b, y, call->rows, call->columns, call->threads);
        return;
    }
    struct pdnn_channel_bias job = {
        .shape = call->shape,
        .x = x,
        .b = b,
        .y = y,
        .bypass = y != x && pdnn_call_bypasses(call, pdnn_call_image_bytes(call)),
        .scratch = call->scratch,
    };
    pdnn_channel_bias_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    if (is_image(call))
        return channel_scratch(call);
    return (uint64_t)pdnn_column_sums_scratch(call->rows, call->columns, call->threads) * sizeof(float);
}

static void backward(const struct pdnn_bound_call *call) {
    const float *dy = call->in[PDNN_BIAS_BACK_DY];
    float *db = call->out[PDNN_BIAS_BACK_DB];
    if (!is_image(call)) {
        pdnn_column_sums(dy, db, call->scratch, call->rows, call->columns, call->threads);
        return;
    }
    struct pdnn_channel_bias job = {.shape = call->shape, .x = dy, .db = db, .scratch = call->scratch};
    pdnn_channel_bias_gradient(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_bias = {
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
