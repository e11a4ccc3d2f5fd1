#include "runtime/lowering/pointwise.h"

static void run(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_SCALE);
}

const struct pdnn_step_def pdnn_step_scale = {
    .op = &pdnn_op_scale,
    .pass = {[PDNN_FORWARD] = {.run = run, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = run, .half = PDNN_HALF_ELEMENTS}},
};
