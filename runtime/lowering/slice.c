/* Takes entries along one dimension; backward puts zeros before and after them. */
#include "runtime/lowering/parts.h"

#include <stddef.h>

static void forward(const struct pdnn_bound_call *call) {
    int dim = pdnn_section_dim(call);
    const struct pdnn_transfer part = {
        pdnn_section_in(call, PDNN_SLICE_X, call->node->attr[PDNN_SLICE_FIRST]),
        pdnn_section_out(call, PDNN_SLICE_Y, 0), pdnn_call_out_dim(call, PDNN_SLICE_Y)[dim]};
    pdnn_transfers_run(call, &part, 1);
}

static void backward(const struct pdnn_bound_call *call) {
    int dim = pdnn_section_dim(call);
    int64_t first = call->node->attr[PDNN_SLICE_FIRST], n = pdnn_call_out_dim(call, PDNN_SLICE_Y)[dim];
    int64_t count = pdnn_call_in_dim(call, PDNN_SLICE_X)[dim];
    const struct pdnn_transfer parts[] = {
        {{NULL, NULL, 0, 0}, pdnn_section_out(call, PDNN_SLICE_Y, 0), first},
        {pdnn_section_in(call, PDNN_SLICE_X, 0), pdnn_section_out(call, PDNN_SLICE_Y, first), count},
        {{NULL, NULL, 0, 0}, pdnn_section_out(call, PDNN_SLICE_Y, first + count), n - first - count}};
    pdnn_transfers_run(call, parts, 3);
}

const struct pdnn_lowering pdnn_lowering_slice = {
    .op = &pdnn_op_slice,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANKS_ALL, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANKS_ALL, .half = PDNN_HALF_NATIVE}},
};
