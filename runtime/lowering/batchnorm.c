/* batchnorm of images and matrices. Forward takes the posts relu, add and relu, each optional, in this order;
 * backward takes the relu that follows it. */
#include "runtime/kernels/images/batchnorm.h"
#include "runtime/lowering/bound_call.h"

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

static bool forward_takes(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    take_post(node, &next, &pdnn_op_add);
    take_post(node, &next, &pdnn_op_relu);
    return next == node->n_posts;
}

static bool adds(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    return take_post(node, &next, &pdnn_op_add);
}

static bool backward_takes(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    return next == node->n_posts;
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    bool train = node->attr[PDNN_BATCHNORM_TRAIN];
    bool stays = train && node->n_outputs <= PDNN_BATCHNORM_NEW_MEAN; /* running statistics are not updated */
    struct pdnn_batchnorm_forward job = {
        .shape = call->shape,
        .x = call->in[PDNN_BATCHNORM_X],
        .gamma = call->in[PDNN_BATCHNORM_GAMMA],
        .beta = call->in[PDNN_BATCHNORM_BETA],
        .mean = train ? call->out[PDNN_BATCHNORM_BATCH_MEAN] : NULL,
        .inverse_std = train ? call->out[PDNN_BATCHNORM_INVERSE_STD] : NULL,
        .running_mean = stays ? NULL : call->in[PDNN_BATCHNORM_MEAN],
        .running_variance = stays ? NULL : call->in[PDNN_BATCHNORM_VARIANCE],
        .epsilon = node->coef[PDNN_BATCHNORM_EPSILON],
        .momentum = node->coef[PDNN_BATCHNORM_MOMENTUM],
        .y = call->out[PDNN_BATCHNORM_Y],
    };
    int next = 0;
    job.relu_first = take_post(node, &next, &pdnn_op_relu);
    if (take_post(node, &next, &pdnn_op_add))
        job.other = call->post_in[next - 1];
    job.relu = take_post(node, &next, &pdnn_op_relu);
    struct pdnn_batchnorm_options options = options_of(call);
    pdnn_batchnorm_forward(&job, &options);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_batchnorm_backward job = {
        .shape = call->shape,
        .dy = call->in[PDNN_BATCHNORM_BACK_DY],
        .x = call->in[PDNN_BATCHNORM_BACK_X],
        .gamma = call->in[PDNN_BATCHNORM_BACK_GAMMA],
        .mean = call->in[PDNN_BATCHNORM_BACK_MEAN],
        .inverse_std = call->in[PDNN_BATCHNORM_BACK_INVERSE_STD],
        .mask = call->node->n_posts ? call->post_in[0] : NULL,
        .dx = call->out[PDNN_BATCHNORM_BACK_DX],
        .dgamma = call->out[PDNN_BATCHNORM_BACK_DGAMMA],
        .dbeta = call->out[PDNN_BATCHNORM_BACK_DBETA],
    };
    struct pdnn_batchnorm_options options = options_of(call);
    pdnn_batchnorm_backward(&job, &options);
}

/* Training goes through what it takes its sums of twice: x; in backward dy, x, and y where a relu follows. */
static struct pdnn_extra_traffic extra(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    const bool is_forward = node->pass == PDNN_FORWARD, has_post = node->n_posts > 0;
    if (is_forward && !node->attr[PDNN_BATCHNORM_TRAIN])
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
                               .takes_posts = forward_takes,
                               .sums_in_place = true},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = RANKS,
                                     .scratch_bytes = scratch_bytes,
                                     .extra = extra,
                                     .takes_posts = backward_takes}},
};
