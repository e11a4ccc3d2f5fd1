/* batchnorm of images and matrices. Forward takes the posts relu, add and relu, each optional, in this order;
 * backward takes the relu that follows it. */
#include "runtime/kernels/images/batchnorm.h"
#include "runtime/lowering/bound_step.h"

#define RANKS (PDNN_RANK(2) | PDNN_RANK(4))

static struct pdnn_batchnorm_options options_of(const struct pdnn_bound_step *step) {
    const void *result = step->out[0];
    bool in_place = result == step->in[0];
    for (int i = 0; i < step->node->n_posts; i++)
        in_place = in_place || result == step->post_in[i];
    return (struct pdnn_batchnorm_options){
        .threads = step->threads,
        .cache_bytes = step->cache_bytes,
        .bypass = !in_place && pdnn_step_bypasses(step, pdnn_step_image_bytes(step)),
        .scratch = step->scratch,
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_batchnorm_scratch(&step->shape, step->threads) * sizeof(double);
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

static bool backward_takes(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    return next == node->n_posts;
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_node *node = step->node;
    bool train = node->attr[PDNN_BATCHNORM_TRAIN];
    bool stays = train && node->n_outputs <= PDNN_BATCHNORM_NEW_MEAN; /* running statistics are not updated */
    struct pdnn_batchnorm_forward job = {
        .shape = step->shape,
        .x = step->in[PDNN_BATCHNORM_X],
        .gamma = step->in[PDNN_BATCHNORM_GAMMA],
        .beta = step->in[PDNN_BATCHNORM_BETA],
        .mean = train ? step->out[PDNN_BATCHNORM_BATCH_MEAN] : NULL,
        .inverse_std = train ? step->out[PDNN_BATCHNORM_INVERSE_STD] : NULL,
        .running_mean = stays ? NULL : step->in[PDNN_BATCHNORM_MEAN],
        .running_variance = stays ? NULL : step->in[PDNN_BATCHNORM_VARIANCE],
        .epsilon = node->coef[PDNN_BATCHNORM_EPSILON],
        .momentum = node->coef[PDNN_BATCHNORM_MOMENTUM],
        .y = step->out[PDNN_BATCHNORM_Y],
    };
    int next = 0;
    job.relu_first = take_post(node, &next, &pdnn_op_relu);
    if (take_post(node, &next, &pdnn_op_add))
        job.other = step->post_in[next - 1];
    job.relu = take_post(node, &next, &pdnn_op_relu);
    struct pdnn_batchnorm_options options = options_of(step);
    pdnn_batchnorm_forward(&job, &options);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_batchnorm_backward job = {
        .shape = step->shape,
        .dy = step->in[PDNN_BATCHNORM_BACK_DY],
        .x = step->in[PDNN_BATCHNORM_BACK_X],
        .gamma = step->in[PDNN_BATCHNORM_BACK_GAMMA],
        .mean = step->in[PDNN_BATCHNORM_BACK_MEAN],
        .inverse_std = step->in[PDNN_BATCHNORM_BACK_INVERSE_STD],
        .mask = step->node->n_posts ? step->post_in[0] : NULL,
        .dx = step->out[PDNN_BATCHNORM_BACK_DX],
        .dgamma = step->out[PDNN_BATCHNORM_BACK_DGAMMA],
        .dbeta = step->out[PDNN_BATCHNORM_BACK_DBETA],
    };
    struct pdnn_batchnorm_options options = options_of(step);
    pdnn_batchnorm_backward(&job, &options);
}

const struct pdnn_step_def pdnn_step_batchnorm = {
    .op = &pdnn_op_batchnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = RANKS,
                               .scratch_bytes = scratch_bytes,
                               .takes_posts = forward_takes,
                               .sums_in_place = true},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = RANKS,
                                     .scratch_bytes = scratch_bytes,
                                     .takes_posts = backward_takes}},
};
