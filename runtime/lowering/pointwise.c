/* The rows of pointwise ops: y[i] = f(a[i], b[i]), where y is output 0, a input 0 and b input 1, if the node
 * has one. The tensors may have any layout, as long as it is the same for all of them. */
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/lowering/bound_step.h"

static void run(const struct pdnn_bound_step *step, enum pdnn_elementwise function) {
    uint64_t bytes = (uint64_t)step->elements * sizeof(float);
    bool in_place = step->out[0] == step->in[0] || step->out[0] == step->in[1];
    struct pdnn_elementwise_job job = {
        .function = function,
        .a = step->in[0],
        .b = step->in[1],
        .y = step->out[0],
        .elements = step->elements,
        .bypass = !in_place && bytes >= step->cache_bytes / PDNN_STEP_BYPASS_ELEMENTWISE,
        .coef = {(float)step->node->coef[0], (float)step->node->coef[1]},
    };
    pdnn_elementwise_run(&job, step->threads);
}

/* Channels that pad the last block are zero, and stay so where the function maps 0 to 0. */
static void clear_padding(const struct pdnn_bound_step *step, enum pdnn_elementwise function) {
    float zero = 0, image = 0;
    const struct pdnn_elementwise_job job = {
        .function = function,
        .a = &zero,
        .y = &image,
        .elements = 1,
        .coef = {(float)step->node->coef[0], (float)step->node->coef[1]},
    };
    if (pdnn_channels_padded(&step->shape) == step->shape.C)
        return;
    pdnn_elementwise_run(&job, 1);
    if (image != 0)
        pdnn_channels_clear_padding(step->out[0], &step->shape, step->threads);
}

#define ACTIVATION(op_name, FUNCTION)                                                                        \
    static void op_name##_forward(const struct pdnn_bound_step *step) {                                      \
        run(step, PDNN_##FUNCTION##_FORWARD);                                                                \
        clear_padding(step, PDNN_##FUNCTION##_FORWARD);                                                      \
    }                                                                                                        \
    static void op_name##_backward(const struct pdnn_bound_step *step) {                                     \
        run(step, PDNN_##FUNCTION##_BACKWARD);                                                               \
    }                                                                                                        \
    const struct pdnn_step_def pdnn_step_##op_name = {                                                       \
        .op = &pdnn_op_##op_name,                                                                            \
        .pass = {[PDNN_FORWARD] = {.run = op_name##_forward, .half = PDNN_HALF_ELEMENTS},                    \
                 [PDNN_BACKWARD_DATA] = {.run = op_name##_backward, .half = PDNN_HALF_ELEMENTS}},            \
    };
PDNN_ACTIVATIONS(ACTIVATION)

static void add(const struct pdnn_bound_step *step) {
    run(step, PDNN_ADD);
}

static void scale(const struct pdnn_bound_step *step) {
    run(step, PDNN_SCALE);
}

const struct pdnn_step_def pdnn_step_add = {
    .op = &pdnn_op_add,
    .pass = {[PDNN_FORWARD] = {.run = add, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = add, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_WEIGHTS] = {.run = add, .half = PDNN_HALF_ELEMENTS}},
};

const struct pdnn_step_def pdnn_step_scale = {
    .op = &pdnn_op_scale,
    .pass = {[PDNN_FORWARD] = {.run = scale, .half = PDNN_HALF_ELEMENTS},
             [PDNN_BACKWARD_DATA] = {.run = scale, .half = PDNN_HALF_ELEMENTS}},
};
