#include "runtime/kernels/rows/moves.h"
#include "runtime/lowering/bound_step.h"

static void forward(const struct pdnn_bound_step *step) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    float *to = step->out[PDNN_CONCAT_Y];
    int64_t whole = pdnn_step_out_dim(step, PDNN_CONCAT_Y)[1] / step->per_float;
    for (int i = 0; i < step->node->n_inputs; i++) {
        int64_t columns = pdnn_step_in_dim(step, i)[1] / step->per_float;
        moves[i] = (struct pdnn_move){step->in[i], columns, to, whole, step->rows, columns};
        to += columns;
    }
    pdnn_moves_run(moves, step->node->n_inputs, pdnn_step_bypasses_output(step, PDNN_CONCAT_Y),
                   step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    const float *from = step->in[PDNN_CONCAT_BACK_DY];
    int64_t whole = step->columns / step->per_float;
    for (int i = 0; i < step->node->n_outputs; i++) {
        int64_t columns = pdnn_step_out_dim(step, i)[1] / step->per_float;
        moves[i] = (struct pdnn_move){from, whole, step->out[i], columns, step->rows, columns};
        from += columns;
    }
    pdnn_moves_run(moves, step->node->n_outputs, pdnn_step_bypasses_output(step, 0), step->threads);
}

const struct pdnn_step_def pdnn_step_concat = {
    .op = &pdnn_op_concat,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_PAIRS}},
};
