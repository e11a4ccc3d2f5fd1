/* Gathers rows (R, E) from x (V, E); backward scatters their gradients. */
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/lowering/bound_call.h"

static void forward(const struct pdnn_bound_call *call) {
    const int64_t *x = pdnn_call_in_dim(call, PDNN_EMBEDDING_X);
    struct pdnn_embedding job = {
        .ids = call->in[PDNN_EMBEDDING_IDS],
        .from = call->in[PDNN_EMBEDDING_X],
        .to = call->out[PDNN_EMBEDDING_Y],
        .R = pdnn_call_out_dim(call, PDNN_EMBEDDING_Y)[0],
        .V = x[0],
        .E = x[1] / call->per_float,
        .bypass = pdnn_call_bypasses_output(call, PDNN_EMBEDDING_Y),
    };
    pdnn_embedding_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    int64_t R = pdnn_call_in_dim(call, PDNN_EMBEDDING_BACK_DY)[0];
    int64_t V = pdnn_call_out_dim(call, PDNN_EMBEDDING_BACK_DX)[0];
    return (uint64_t)pdnn_embedding_scratch(R, V) * sizeof(int64_t);
}

static void backward(const struct pdnn_bound_call *call) {
    const int64_t *dx = pdnn_call_out_dim(call, PDNN_EMBEDDING_BACK_DX);
    struct pdnn_embedding job = {
        .ids = call->in[PDNN_EMBEDDING_BACK_IDS],
        .from = call->in[PDNN_EMBEDDING_BACK_DY],
        .rest = call->in[PDNN_EMBEDDING_BACK_REST],
        .to = call->out[PDNN_EMBEDDING_BACK_DX],
        .R = pdnn_call_in_dim(call, PDNN_EMBEDDING_BACK_DY)[0],
        .V = dx[0],
        .E = dx[1],
        .scratch = call->scratch,
    };
    job.bypass = job.rest != job.to && pdnn_call_bypasses_output(call, PDNN_EMBEDDING_BACK_DX);
    pdnn_embedding_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_embedding = {
    .op = &pdnn_op_embedding,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .scratch_bytes = backward_scratch},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward, .scratch_bytes = backward_scratch}},
};
