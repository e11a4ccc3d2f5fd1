/* batchnorm of images and matrices. Forward takes as posts an activation that clips (relu, hardtanh), add,
 * and another that clips, each optional, in this order; backward takes the one that follows it. */
#include "models/attributes.h"
#include "runtime/kernels/images/batchnorm.h"
#include "runtime/lowering/bound_call.h"

#include <math.h>

#define RANKS (PDNN_RANK(2) | PDNN_RANK(4))

static struct pdnn_batchnorm_options options_of(const struct pdnn_bound_call *call) {
    const void *result = call->out[0];
    bool in_place = result == call->in[0];
    for (int i = 0; i < call->node->n_posts; i++)
        in_place = in_place || result == call->post_in[i];
    return (struct pdnn_batchnorm_options){
        .threads = call->threads,
        .cache_bytes = call->cache_bytes,
        .bypass = !in_place && pdnn_call_bypasses(call, pdnn_call_image_bytes(call)),
        .scratch = call->scratch,
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_batchnorm_scratch(&call->shape, call->threads) * sizeof(double);
}

/* Consumes the next post if its op is `op`. */
static bool take_post(const struct pdnn_node *node, int *next, const struct pdnn_op_def *op) {
    bool is_it =
        *next < node->n_posts && node->posts[*next].op == op && node->posts[*next].pass == node->pass;
    *next += is_it;
    return is_it;
}

/* Consumes the next post if it clips, and says to what. */
static bool take_clip(const struct pdnn_node *node, int *next, struct pdnn_bounds *bounds) {
    *bounds = (struct pdnn_bounds){0, INFINITY};
    if (take_post(node, next, &pdnn_op_relu))
        return true;
    if (!take_post(node, next, &pdnn_op_hardtanh))
        return false;
    const double *coef = node->posts[*next - 1].coef;
    *bounds = (struct pdnn_bounds){(float)coef[PDNN_HARDTANH_LOW], (float)coef[PDNN_HARDTANH_HIGH]};
    return true;
}

static bool forward_takes(const struct pdnn_node *node) {
    struct pdnn_bounds bounds;
    int next = 0;
    take_clip(node, &next, &bounds);
    take_post(node, &next, &pdnn_op_add);
    take_clip(node, &next, &bounds);
    return next == node->n_posts;
}

static bool adds(const struct pdnn_node *node) {
    struct pdnn_bounds bounds;
    int next = 0;
    take_clip(node, &next, &bounds);
    return take_post(node, &next, &pdnn_op_add);
}

static bool backward_takes(const struct pdnn_node *node) {
    struct pdnn_bounds bounds;
    int next = 0;
    take_clip(node, &next, &bounds);
    return next == node->n_posts;
}

/* Channels that pad the last block are zero, and stay so between bounds that include 0. */
static void clear_padding(const struct pdnn_bound_call *call, const struct pdnn_bounds *bounds) {
    bool stays = !bounds || (bounds->low <= 0 && bounds->high >= 0);
    if (!stays && pdnn_channels_padded(&call->shape) != call->shape.C)
        pdnn_channels_clear_padding(call->out[PDNN_BATCHNORM_Y],
                                    (size_t)pdnn_stored_bytes(call->shape.stored), &call->shape,
                                    call->threads);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    const int n = node->n_inputs;
    const bool affine = n == PDNN_BATCHNORM_INPUTS, train = node->attr[PDNN_BATCHNORM_TRAIN];
    bool stays = train && node->n_outputs <= PDNN_BATCHNORM_NEW_MEAN; /* running statistics are not updated */
    struct pdnn_batchnorm_forward job = {
        .shape = call->shape,
        .x = call->in[PDNN_BATCHNORM_X],
        .gamma = affine ? call->in[PDNN_BATCHNORM_GAMMA] : NULL,
        .beta = affine ? call->in[PDNN_BATCHNORM_BETA] : NULL,
        .mean = train ? call->out[PDNN_BATCHNORM_BATCH_MEAN] : NULL,
        .inverse_std = train ? call->out[PDNN_BATCHNORM_INVERSE_STD] : NULL,
        .running_mean = stays ? NULL : call->in[n - 2],
        .running_variance = stays ? NULL : call->in[n - 1],
        .epsilon = node->coef[PDNN_BATCHNORM_EPSILON],
        .momentum = node->coef[PDNN_BATCHNORM_MOMENTUM],
        .y = call->out[PDNN_BATCHNORM_Y],
    };
    struct pdnn_bounds first, last;
    int next = 0;
    if (take_clip(node, &next, &first))
        job.first = &first;
    if (take_post(node, &next, &pdnn_op_add))
        job.other = call->post_in[next - 1];
    if (take_clip(node, &next, &last))
        job.last = &last;
    struct pdnn_batchnorm_options options = options_of(call);
    pdnn_batchnorm_forward(&job, &options);
    clear_padding(call, job.first);
    clear_padding(call, job.last);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_bounds bounds;
    int next = 0;
    bool is_clipped = take_clip(call->node, &next, &bounds);
    const int n = call->node->n_inputs;
    const bool train = call->node->attr[PDNN_BATCHNORM_TRAIN], has_weights = call->node->n_outputs > 1;
    const int gamma = train ? PDNN_BATCHNORM_BACK_GAMMA : PDNN_BATCHNORM_FROZEN_GAMMA,
              all = train ? PDNN_BATCHNORM_BACK_INPUTS : PDNN_BATCHNORM_FROZEN_INPUTS;
    struct pdnn_batchnorm_backward job = {
        .shape = call->shape,
        .dy = call->in[PDNN_BATCHNORM_BACK_DY],
        .x = train ? call->in[PDNN_BATCHNORM_BACK_X] : NULL,
        .gamma = n == all ? call->in[gamma] : NULL,
        .mean = train ? call->in[n - 2] : NULL,
        .inverse_std = train ? call->in[n - 1] : NULL,
        .running_variance = train ? NULL : call->in[n - 1],
        .epsilon = call->node->coef[PDNN_BATCHNORM_EPSILON],
        .clipped = is_clipped ? call->post_in[0] : NULL,
        .bounds = bounds,
        .dx = call->out[PDNN_BATCHNORM_BACK_DX],
        .dgamma = has_weights ? call->out[PDNN_BATCHNORM_BACK_DGAMMA] : NULL,
        .dbeta = has_weights ? call->out[PDNN_BATCHNORM_BACK_DBETA] : NULL,
    };
    struct pdnn_batchnorm_options options = options_of(call);
    pdnn_batchnorm_backward(&job, &options);
}

/* Training goes through what it takes its sums of twice: x; in backward dy, x, and y where a relu follows. */
static struct pdnn_extra_traffic extra(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    const bool is_forward = node->pass == PDNN_FORWARD, has_post = node->n_posts > 0;
    if (!node->attr[PDNN_BATCHNORM_TRAIN])
        return (struct pdnn_extra_traffic){0};
    const struct pdnn_chunks chunks = pdnn_chunks_of(&call->shape);
    int64_t again = is_forward ? 1 : has_post ? 3 : 2, others = is_forward && adds(node) ? 2 : 1;
    const struct pdnn_chunk_run run = {&chunks, again + others, call->cache_bytes};
    const uint64_t bytes = (uint64_t)again * pdnn_call_image_bytes(call);
    return (struct pdnn_extra_traffic){.read_bytes = bytes,
                                       .set_bytes = bytes / (uint64_t)chunks.count *
                                                    (uint64_t)pdnn_chunks_at_once(&run, call->threads)};
}

const struct pdnn_lowering pdnn_lowering_batchnorm = {
    .op = &pdnn_op_batchnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = RANKS,
                               .scratch_bytes = scratch_bytes,
                               .extra = extra,
                               .half = PDNN_HALF_NATIVE,
                               .takes_posts = forward_takes,
                               .sums_in_place = true},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = RANKS,
                                     .scratch_bytes = scratch_bytes,
                                     .extra = extra,
                                     .half = PDNN_HALF_NATIVE,
                                     .takes_posts = backward_takes}},
};
