#include "runtime/kernels/sequence/selective_scan.h"
#include "runtime/lowering/bound_call.h"

static struct pdnn_selective_scan job_of(const struct pdnn_bound_call *call) {
    /* The first forward input among the pass's inputs. */
    const int first = call->node->pass == PDNN_FORWARD ? PDNN_SELECTIVE_SCAN_X : PDNN_SELECTIVE_SCAN_BACK_X;
    const int64_t N = call->node->attr[PDNN_SELECTIVE_SCAN_SEQUENCES];
    const int64_t *x = pdnn_call_in_dim(call, first + PDNN_SELECTIVE_SCAN_X);
    return (struct pdnn_selective_scan){
        .N = N,
        .T = x[0] / N,
        .C = x[1],
        .S = pdnn_call_in_dim(call, first + PDNN_SELECTIVE_SCAN_B)[1],
        .x = call->in[first + PDNN_SELECTIVE_SCAN_X],
        .delta = call->in[first + PDNN_SELECTIVE_SCAN_DELTA],
        .b = call->in[first + PDNN_SELECTIVE_SCAN_B],
        .c = call->in[first + PDNN_SELECTIVE_SCAN_C],
        .a = call->in[first + PDNN_SELECTIVE_SCAN_A],
        .d = call->in[first + PDNN_SELECTIVE_SCAN_D],
        .scratch = call->scratch,
    };
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    const struct pdnn_selective_scan job = job_of(call);
    return (uint64_t)pdnn_selective_scan_scratch(&job, call->threads) * sizeof(float);
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_selective_scan job = job_of(call);
    job.state = call->in[PDNN_SELECTIVE_SCAN_STATE];
    pdnn_selective_scan_forward(&job, call->out[PDNN_SELECTIVE_SCAN_Y], call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    const struct pdnn_selective_scan job = job_of(call);
    return (uint64_t)pdnn_selective_scan_back_scratch(&job, call->threads) * sizeof(float);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_selective_scan job = job_of(call);
    const struct pdnn_selective_scan_gradients gradients = {
        .dy = call->in[PDNN_SELECTIVE_SCAN_BACK_DY],
        .dx = call->out[PDNN_SELECTIVE_SCAN_X],
        .ddelta = call->out[PDNN_SELECTIVE_SCAN_DELTA],
        .db = call->out[PDNN_SELECTIVE_SCAN_B],
        .dc = call->out[PDNN_SELECTIVE_SCAN_C],
        .da = call->out[PDNN_SELECTIVE_SCAN_A],
        .dd = call->out[PDNN_SELECTIVE_SCAN_D],
    };
    pdnn_selective_scan_backward(&job, &gradients, call->threads);
}

const struct pdnn_lowering pdnn_lowering_selective_scan = {
    .op = &pdnn_op_selective_scan,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch}},
};
