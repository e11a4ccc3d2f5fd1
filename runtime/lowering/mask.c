#include "runtime/lowering/score_rows.h"

#include <math.h>

static struct pdnn_softmax job_of(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr;
    return pdnn_score_rows_masked_job(call, attr[PDNN_MASK_SEQUENCES], attr[PDNN_MASK_CAUSAL],
                                      attr[PDNN_MASK_WINDOW]);
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_softmax job = job_of(call);
    pdnn_score_rows_add_bias(call, PDNN_MASK_BIAS, &job);
    pdnn_softmax_mask(&job, -INFINITY, call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_softmax job = job_of(call);
    pdnn_softmax_mask(&job, 0, call->threads);
}

const struct pdnn_lowering pdnn_lowering_mask = {
    .op = &pdnn_op_mask,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(3)},
             [PDNN_BACKWARD_DATA] = {.run = backward, .ranks = PDNN_RANK(3)}},
};
