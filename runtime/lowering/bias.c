/* Bias over the rows of a matrix or the channels of images. */
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/images/spread.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/lowering/bound_call.h"

enum { IMAGE_RANK = 4 };

static bool is_image(const struct pdnn_bound_call *call) {
    return pdnn_node_in(call->graph, call->node, 0)->rank == IMAGE_RANK;
}

/* Images of 16-bit values. */
static bool is_half_image(const struct pdnn_bound_call *call) {
    return is_image(call) && call->shape.stored != PDNN_STORED_F32;
}

static struct pdnn_spread spread_of(const struct pdnn_bound_call *call) {
    return (struct pdnn_spread){
        .shape = call->shape,
        .adds = true,
        .is_shared = true,
        .b_stride = call->shape.C,
        .half = pdnn_half_of_stored(call->shape.stored),
        .is_half = true,
        .scratch = call->scratch,
    };
}

static uint64_t image_scratch(const struct pdnn_bound_call *call) {
    const int64_t doubles = is_half_image(call) ? pdnn_spread_scratch(&call->shape, true, call->threads)
                                                : pdnn_channel_bias_scratch(&call->shape, call->threads);
    return (uint64_t)doubles * sizeof(double);
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return is_image(call) && !is_half_image(call) ? image_scratch(call) : 0;
}

static void forward_image(const struct pdnn_bound_call *call, bool bypass) {
    const float *b = call->in[PDNN_BIAS_B];
    if (is_half_image(call)) {
        struct pdnn_spread job = spread_of(call);
        job.a = call->in[PDNN_BIAS_X];
        job.b = b;
        job.y = call->out[PDNN_BIAS_Y];
        job.bypass = bypass;
        pdnn_spread_forward(&job, call->threads);
        return;
    }
    struct pdnn_channel_bias job = {
        .shape = call->shape,
        .x = call->in[PDNN_BIAS_X],
        .b = b,
        .y = call->out[PDNN_BIAS_Y],
        .bypass = bypass,
        .scratch = call->scratch,
    };
    pdnn_channel_bias_forward(&job, call->threads);
}

static void forward(const struct pdnn_bound_call *call) {
    const bool bypass = call->out[PDNN_BIAS_Y] != call->in[PDNN_BIAS_X] &&
                        pdnn_call_bypasses(call, pdnn_call_image_bytes(call));
    if (is_image(call)) {
        forward_image(call, bypass);
        return;
    }
    const struct pdnn_bias job = {
        .N = call->rows,
        .C = call->columns,
        .stored = call->shape.stored,
        .x = call->in[PDNN_BIAS_X],
        .b = call->in[PDNN_BIAS_B],
        .y = call->out[PDNN_BIAS_Y],
        .bypass = bypass,
    };
    pdnn_bias_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    if (is_image(call))
        return image_scratch(call);
    return (uint64_t)pdnn_column_sums_scratch(call->rows, call->columns, call->threads) * sizeof(float);
}

static void backward_image(const struct pdnn_bound_call *call) {
    if (is_half_image(call)) {
        struct pdnn_spread job = spread_of(call);
        job.dy = call->in[PDNN_BIAS_BACK_DY];
        job.db = call->out[PDNN_BIAS_BACK_DB];
        pdnn_spread_backward(&job, call->threads);
        return;
    }
    struct pdnn_channel_bias job = {.shape = call->shape,
                                    .x = call->in[PDNN_BIAS_BACK_DY],
                                    .db = call->out[PDNN_BIAS_BACK_DB],
                                    .scratch = call->scratch};
    pdnn_channel_bias_gradient(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    if (is_image(call)) {
        backward_image(call);
        return;
    }
    const struct pdnn_column_sums job = {.N = call->rows,
                                         .C = call->columns,
                                         .stored = call->shape.stored,
                                         .dy = call->in[PDNN_BIAS_BACK_DY],
                                         .sums = call->out[PDNN_BIAS_BACK_DB],
                                         .scratch = call->scratch};
    pdnn_column_sums(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_bias = {
    .op = &pdnn_op_bias,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2) | PDNN_RANK(IMAGE_RANK),
                               .scratch_bytes = forward_scratch,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward,
                                        .ranks = PDNN_RANK(2) | PDNN_RANK(IMAGE_RANK),
                                        .scratch_bytes = backward_scratch,
                                        .half = PDNN_HALF_NATIVE}},
};
