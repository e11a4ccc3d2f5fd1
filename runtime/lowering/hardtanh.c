#include "runtime/lowering/pointwise.h"

static void forward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_HARDTANH_FORWARD);
    pdnn_pointwise_clear_padding(step);
}

static void backward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_HARDTANH_BACKWARD);
}

const struct pdnn_step_def pdnn_step_hardtanh = {
    .op = &pdnn_op_hardtanh,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .half = PDNN_HALF_ELEMENTS}},
};
