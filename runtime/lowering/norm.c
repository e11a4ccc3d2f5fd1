#include "runtime/kernels/update/lamb.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_norm_scratch(call->elements) * sizeof(double);
}

static void update(const struct pdnn_bound_call *call) {
    struct pdnn_norm_job job = {
        .x = call->in[PDNN_NORM_X],
        .before = call->in[PDNN_NORM_BEFORE],
        .norm = call->out[PDNN_NORM_Y],
        .scratch = call->scratch,
        .elements = call->elements,
    };
    pdnn_norm_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_norm = {
    .op = &pdnn_op_norm,
    .pass = {[PDNN_UPDATE] = {.run = update, .scratch_bytes = scratch_bytes}},
};
