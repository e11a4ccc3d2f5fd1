#include "runtime/kernels/gemm/interaction.h"
#include "runtime/lowering/bound_call.h"
#include "runtime/lowering/f32_copies.h"

static struct pdnn_interaction job_of(const struct pdnn_bound_call *call, const int64_t *x) {
    int64_t D = call->node->attr[PDNN_INTERACTION_WIDTH];
    enum pdnn_dtype dtype = pdnn_node_in(call->graph, call->node, 0)->dtype;
    return (struct pdnn_interaction){
        .N = call->rows,
        .k = x[1] / D,
        .D = D,
        .all = call->node->attr[PDNN_INTERACTION_PAIRS] == PDNN_INTERACTION_ALL,
        .type = pdnn_dtype_is_half(dtype) ? pdnn_half_of(dtype) : PDNN_HALF_COUNT,
        .scratch = call->scratch,
    };
}

static uint64_t scratch_of(const struct pdnn_bound_call *call, const int64_t *x) {
    const struct pdnn_interaction job = job_of(call, x);
    return (uint64_t)pdnn_interaction_scratch(job.k, job.D, call->threads) * sizeof(float);
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return scratch_of(call, pdnn_call_in_dim(call, PDNN_INTERACTION_X));
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_interaction job = job_of(call, pdnn_call_in_dim(call, PDNN_INTERACTION_X));
    job.x = call->in[PDNN_INTERACTION_X];
    job.y = call->out[PDNN_INTERACTION_Y];
    pdnn_interaction_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    return scratch_of(call, pdnn_call_in_dim(call, PDNN_INTERACTION_BACK_X));
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_interaction job = job_of(call, pdnn_call_in_dim(call, PDNN_INTERACTION_BACK_X));
    job.dy = call->in[PDNN_INTERACTION_BACK_DY];
    job.x = call->in[PDNN_INTERACTION_BACK_X];
    job.dx = call->out[PDNN_INTERACTION_BACK_DX];
    job.bypass = pdnn_call_bypasses_output(call, PDNN_INTERACTION_BACK_DX);
    pdnn_interaction_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_interaction = {
    .op = &pdnn_op_interaction,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .scratch_bytes = forward_scratch,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch,
                                     .half = PDNN_HALF_NATIVE}},
};
