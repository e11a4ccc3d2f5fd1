#include "runtime/kernels/rows/quantize.h"
#include "runtime/lowering/bound_step.h"

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_channels_padded(&step->shape) * sizeof(float);
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_dequantize_job job = {
        .shape = step->shape,
        .x = step->in[PDNN_DEQUANTIZE_X],
        .x_scale = step->in[PDNN_DEQUANTIZE_X_SCALE],
        .w_scale = step->in[PDNN_DEQUANTIZE_W_SCALE],
        .y = step->out[PDNN_DEQUANTIZE_Y],
        .factor = step->scratch,
    };
    pdnn_dequantize_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_dequantize = {
    .op = &pdnn_op_dequantize,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes}},
};
