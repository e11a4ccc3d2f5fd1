#include "runtime/kernels/update/optimizer.h"
#include "runtime/lowering/bound_step.h"

#include <string.h>

static void update(const struct pdnn_bound_step *step) {
    struct pdnn_update_job job = {
        .rule = step->node->attr[PDNN_MOMENT_SQUARE] ? PDNN_UPDATE_SQUARE_MOMENT : PDNN_UPDATE_MOMENT,
        .w = step->in[PDNN_MOMENT_M],
        .g = step->in[PDNN_MOMENT_G],
        .elements = step->elements,
    };
    memcpy(job.coef, step->node->coef, sizeof job.coef);
    pdnn_update_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_moment = {.op = &pdnn_op_moment,
                                               .pass = {[PDNN_UPDATE] = {.run = update}}};
