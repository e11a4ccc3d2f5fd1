#include "runtime/kernels/images/pool.h"
#include "runtime/lowering/bound_call.h"

/* x (N, C, H, W) and y (N, C, P, Q), or their gradients. */
static struct pdnn_pool pool_of(const struct pdnn_bound_call *call, const int64_t *x, const int64_t *y) {
    const int64_t *attr = call->node->attr;
    return (struct pdnn_pool){
        .N = x[0],
        .C = x[1],
        .block = call->shape.block,
        .rows = {x[2], y[2], attr[PDNN_POOL2D_KERNEL_H], attr[PDNN_POOL2D_STRIDE_H],
                 attr[PDNN_POOL2D_PADDING_H]},
        .columns = {x[3], y[3], attr[PDNN_POOL2D_KERNEL_W], attr[PDNN_POOL2D_STRIDE_W],
                    attr[PDNN_POOL2D_PADDING_W]},
    };
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_pool pool =
        pool_of(call, pdnn_call_in_dim(call, PDNN_POOL2D_X), pdnn_call_out_dim(call, PDNN_POOL2D_Y));
    const float *x = call->in[PDNN_POOL2D_X];
    float *y = call->out[PDNN_POOL2D_Y];
    if (call->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_forward(&pool, x, y, call->threads);
    else
        pdnn_pool_max_forward(&pool, x, y, call->out[PDNN_POOL2D_INDEX], call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_pool pool = pool_of(call, pdnn_call_out_dim(call, PDNN_POOL2D_BACK_DX),
                                          pdnn_call_in_dim(call, PDNN_POOL2D_BACK_DY));
    const float *dy = call->in[PDNN_POOL2D_BACK_DY];
    float *dx = call->out[PDNN_POOL2D_BACK_DX];
    if (call->node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE)
        pdnn_pool_average_backward(&pool, dy, dx, call->threads);
    else
        pdnn_pool_max_backward(&pool, dy, call->in[PDNN_POOL2D_BACK_INDEX], dx, call->threads);
}

const struct pdnn_lowering pdnn_lowering_pool2d = {
    .op = &pdnn_op_pool2d,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(4)}},
};
