/* Takes rows of a matrix (R, C); backward puts zeros before and after them. */
#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_step.h"

#include <stddef.h>

static void forward(const struct pdnn_bound_step *step) {
    const int64_t *attr = step->node->attr, C = step->columns / step->per_float;
    const float *from = step->in[PDNN_SLICE_X];
    const struct pdnn_move move = {
        from + attr[PDNN_SLICE_FIRST] * C, C, step->out[PDNN_SLICE_Y], C, attr[PDNN_SLICE_ROWS], C};
    pdnn_moves_run(&move, 1, pdnn_step_bypasses_output(step, PDNN_SLICE_Y), step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    int64_t first = step->node->attr[PDNN_SLICE_FIRST], rows = step->node->attr[PDNN_SLICE_ROWS];
    int64_t C = step->columns / step->per_float, R = pdnn_step_out_dim(step, PDNN_SLICE_Y)[0];
    float *to = step->out[PDNN_SLICE_Y];
    const struct pdnn_move moves[] = {{NULL, C, to, C, first, C},
                                      {step->in[PDNN_SLICE_X], C, to + first * C, C, rows, C},
                                      {NULL, C, to + (first + rows) * C, C, R - first - rows, C}};
    pdnn_moves_run(moves, 3, pdnn_step_bypasses_output(step, PDNN_SLICE_Y), step->threads);
}

const struct pdnn_step_def pdnn_step_slice = {
    .op = &pdnn_op_slice,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS}},
};
