#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_call.h"

/* `image` is (N, C, F, T). */
static struct pdnn_sequence sequence_of(const struct pdnn_bound_call *call, const int64_t *image) {
    return (struct pdnn_sequence){image[0], image[1], image[2], image[3], call->shape.block};
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_sequence shape = sequence_of(call, pdnn_call_in_dim(call, PDNN_SEQUENCE_X));
    pdnn_sequence_forward(&shape, call->in[PDNN_SEQUENCE_X], call->out[PDNN_SEQUENCE_Y], call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_sequence shape = sequence_of(call, pdnn_call_out_dim(call, PDNN_SEQUENCE_Y));
    pdnn_sequence_backward(&shape, call->in[PDNN_SEQUENCE_X], call->out[PDNN_SEQUENCE_Y], call->threads);
}

const struct pdnn_lowering pdnn_lowering_sequence = {
    .op = &pdnn_op_sequence,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2)}},
};
