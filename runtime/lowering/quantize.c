#include "runtime/kernels/rows/quantize.h"
#include "runtime/lowering/bound_step.h"

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_quantize_scratch(step->threads) * sizeof(int32_t);
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_quantize_job job = {
        .x = step->in[PDNN_QUANTIZE_X],
        .q = step->out[PDNN_QUANTIZE_Q],
        .scale = step->out[PDNN_QUANTIZE_SCALE],
        .scratch = step->scratch,
        .elements = step->elements,
        .zero_point = step->zero_point,
    };
    pdnn_quantize_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_quantize = {
    .op = &pdnn_op_quantize,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes}},
};
