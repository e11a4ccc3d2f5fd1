#include "runtime/kernels/update/lamb.h"
#include "runtime/lowering/bound_step.h"

static void update(const struct pdnn_bound_step *step) {
    const double *coef = step->node->coef;
    struct pdnn_lamb_direction_job job = {
        .w = step->in[PDNN_LAMB_DIRECTION_W],
        .g = step->in[PDNN_LAMB_DIRECTION_G],
        .u = step->out[PDNN_LAMB_DIRECTION_U],
        .m = step->in[PDNN_LAMB_DIRECTION_M],
        .v = step->in[PDNN_LAMB_DIRECTION_V],
        .power = step->in[PDNN_LAMB_DIRECTION_POWER],
        .norm = step->in[PDNN_LAMB_DIRECTION_NORM],
        .beta1 = coef[PDNN_LAMB_DIRECTION_BETA1],
        .beta2 = coef[PDNN_LAMB_DIRECTION_BETA2],
        .epsilon = coef[PDNN_LAMB_DIRECTION_EPSILON],
        .decay = coef[PDNN_LAMB_DIRECTION_DECAY],
        .limit = coef[PDNN_LAMB_DIRECTION_LIMIT],
        .elements = step->elements,
    };
    pdnn_lamb_direction_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_lamb_direction = {
    .op = &pdnn_op_lamb_direction,
    .pass = {[PDNN_UPDATE] = {.run = update}},
};
