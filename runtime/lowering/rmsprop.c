#include "runtime/kernels/update/optimizer.h"
#include "runtime/lowering/bound_step.h"

#include <string.h>

static void update(const struct pdnn_bound_step *step) {
    struct pdnn_update_job job = {
        .rule = PDNN_UPDATE_RMSPROP,
        .w = step->in[PDNN_RMSPROP_W],
        .g = step->in[PDNN_RMSPROP_G],
        .state = {step->in[PDNN_RMSPROP_MS], step->in[PDNN_RMSPROP_MOM]},
        .elements = step->elements,
    };
    memcpy(job.coef, step->node->coef, sizeof job.coef);
    pdnn_update_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_rmsprop = {.op = &pdnn_op_rmsprop,
                                                .pass = {[PDNN_UPDATE] = {.run = update}}};
