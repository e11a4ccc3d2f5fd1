#include "runtime/kernels/update/lamb.h"
#include "runtime/lowering/bound_step.h"

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_norm_scratch(step->elements) * sizeof(double);
}

static void update(const struct pdnn_bound_step *step) {
    struct pdnn_norm_job job = {
        .x = step->in[PDNN_NORM_X],
        .before = step->in[PDNN_NORM_BEFORE],
        .norm = step->out[PDNN_NORM_Y],
        .scratch = step->scratch,
        .elements = step->elements,
    };
    pdnn_norm_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_norm = {
    .op = &pdnn_op_norm,
    .pass = {[PDNN_UPDATE] = {.run = update, .scratch_bytes = scratch_bytes}},
};
