/* Takes rows of a matrix (R, C); backward puts zeros before and after them. */
#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_call.h"

#include <stddef.h>

static void forward(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr, C = call->columns / call->per_float;
    const float *from = call->in[PDNN_SLICE_X];
    const struct pdnn_move move = {
        from + attr[PDNN_SLICE_FIRST] * C, C, call->out[PDNN_SLICE_Y], C, attr[PDNN_SLICE_ROWS], C};
    pdnn_moves_run(&move, 1, pdnn_call_bypasses_output(call, PDNN_SLICE_Y), call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    int64_t first = call->node->attr[PDNN_SLICE_FIRST], rows = call->node->attr[PDNN_SLICE_ROWS];
    int64_t C = call->columns / call->per_float, R = pdnn_call_out_dim(call, PDNN_SLICE_Y)[0];
    float *to = call->out[PDNN_SLICE_Y];
    const struct pdnn_move moves[] = {{NULL, C, to, C, first, C},
                                      {call->in[PDNN_SLICE_X], C, to + first * C, C, rows, C},
                                      {NULL, C, to + (first + rows) * C, C, R - first - rows, C}};
    pdnn_moves_run(moves, 3, pdnn_call_bypasses_output(call, PDNN_SLICE_Y), call->threads);
}

const struct pdnn_lowering pdnn_lowering_slice = {
    .op = &pdnn_op_slice,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS}},
};
