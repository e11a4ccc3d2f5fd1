#include "runtime/lowering/parts.h"

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_transfer parts[PDNN_NODE_OUTPUTS];
    int dim = pdnn_section_dim(call);
    int64_t at = 0;
    for (int i = 0; i < call->node->n_inputs; i++) {
        int64_t count = pdnn_call_in_dim(call, i)[dim];
        parts[i] = (struct pdnn_transfer){pdnn_section_in(call, i, 0),
                                          pdnn_section_out(call, PDNN_CONCAT_Y, at), count};
        at += count;
    }
    pdnn_transfers_run(call, parts, call->node->n_inputs);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_transfer parts[PDNN_NODE_OUTPUTS];
    int dim = pdnn_section_dim(call);
    int64_t at = 0;
    for (int i = 0; i < call->node->n_outputs; i++) {
        int64_t count = pdnn_call_out_dim(call, i)[dim];
        parts[i] = (struct pdnn_transfer){pdnn_section_in(call, PDNN_CONCAT_BACK_DY, at),
                                          pdnn_section_out(call, i, 0), count};
        at += count;
    }
    pdnn_transfers_run(call, parts, call->node->n_outputs);
}

const struct pdnn_lowering pdnn_lowering_concat = {
    .op = &pdnn_op_concat,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANKS_ALL, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANKS_ALL, .half = PDNN_HALF_NATIVE}},
};
