#include "runtime/kernels/update/optimizer.h"
#include "runtime/lowering/bound_step.h"

#include <string.h>

static void update(const struct pdnn_bound_step *step) {
    struct pdnn_update_job job = {
        .rule = PDNN_UPDATE_ADAM_APPLY,
        .w = step->in[PDNN_ADAM_APPLY_W],
        .g = step->in[PDNN_ADAM_APPLY_M],
        .state = {step->in[PDNN_ADAM_APPLY_V]},
        .power = step->in[PDNN_ADAM_APPLY_POWER],
        .elements = step->elements,
    };
    memcpy(job.coef, step->node->coef, sizeof job.coef);
    pdnn_update_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_adam_apply = {.op = &pdnn_op_adam_apply,
                                                   .pass = {[PDNN_UPDATE] = {.run = update}}};
