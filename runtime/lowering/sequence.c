#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_step.h"

/* `image` is (N, C, F, T). */
static struct pdnn_sequence sequence_of(const struct pdnn_bound_step *step, const int64_t *image) {
    return (struct pdnn_sequence){image[0], image[1], image[2], image[3], step->shape.block};
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_sequence shape = sequence_of(step, pdnn_step_in_dim(step, PDNN_SEQUENCE_X));
    pdnn_sequence_forward(&shape, step->in[PDNN_SEQUENCE_X], step->out[PDNN_SEQUENCE_Y], step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    const struct pdnn_sequence shape = sequence_of(step, pdnn_step_out_dim(step, PDNN_SEQUENCE_Y));
    pdnn_sequence_backward(&shape, step->in[PDNN_SEQUENCE_X], step->out[PDNN_SEQUENCE_Y], step->threads);
}

const struct pdnn_step_def pdnn_step_sequence = {
    .op = &pdnn_op_sequence,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2)}},
};
