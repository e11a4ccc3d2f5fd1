#include "runtime/lowering/pointwise.h"

static void forward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_SIGMOID_FORWARD);
    pdnn_pointwise_clear_padding(step);
}

static void backward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_SIGMOID_BACKWARD);
}

const struct pdnn_step_def pdnn_step_sigmoid = {
    .op = &pdnn_op_sigmoid,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .half = PDNN_HALF_ELEMENTS}},
};
