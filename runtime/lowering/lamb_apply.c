#include "runtime/kernels/update/lamb.h"
#include "runtime/lowering/bound_step.h"

static void update(const struct pdnn_bound_step *step) {
    struct pdnn_lamb_apply_job job = {
        .w = step->in[PDNN_LAMB_APPLY_W],
        .u = step->in[PDNN_LAMB_APPLY_U],
        .w_norm = step->in[PDNN_LAMB_APPLY_W_NORM],
        .u_norm = step->in[PDNN_LAMB_APPLY_U_NORM],
        .lr = step->node->coef[PDNN_LAMB_APPLY_LR],
        .elements = step->elements,
    };
    pdnn_lamb_apply_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_lamb_apply = {
    .op = &pdnn_op_lamb_apply,
    .pass = {[PDNN_UPDATE] = {.run = update}},
};
