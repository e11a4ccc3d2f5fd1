#include "runtime/kernels/rows/quantize.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_quantize_scratch(call->threads) * sizeof(int32_t);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_quantize_job job = {
        .x = call->in[PDNN_QUANTIZE_X],
        .q = call->out[PDNN_QUANTIZE_Q],
        .scale = call->out[PDNN_QUANTIZE_SCALE],
        .scratch = call->scratch,
        .elements = call->elements,
        .zero_point = call->zero_point,
    };
    pdnn_quantize_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_quantize = {
    .op = &pdnn_op_quantize,
    .pass = {[PDNN_FORWARD] = {.run = forward, .scratch_bytes = scratch_bytes}},
};
