#include "runtime/kernels/sequence/attention.h"
#include "runtime/lowering/bound_step.h"

static struct pdnn_attention job_of(const struct pdnn_bound_step *step) {
    /* The first forward input among the pass's inputs. */
    int first = step->node->pass == PDNN_FORWARD ? PDNN_ATTENTION_Q : PDNN_ATTENTION_BACK_Q;
    int64_t N = step->node->attr[PDNN_ATTENTION_SEQUENCES];
    const int64_t *q = pdnn_step_in_dim(step, first + PDNN_ATTENTION_Q);
    const int64_t *values = pdnn_step_in_dim(step, first + PDNN_ATTENTION_VALUES);
    return (struct pdnn_attention){
        .T = q[0] / N,
        .S = values[0] / N,
        .N = N,
        .H = q[1],
        .D = values[1],
        .q = step->in[first + PDNN_ATTENTION_Q],
        .k = step->in[first + PDNN_ATTENTION_K],
        .values = step->in[first + PDNN_ATTENTION_VALUES],
        .v = step->in[first + PDNN_ATTENTION_V],
        .g = step->in[first + PDNN_ATTENTION_G],
        .scratch = step->scratch,
    };
}

static uint64_t scratch_bytes(const struct pdnn_bound_step *step) {
    const struct pdnn_attention job = job_of(step);
    return (uint64_t)pdnn_attention_scratch(&job, step->threads) * sizeof(float);
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_attention job = job_of(step);
    pdnn_attention_forward(&job, step->out[PDNN_ATTENTION_CONTEXT], step->out[PDNN_ATTENTION_P],
                           step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    const struct pdnn_attention job = job_of(step);
    const struct pdnn_attention_gradients gradients = {
        .dcontext = step->in[PDNN_ATTENTION_BACK_DCONTEXT],
        .p = step->in[PDNN_ATTENTION_BACK_P],
        .dq = step->out[PDNN_ATTENTION_Q],
        .dk = step->out[PDNN_ATTENTION_K],
        .dvalues = step->out[PDNN_ATTENTION_VALUES],
        .dv = step->out[PDNN_ATTENTION_V],
        .dg = step->out[PDNN_ATTENTION_G],
    };
    pdnn_attention_backward(&job, &gradients, step->threads);
}

const struct pdnn_step_def pdnn_step_attention = {
    .op = &pdnn_op_attention,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes}},
};
