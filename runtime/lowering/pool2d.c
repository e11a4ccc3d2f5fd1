#include "runtime/kernels/images/pool.h"
#include "runtime/lowering/bound_step.h"

/* x (N, C, H, W) and y (N, C, P, Q), or their gradients. */
static struct pdnn_pool pool_of(const struct pdnn_bound_step *step, const int64_t *x, const int64_t *y) {
    const int64_t *attr = step->node->attr;
    return (struct pdnn_pool){
        .N = x[0],
        .C = x[1],
        .block = step->shape.block,
        .rows = {x[2], y[2], attr[PDNN_POOL2D_KERNEL_H], attr[PDNN_POOL2D_STRIDE_H],
                 attr[PDNN_POOL2D_PADDING_H]},
        .columns = {x[3], y[3], attr[PDNN_POOL2D_KERNEL_W], attr[PDNN_POOL2D_STRIDE_W],
                    attr[PDNN_POOL2D_PADDING_W]},
    };
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_pool pool =
        pool_of(step, pdnn_step_in_dim(step, PDNN_POOL2D_X), pdnn_step_out_dim(step, PDNN_POOL2D_Y));
    const float *x = step->in[PDNN_POOL2D_X];
    float *y = step->out[PDNN_POOL2D_Y];
    if (step->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_forward(&pool, x, y, step->threads);
    else
        pdnn_pool_max_forward(&pool, x, y, step->out[PDNN_POOL2D_INDEX], step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    const struct pdnn_pool pool = pool_of(step, pdnn_step_out_dim(step, PDNN_POOL2D_BACK_DX),
                                          pdnn_step_in_dim(step, PDNN_POOL2D_BACK_DY));
    const float *dy = step->in[PDNN_POOL2D_BACK_DY];
    float *dx = step->out[PDNN_POOL2D_BACK_DX];
    if (step->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_backward(&pool, dy, dx, step->threads);
    else
        pdnn_pool_max_backward(&pool, dy, step->in[PDNN_POOL2D_BACK_INDEX], dx, step->threads);
}

const struct pdnn_step_def pdnn_step_pool2d = {
    .op = &pdnn_op_pool2d,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(4)}},
};
