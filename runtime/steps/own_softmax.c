/* Steps on runtime/kernels/rows/softmax.h. */
#include "runtime/steps/own_step.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "runtime/kernels/rows/softmax.h"

#include <math.h>

static struct pdnn_softmax_result result_of(const struct pdnn_own *own, int output) {
    uint64_t bytes = pdnn_tensor_bytes(pdnn_node_out(own->graph, own->node, output));
    return (struct pdnn_softmax_result){own->out[output],
                                        own->out[output] != own->in[0] && pdnn_own_bypasses(own, bytes)};
}

/* Rows along the last dimension. */
static struct pdnn_softmax job_of(const struct pdnn_own *own) {
    const struct pdnn_tensor *x = pdnn_node_in(own->graph, own->node, 0);
    int64_t columns = x->dim[x->rank - 1];
    return (struct pdnn_softmax){
        .matrices = 1,
        .n = own->elements / columns,
        .m = columns,
        .x = own->in[0],
        .heads = 1,
        .factor = 1,
        .y = result_of(own, 0),
    };
}

/* The same seen as scores (B*h, n, m). */
static struct pdnn_softmax scores_of(const struct pdnn_own *own, int64_t sequences, bool is_causal) {
    const int64_t *dim = pdnn_node_in(own->graph, own->node, 0)->dim;
    struct pdnn_softmax job = job_of(own);
    job.matrices = dim[0];
    job.n = dim[1];
    job.heads = dim[0] / sequences;
    job.is_causal = is_causal;
    return job;
}

void pdnn_own_softmax(const struct pdnn_own *own) {
    struct pdnn_softmax job = job_of(own);
    pdnn_softmax_forward(&job, own->threads);
}

void pdnn_own_softmax_backward(const struct pdnn_own *own) {
    struct pdnn_softmax job = job_of(own);
    job.p = own->in[1];
    pdnn_softmax_backward(&job, own->threads);
}

void pdnn_own_mask(const struct pdnn_own *own) {
    const int64_t *attr = own->node->attr;
    bool forward = own->node->pass == PDNN_FORWARD;
    struct pdnn_softmax job = scores_of(own, attr[PDNN_MASK_SEQUENCES], attr[PDNN_MASK_CAUSAL]);
    job.bias = forward && own->node->n_inputs > 1 ? own->in[1] : NULL;
    pdnn_softmax_mask(&job, forward ? -INFINITY : 0, own->threads);
}

static struct pdnn_softmax attention_job_of(const struct pdnn_own *own) {
    const int64_t *attr = own->node->attr;
    struct pdnn_softmax job =
        scores_of(own, attr[PDNN_ATTENTION_SOFTMAX_SEQUENCES], attr[PDNN_ATTENTION_SOFTMAX_CAUSAL]);
    job.factor = (float)own->node->coef[PDNN_ATTENTION_SOFTMAX_FACTOR];
    return job;
}

/* Either pass's last input is the step's counter. */
static void drop(const struct pdnn_own *own, struct pdnn_softmax *job) {
    int input = own->node->n_inputs - 1;
    const float *counter = own->in[input];
    job->percent = own->node->attr[PDNN_ATTENTION_SOFTMAX_PERCENT];
    job->seed = pdnn_rng_at(own->node->input[input], (uint64_t)*counter);
}

void pdnn_own_attention_softmax(const struct pdnn_own *own) {
    enum { Y, P, COUNTER };
    struct pdnn_softmax job = attention_job_of(own);
    job.bias = own->node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS] ? own->in[1] : NULL;
    if (own->node->n_outputs > COUNTER)
        *(float *)own->out[COUNTER] += 1;
    if (own->node->n_outputs > P) {
        drop(own, &job);
        job.saved = result_of(own, P);
    }
    pdnn_softmax_forward(&job, own->threads);
}

void pdnn_own_attention_softmax_backward(const struct pdnn_own *own) {
    enum { DY, P, COUNTER };
    struct pdnn_softmax job = attention_job_of(own);
    job.p = own->in[P];
    if (own->node->n_inputs > COUNTER)
        drop(own, &job);
    pdnn_softmax_backward(&job, own->threads);
}
