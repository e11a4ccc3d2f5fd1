#include "runtime/kernels/update/lamb.h"
#include "runtime/lowering/bound_call.h"

static void update(const struct pdnn_bound_call *call) {
    const double *coef = call->node->coef;
    struct pdnn_lamb_direction_job job = {
        .w = call->in[PDNN_LAMB_DIRECTION_W],
        .g = call->in[PDNN_LAMB_DIRECTION_G],
        .u = call->out[PDNN_LAMB_DIRECTION_U],
        .m = call->in[PDNN_LAMB_DIRECTION_M],
        .v = call->in[PDNN_LAMB_DIRECTION_V],
        .power = call->in[PDNN_LAMB_DIRECTION_POWER],
        .norm = call->in[PDNN_LAMB_DIRECTION_NORM],
        .beta1 = coef[PDNN_LAMB_DIRECTION_BETA1],
        .beta2 = coef[PDNN_LAMB_DIRECTION_BETA2],
        .epsilon = coef[PDNN_LAMB_DIRECTION_EPSILON],
        .decay = coef[PDNN_LAMB_DIRECTION_DECAY],
        .limit = coef[PDNN_LAMB_DIRECTION_LIMIT],
        .elements = call->elements,
    };
    pdnn_lamb_direction_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_lamb_direction = {
    .op = &pdnn_op_lamb_direction,
    .pass = {[PDNN_UPDATE] = {.run = update}},
};
