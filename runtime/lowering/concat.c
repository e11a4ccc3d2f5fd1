#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_call.h"

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    float *to = call->out[PDNN_CONCAT_Y];
    int64_t whole = pdnn_call_out_dim(call, PDNN_CONCAT_Y)[1] / call->per_float;
    for (int i = 0; i < call->node->n_inputs; i++) {
        int64_t columns = pdnn_call_in_dim(call, i)[1] / call->per_float;
        moves[i] = (struct pdnn_move){call->in[i], columns, to, whole, call->rows, columns};
        to += columns;
    }
    pdnn_moves_run(moves, call->node->n_inputs, pdnn_call_bypasses_output(call, PDNN_CONCAT_Y),
                   call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    const float *from = call->in[PDNN_CONCAT_BACK_DY];
    int64_t whole = call->columns / call->per_float;
    for (int i = 0; i < call->node->n_outputs; i++) {
        int64_t columns = pdnn_call_out_dim(call, i)[1] / call->per_float;
        moves[i] = (struct pdnn_move){from, whole, call->out[i], columns, call->rows, columns};
        from += columns;
    }
    pdnn_moves_run(moves, call->node->n_outputs, pdnn_call_bypasses_output(call, 0), call->threads);
}

const struct pdnn_lowering pdnn_lowering_concat = {
    .op = &pdnn_op_concat,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS}},
};
