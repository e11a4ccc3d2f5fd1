#include "runtime/kernels/sequence/attention.h"
#include "runtime/lowering/bound_call.h"

static struct pdnn_attention job_of(const struct pdnn_bound_call *call) {
    /* The first forward input among the pass's inputs. */
    int first = call->node->pass == PDNN_FORWARD ? PDNN_ATTENTION_Q : PDNN_ATTENTION_BACK_Q;
    int64_t N = call->node->attr[PDNN_ATTENTION_SEQUENCES];
    const int64_t *q = pdnn_call_in_dim(call, first + PDNN_ATTENTION_Q);
    const int64_t *values = pdnn_call_in_dim(call, first + PDNN_ATTENTION_VALUES);
    return (struct pdnn_attention){
        .T = q[0] / N,
        .S = values[0] / N,
        .N = N,
        .H = q[1],
        .D = values[1],
        .q = call->in[first + PDNN_ATTENTION_Q],
        .k = call->in[first + PDNN_ATTENTION_K],
        .values = call->in[first + PDNN_ATTENTION_VALUES],
        .v = call->in[first + PDNN_ATTENTION_V],
        .g = call->in[first + PDNN_ATTENTION_G],
        .scratch = call->scratch,
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    const struct pdnn_attention job = job_of(call);
    return (uint64_t)pdnn_attention_scratch(&job, call->threads) * sizeof(float);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_attention job = job_of(call);
    pdnn_attention_forward(&job, call->out[PDNN_ATTENTION_CONTEXT], call->out[PDNN_ATTENTION_P],
                           call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_attention job = job_of(call);
    const struct pdnn_attention_gradients gradients = {
        .dcontext = call->in[PDNN_ATTENTION_BACK_DCONTEXT],
        .p = call->in[PDNN_ATTENTION_BACK_P],
        .dq = call->out[PDNN_ATTENTION_Q],
        .dk = call->out[PDNN_ATTENTION_K],
        .dvalues = call->out[PDNN_ATTENTION_VALUES],
        .dv = call->out[PDNN_ATTENTION_V],
        .dg = call->out[PDNN_ATTENTION_G],
    };
    pdnn_attention_backward(&job, &gradients, call->threads);
}

/* The keys and values of a sequence are read again for each of its target steps but the first; threads have
 * sequences of their own. In backward that holds for the values only: keys go through L1 in blocks. */
static struct pdnn_extra_traffic extra(const struct pdnn_bound_call *call) {
    const struct pdnn_attention job = job_of(call);
    const bool is_forward = call->node->pass == PDNN_FORWARD;
    const uint64_t of_sequence = (uint64_t)(job.S * (job.D + (is_forward ? job.H : 0))) * sizeof(float);
    return (struct pdnn_extra_traffic){.read_bytes = (uint64_t)((job.T - 1) * job.N) * of_sequence,
                                       .set_bytes = (uint64_t)pdnn_least(call->threads, job.N) * of_sequence};
}

const struct pdnn_lowering pdnn_lowering_attention = {
    .op = &pdnn_op_attention,
    .pass = {[PDNN_FORWARD] =
                 {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes, .extra = extra},
             [PDNN_BACKWARD_DATA] =
                 {.run = backward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes, .extra = extra}},
};
