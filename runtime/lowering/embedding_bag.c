/* Adds up rows of x (V, E); backward scatters the gradient of each sum (embedding.c has the same for one
 * row). */
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/lowering/bound_call.h"
#include "runtime/lowering/f32_copies.h"

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_tensor *ids = pdnn_node_in(call->graph, call->node, PDNN_EMBEDDING_IDS),
                             *x = pdnn_node_in(call->graph, call->node, PDNN_EMBEDDING_X);
    const struct pdnn_embedding_bag job = {
        .ids = call->in[PDNN_EMBEDDING_IDS],
        .from = call->in[PDNN_EMBEDDING_X],
        .to = call->out[PDNN_EMBEDDING_Y],
        .N = ids->dim[0],
        .bag = ids->dim[1],
        .E = x->dim[1],
        .type = pdnn_dtype_is_half(x->dtype) ? pdnn_half_of(x->dtype) : PDNN_HALF_COUNT,
    };
    pdnn_embedding_bag_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    const int64_t *ids = pdnn_call_in_dim(call, PDNN_EMBEDDING_BACK_IDS);
    int64_t V = pdnn_call_out_dim(call, PDNN_EMBEDDING_BACK_DX)[0];
    return (uint64_t)pdnn_embedding_scratch(ids[0] * ids[1], V) * sizeof(int64_t);
}

static void backward(const struct pdnn_bound_call *call) {
    const int64_t *dx = pdnn_call_out_dim(call, PDNN_EMBEDDING_BACK_DX),
                  *ids = pdnn_call_in_dim(call, PDNN_EMBEDDING_BACK_IDS);
    struct pdnn_embedding job = {
        .ids = call->in[PDNN_EMBEDDING_BACK_IDS],
        .from = call->in[PDNN_EMBEDDING_BACK_DY],
        .rest = call->in[PDNN_EMBEDDING_BACK_REST],
        .to = call->out[PDNN_EMBEDDING_BACK_DX],
        .R = ids[0] * ids[1],
        .V = dx[0],
        .E = dx[1],
        .bag = ids[1],
        .scratch = call->scratch,
    };
    job.bypass = job.rest != job.to && pdnn_call_bypasses_output(call, PDNN_EMBEDDING_BACK_DX);
    pdnn_embedding_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_embedding_bag = {
    .op = &pdnn_op_embedding_bag,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward, .scratch_bytes = backward_scratch},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward, .scratch_bytes = backward_scratch}},
};
