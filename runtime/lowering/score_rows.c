#include "runtime/lowering/score_rows.h"

struct pdnn_softmax_result pdnn_score_rows_result(const struct pdnn_bound_step *step, int output) {
    return (struct pdnn_softmax_result){step->out[output], step->out[output] != step->in[0] &&
                                                               pdnn_step_bypasses_output(step, output)};
}

struct pdnn_softmax pdnn_score_rows_job(const struct pdnn_bound_step *step) {
    const struct pdnn_tensor *x = pdnn_node_in(step->graph, step->node, 0);
    int64_t columns = x->dim[x->rank - 1];
    return (struct pdnn_softmax){
        .matrices = 1,
        .n = step->elements / columns,
        .m = columns,
        .x = step->in[0],
        .heads = 1,
        .factor = 1,
        .y = pdnn_score_rows_result(step, 0),
    };
}

struct pdnn_softmax pdnn_score_rows_masked_job(const struct pdnn_bound_step *step, int64_t sequences,
                                               bool is_causal) {
    const int64_t *dim = pdnn_step_in_dim(step, 0);
    struct pdnn_softmax job = pdnn_score_rows_job(step);
    job.matrices = dim[0];
    job.n = dim[1];
    job.heads = dim[0] / sequences;
    job.is_causal = is_causal;
    return job;
}
