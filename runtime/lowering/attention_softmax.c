#include "base/rng.h"
#include "runtime/lowering/score_rows.h"

#include <stddef.h>

static struct pdnn_softmax job_of(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr;
    struct pdnn_softmax job =
        pdnn_score_rows_masked_job(call, attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES],
                                   attr[PDNN_ATTENTION_SOFTMAX_CAUSAL], attr[PDNN_ATTENTION_SOFTMAX_WINDOW]);
    job.factor = (float)call->node->coef[PDNN_ATTENTION_SOFTMAX_FACTOR];
    return job;
}

/* Sets up the mask for the step that the counter, the last input in both passes, is at. */
static void drop(const struct pdnn_bound_call *call, struct pdnn_softmax *job) {
    int input = call->node->n_inputs - 1;
    const float *counter = call->in[input];
    job->percent = call->node->attr[PDNN_ATTENTION_SOFTMAX_PERCENT];
    job->seed = pdnn_rng_at(call->node->input[input], (uint64_t)*counter);
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    struct pdnn_softmax job = job_of(call);
    if (node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS])
        pdnn_score_rows_add_bias(call, PDNN_ATTENTION_SOFTMAX_BIAS, &job);
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_NEW_COUNTER)
        *(float *)call->out[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER] += 1;
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_P) {
        drop(call, &job);
        job.saved = pdnn_score_rows_result(call, PDNN_ATTENTION_SOFTMAX_P);
    }
    pdnn_softmax_forward(&job, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_softmax job = job_of(call);
    job.p = call->in[PDNN_ATTENTION_SOFTMAX_BACK_P];
    if (call->node->n_inputs > PDNN_ATTENTION_SOFTMAX_BACK_COUNTER)
        drop(call, &job);
    pdnn_softmax_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_attention_softmax = {
    .op = &pdnn_op_attention_softmax,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(3)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(3)}},
};
