#include "runtime/lowering/pointwise.h"

static void forward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_GELU_TANH_FORWARD);
}

static void backward(const struct pdnn_bound_step *step) {
    pdnn_pointwise_run(step, PDNN_GELU_TANH_BACKWARD);
}

const struct pdnn_step_def pdnn_step_gelu_tanh = {
    .op = &pdnn_op_gelu_tanh,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .half = PDNN_HALF_ELEMENTS}},
};
