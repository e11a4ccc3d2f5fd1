/* Rows (R, C). */
#include "runtime/kernels/rows/top_k.h"
#include "runtime/lowering/pointwise.h"

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_top_k job = {
        .x = call->in[PDNN_TOP_K_X],
        .y = call->out[PDNN_TOP_K_Y],
        .R = call->rows,
        .C = call->columns,
        .k = call->node->attr[PDNN_TOP_K_K],
        .bypass = call->out[PDNN_TOP_K_Y] != call->in[PDNN_TOP_K_X] &&
                  pdnn_call_bypasses_output(call, PDNN_TOP_K_Y),
    };
    pdnn_top_k_run(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    pdnn_pointwise_run(call, PDNN_TOP_K_BACKWARD);
}

const struct pdnn_lowering pdnn_lowering_top_k = {
    .op = &pdnn_op_top_k,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_ROWS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .half = PDNN_HALF_NATIVE}},
};
