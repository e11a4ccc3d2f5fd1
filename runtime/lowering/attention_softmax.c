#include "base/rng.h"
#include "runtime/lowering/relative_bias.h"
#include "runtime/lowering/score_rows.h"

#include <stddef.h>

/* Of a bias by relative position. */
static const int64_t *relative_of(const struct pdnn_bound_call *call) {
    return call->node->attr + PDNN_ATTENTION_SOFTMAX_RELATIVE;
}

/* The input, which is behind the optional bias. */
static int table_at(const struct pdnn_bound_call *call) {
    return 1 + (call->node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS] != 0);
}

/* The table or, backward, its gradient; NULL: there is none. */
static const struct pdnn_tensor *table_of(const struct pdnn_bound_call *call) {
    if (!relative_of(call)[PDNN_RELATIVE_BIAS_HEADS])
        return NULL;
    return call->node->pass == PDNN_FORWARD
               ? pdnn_node_in(call->graph, call->node, table_at(call))
               : pdnn_node_out(call->graph, call->node, PDNN_ATTENTION_SOFTMAX_BACK_DTABLE);
}

/* Operands are f32 here, or copies in f32. */
static struct pdnn_relative_bias relative_job(const struct pdnn_bound_call *call) {
    struct pdnn_relative_bias job = pdnn_relative_bias_job(call, relative_of(call), table_of(call));
    job.type = job.table_type = PDNN_HALF_COUNT;
    return job;
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    if (!table_of(call))
        return 0;
    const struct pdnn_relative_bias job = relative_job(call);
    return pdnn_relative_bias_scratch(&job, pdnn_relative_bias_forward_scratch(&job));
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    if (!table_of(call))
        return 0;
    const struct pdnn_relative_bias job = relative_job(call);
    return pdnn_relative_bias_scratch(&job, pdnn_relative_bias_backward_scratch(&job, call->threads));
}

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

static void add_relative(const struct pdnn_bound_call *call, struct pdnn_softmax *job) {
    struct pdnn_relative_bias relative = relative_job(call);
    pdnn_relative_bias_bind(call, relative_of(call), table_of(call), &relative);
    relative.table = call->in[table_at(call)];
    const struct pdnn_relative_bias_lines lines = pdnn_relative_bias_spread(&relative, call->threads);
    job->relative = lines.at;
    job->relative_head = lines.head_stride;
    job->relative_row = lines.row_stride;
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_node *node = call->node;
    struct pdnn_softmax job = job_of(call);
    if (node->attr[PDNN_ATTENTION_SOFTMAX_HAS_BIAS])
        pdnn_score_rows_add_bias(call, PDNN_ATTENTION_SOFTMAX_BIAS, &job);
    if (table_of(call))
        add_relative(call, &job);
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_NEW_COUNTER)
        *(float *)call->out[PDNN_ATTENTION_SOFTMAX_NEW_COUNTER] += 1;
    if (node->n_outputs > PDNN_ATTENTION_SOFTMAX_P) {
        drop(call, &job);
        job.saved = pdnn_score_rows_result(call, PDNN_ATTENTION_SOFTMAX_P);
    }
    pdnn_softmax_forward(&job, call->threads);
}

static void make_rows(void *maker, int64_t first, int64_t end) {
    pdnn_softmax_backward_rows(maker, first, end);
}

/* dx and, while its rows are in the caches, what the table's gradient has of them. */
static void backward_both(const struct pdnn_bound_call *call, struct pdnn_softmax *job) {
    struct pdnn_relative_bias relative = relative_job(call);
    pdnn_relative_bias_bind(call, relative_of(call), table_of(call), &relative);
    job->y.bypass = false;
    relative.x = job->y.to;
    relative.make = make_rows;
    relative.maker = job;
    relative.scale = 1 / job->factor;
    relative.dtable = call->out[PDNN_ATTENTION_SOFTMAX_BACK_DTABLE];
    pdnn_relative_bias_backward(&relative, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_softmax job = job_of(call);
    job.p = call->in[PDNN_ATTENTION_SOFTMAX_BACK_P];
    if (call->node->n_inputs > PDNN_ATTENTION_SOFTMAX_BACK_COUNTER)
        drop(call, &job);
    if (table_of(call))
        backward_both(call, &job);
    else
        pdnn_softmax_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_attention_softmax = {
    .op = &pdnn_op_attention_softmax,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(3), .scratch_bytes = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(3),
                                     .scratch_bytes = backward_scratch}},
};
