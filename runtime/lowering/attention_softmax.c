#include "base/rng.h"
#include "runtime/lowering/score_rows.h"

#include <stddef.h>

static struct pdnn_softmax job_of(const struct pdnn_bound_step *step) {
    const int64_t *attr = step->node->attr;
    struct pdnn_softmax job = pdnn_score_rows_masked_job(step, attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES],
                                                         attr[PDNN_ATTENTION_SOFTMAX_CAUSAL]);
    job.factor = (float)step->node->coef[PDNN_ATTENTION_SOFTMAX_FACTOR];
    return job;
}

/* Sets up the mask for the step that the counter, the last input in both passes, is at. */
static void drop(const struct pdnn_bound_step *step, struct pdnn_softmax *job) {
    int input = step->node->n_inputs - 1;
    const float *counter = step->in[input];
    job->percent = step->node->attr[PDNN_ATTENTION_SOFTMAX_PERCENT];
    job->seed = pdnn_rng_at(step->node->input[input], (uint64_t)*counter);
}

static void forward(const struct pdnn_bound_step *step) {
    const struct pdnn_node *node = step->node;
    struct pdnn_softmax job = job_of(step);
    job.bias = node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS] ? step->in[PDNN_ATTENTION_SOFTMAX_BIAS] : NULL;
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_NEW_COUNTER)
        *(float *)step->out[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER] += 1;
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_P) {
        drop(step, &job);
        job.saved = pdnn_score_rows_result(step, PDNN_ATTENTION_SOFTMAX_P);
    }
    pdnn_softmax_forward(&job, step->threads);
}

static void backward(const struct pdnn_bound_step *step) {
    struct pdnn_softmax job = job_of(step);
    job.p = step->in[PDNN_ATTENTION_SOFTMAX_BACK_P];
    if (step->node->n_inputs > PDNN_ATTENTION_SOFTMAX_BACK_COUNTER)
        drop(step, &job);
    pdnn_softmax_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_attention_softmax = {
    .op = &pdnn_op_attention_softmax,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(3)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(3)}},
};
