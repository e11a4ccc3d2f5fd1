#include "runtime/kernels/rows/quantize.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_channels_padded(&call->shape) * sizeof(float);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_dequantize_job job = {
        .shape = call->shape,
        .x = call->in[PDNN_DEQUANTIZE_X],
        .x_scale = call->in[PDNN_DEQUANTIZE_X_SCALE],
        .w_scale = call->in[PDNN_DEQUANTIZE_W_SCALE],
        .y = call->out[PDNN_DEQUANTIZE_Y],
        .factor = call->scratch,
    };
    pdnn_dequantize_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_dequantize = {
    .op = &pdnn_op_dequantize,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes}},
};
