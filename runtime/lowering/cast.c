/* Converts between f32 and 16 bit. */
#include "runtime/lowering/bound_call.h"
#include "runtime/lowering/f32_copies.h"

static void run(const struct pdnn_bound_call *call) {
    enum pdnn_dtype from = pdnn_node_in(call->graph, call->node, PDNN_CAST_X)->dtype;
    enum pdnn_dtype to = pdnn_node_out(call->graph, call->node, PDNN_CAST_Y)->dtype;
    const void *x = call->in[PDNN_CAST_X];
    void *y = call->out[PDNN_CAST_Y];
    if (from == PDNN_F32)
        pdnn_half_narrow_all(pdnn_half_of(to), x, y, call->elements, call->threads);
    else
        pdnn_half_widen_all(pdnn_half_of(from), x, y, call->elements, call->threads);
}

const struct pdnn_lowering pdnn_lowering_cast = {
    .op = &pdnn_op_cast,
    .pass = {[PDNN_FORWARD] = {.run = run, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = run, .half = PDNN_HALF_NATIVE}},
};
