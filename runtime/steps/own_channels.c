#include "runtime/steps/own_step.h"

#include "models/attributes.h"
#include "runtime/kernels/images/batchnorm.h"
#include "runtime/kernels/images/channel_bias.h"
#include "runtime/kernels/images/pool.h"

#include <stddef.h>

static uint64_t shape_bytes(const struct pdnn_own *own) {
    return (uint64_t)pdnn_channels_elements(&own->shape) * sizeof(float);
}

static struct pdnn_batchnorm_options batchnorm_options(const struct pdnn_own *own) {
    bool in_place = own->out[0] == own->in[0];
    for (int i = 0; i < own->node->n_posts; i++)
        in_place = in_place || own->out[0] == own->post_in[i];
    return (struct pdnn_batchnorm_options){
        .threads = own->threads,
        .cache_bytes = own->cache_bytes,
        .bypass = !in_place && pdnn_own_bypasses(own, shape_bytes(own)),
        .scratch = own->scratch,
    };
}

uint64_t pdnn_own_batchnorm_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_batchnorm_scratch(&own->shape, own->threads) * sizeof(double);
}

/* The next post, if it is that one, is taken. */
static bool take_post(const struct pdnn_node *node, int *next, const struct pdnn_op_def *op) {
    bool is_it =
        *next < node->n_posts && node->posts[*next].op == op && node->posts[*next].pass == node->pass;
    *next += is_it;
    return is_it;
}

bool pdnn_own_batchnorm_takes(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    take_post(node, &next, &pdnn_op_add);
    take_post(node, &next, &pdnn_op_relu);
    return next == node->n_posts;
}

bool pdnn_own_batchnorm_backward_takes(const struct pdnn_node *node) {
    int next = 0;
    take_post(node, &next, &pdnn_op_relu);
    return next == node->n_posts;
}

void pdnn_own_batchnorm(const struct pdnn_own *own) {
    const struct pdnn_node *node = own->node;
    bool train = node->attr[PDNN_BATCHNORM_TRAIN];
    bool stays = train && node->n_outputs <= 3; /* the running statistics are not among the outputs */
    struct pdnn_batchnorm_forward job = {
        .shape = own->shape,
        .x = own->in[0],
        .gamma = own->in[1],
        .beta = own->in[2],
        .mean = train ? own->out[1] : NULL,
        .inverse_std = train ? own->out[2] : NULL,
        .running_mean = stays ? NULL : own->in[3],
        .running_variance = stays ? NULL : own->in[4],
        .epsilon = node->coef[PDNN_BATCHNORM_EPSILON],
        .momentum = node->coef[PDNN_BATCHNORM_MOMENTUM],
        .y = own->out[0],
    };
    int next = 0;
    job.relu_first = take_post(node, &next, &pdnn_op_relu);
    if (take_post(node, &next, &pdnn_op_add))
        job.other = own->post_in[next - 1];
    job.relu = take_post(node, &next, &pdnn_op_relu);
    struct pdnn_batchnorm_options options = batchnorm_options(own);
    pdnn_batchnorm_forward(&job, &options);
}

void pdnn_own_batchnorm_backward(const struct pdnn_own *own) {
    struct pdnn_batchnorm_backward job = {
        .shape = own->shape,
        .dy = own->in[0],
        .x = own->in[1],
        .gamma = own->in[2],
        .mean = own->in[3],
        .inverse_std = own->in[4],
        .mask = own->node->n_posts ? own->post_in[0] : NULL,
        .dx = own->out[0],
        .dgamma = own->out[1],
        .dbeta = own->out[2],
    };
    struct pdnn_batchnorm_options options = batchnorm_options(own);
    pdnn_batchnorm_backward(&job, &options);
}

/* x (N, C, H, W) and y (N, C, P, Q), or their gradients. */
static struct pdnn_pool pool_of(const struct pdnn_own *own) {
    const int64_t *attr = own->node->attr;
    bool forward = own->node->pass == PDNN_FORWARD;
    const struct pdnn_tensor *in = pdnn_node_in(own->graph, own->node, 0);
    const struct pdnn_tensor *out = pdnn_node_out(own->graph, own->node, 0);
    const int64_t *x = forward ? in->dim : out->dim, *y = forward ? out->dim : in->dim;
    return (struct pdnn_pool){
        .N = x[0],
        .C = x[1],
        .block = own->shape.block,
        .rows = {x[2], y[2], attr[PDNN_POOL2D_KERNEL_H], attr[PDNN_POOL2D_STRIDE_H],
                 attr[PDNN_POOL2D_PADDING_H]},
        .columns = {x[3], y[3], attr[PDNN_POOL2D_KERNEL_W], attr[PDNN_POOL2D_STRIDE_W],
                    attr[PDNN_POOL2D_PADDING_W]},
    };
}

void pdnn_own_pool(const struct pdnn_own *own) {
    struct pdnn_pool pool = pool_of(own);
    if (own->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_forward(&pool, own->in[0], own->out[0], own->threads);
    else
        pdnn_pool_max_forward(&pool, own->in[0], own->out[0], own->out[1], own->threads);
}

void pdnn_own_pool_backward(const struct pdnn_own *own) {
    struct pdnn_pool pool = pool_of(own);
    if (own->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_backward(&pool, own->in[0], own->out[0], own->threads);
    else
        pdnn_pool_max_backward(&pool, own->in[0], own->in[1], own->out[0], own->threads);
}

uint64_t pdnn_own_channel_bias_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_channel_bias_scratch(&own->shape, own->threads) * sizeof(double);
}

void pdnn_own_channel_bias(const struct pdnn_own *own) {
    struct pdnn_channel_bias job = {
        .shape = own->shape,
        .x = own->in[0],
        .b = own->in[1],
        .y = own->out[0],
        .bypass = own->out[0] != own->in[0] && pdnn_own_bypasses(own, shape_bytes(own)),
        .scratch = own->scratch,
    };
    pdnn_channel_bias_forward(&job, own->threads);
}

void pdnn_own_channel_bias_gradient(const struct pdnn_own *own) {
    struct pdnn_channel_bias job = {
        .shape = own->shape, .x = own->in[0], .db = own->out[0], .scratch = own->scratch};
    pdnn_channel_bias_gradient(&job, own->threads);
}
