#include "runtime/kernels/images/groupnorm.h"
#include "models/attributes.h"
#include "runtime/lowering/bound_call.h"

static bool is_backward(const struct pdnn_bound_call *call) {
    return call->node->pass == PDNN_BACKWARD_DATA;
}

static struct pdnn_groupnorm_options options_of(const struct pdnn_bound_call *call) {
    const bool in_place = call->out[0] == call->in[0] || (is_backward(call) && call->out[0] == call->in[1]);
    return (struct pdnn_groupnorm_options){
        .threads = call->threads,
        .cache_bytes = call->cache_bytes,
        .bypass = !in_place && pdnn_call_bypasses(call, pdnn_call_image_bytes(call)),
        .scratch = call->scratch,
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    const int64_t groups = call->node->attr[PDNN_GROUPNORM_GROUPS];
    return (uint64_t)pdnn_groupnorm_scratch(&call->shape, groups, is_backward(call), call->threads,
                                            call->cache_bytes) *
           sizeof(double);
}

static void forward(const struct pdnn_bound_call *call) {
    const bool train = call->node->attr[PDNN_GROUPNORM_TRAIN];
    const struct pdnn_groupnorm_forward job = {
        .shape = call->shape,
        .groups = call->node->attr[PDNN_GROUPNORM_GROUPS],
        .x = call->in[PDNN_GROUPNORM_X],
        .gamma = call->in[PDNN_GROUPNORM_GAMMA],
        .beta = call->in[PDNN_GROUPNORM_BETA],
        .mean = train ? call->out[PDNN_GROUPNORM_MEAN] : NULL,
        .inverse_std = train ? call->out[PDNN_GROUPNORM_INVERSE_STD] : NULL,
        .epsilon = call->node->coef[PDNN_GROUPNORM_EPSILON],
        .y = call->out[PDNN_GROUPNORM_Y],
    };
    const struct pdnn_groupnorm_options options = options_of(call);
    pdnn_groupnorm_forward(&job, &options);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_groupnorm_backward job = {
        .shape = call->shape,
        .groups = call->node->attr[PDNN_GROUPNORM_GROUPS],
        .dy = call->in[PDNN_GROUPNORM_BACK_DY],
        .x = call->in[PDNN_GROUPNORM_BACK_X],
        .gamma = call->in[PDNN_GROUPNORM_BACK_GAMMA],
        .mean = call->in[PDNN_GROUPNORM_BACK_MEAN],
        .inverse_std = call->in[PDNN_GROUPNORM_BACK_INVERSE_STD],
        .dx = call->out[PDNN_GROUPNORM_BACK_DX],
        .dgamma = call->out[PDNN_GROUPNORM_BACK_DGAMMA],
        .dbeta = call->out[PDNN_GROUPNORM_BACK_DBETA],
    };
    const struct pdnn_groupnorm_options options = options_of(call);
    pdnn_groupnorm_backward(&job, &options);
}

/* What sums are taken of is read again: x, and in backward dy too. */
static struct pdnn_extra_traffic extra(const struct pdnn_bound_call *call) {
    const uint64_t tensors = is_backward(call) ? 2 : 1;
    const uint64_t held = pdnn_groupnorm_held_bytes(&call->shape, call->node->attr[PDNN_GROUPNORM_GROUPS],
                                                    is_backward(call), call->threads, call->cache_bytes);
    return (struct pdnn_extra_traffic){.read_bytes = tensors * pdnn_call_image_bytes(call),
                                       .set_bytes = tensors * held};
}

const struct pdnn_lowering pdnn_lowering_groupnorm = {
    .op = &pdnn_op_groupnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(4),
                               .scratch_bytes = scratch_bytes,
                               .extra = extra,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(4),
                                     .scratch_bytes = scratch_bytes,
                                     .extra = extra,
                                     .half = PDNN_HALF_NATIVE}},
};
