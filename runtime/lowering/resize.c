#include "runtime/kernels/images/resize.h"
#include "runtime/lowering/bound_call.h"

/* x (N, C, H, W) and y (N, C, P, Q). */
static struct pdnn_resize job_of(const struct pdnn_bound_call *call, const int64_t *x, const int64_t *y) {
    return (struct pdnn_resize){
        .planes = call->shape.N * pdnn_channels_padded(&call->shape) / call->shape.block,
        .block = call->shape.block,
        .H = x[2],
        .W = x[3],
        .P = y[2],
        .Q = y[3],
        .bilinear = call->node->attr[PDNN_RESIZE_KIND] == PDNN_RESIZE_BILINEAR,
    };
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_resize job =
        job_of(call, pdnn_call_in_dim(call, PDNN_RESIZE_X), pdnn_call_out_dim(call, PDNN_RESIZE_Y));
    job.bypass = pdnn_call_bypasses_output(call, PDNN_RESIZE_Y);
    pdnn_resize_forward(&job, call->in[PDNN_RESIZE_X], call->out[PDNN_RESIZE_Y], call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_resize job =
        job_of(call, pdnn_call_out_dim(call, PDNN_RESIZE_Y), pdnn_call_in_dim(call, PDNN_RESIZE_X));
    pdnn_resize_backward(&job, call->in[PDNN_RESIZE_X], call->out[PDNN_RESIZE_Y], call->threads);
}

const struct pdnn_lowering pdnn_lowering_resize = {
    .op = &pdnn_op_resize,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(4)}},
};
