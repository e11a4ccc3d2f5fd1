#include "runtime/lowering/score_rows.h"

struct pdnn_softmax_result pdnn_score_rows_result(const struct pdnn_bound_call *call, int output) {
    return (struct pdnn_softmax_result){call->out[output], call->out[output] != call->in[0] &&
                                                               pdnn_call_bypasses_output(call, output)};
}

struct pdnn_softmax pdnn_score_rows_job(const struct pdnn_bound_call *call) {
    const struct pdnn_tensor *x = pdnn_node_in(call->graph, call->node, 0);
    int64_t columns = x->dim[x->rank - 1];
    return (struct pdnn_softmax){
        .matrices = 1,
        .n = call->elements / columns,
        .m = columns,
        .x = call->in[0],
        .heads = 1,
        .factor = 1,
        .y = pdnn_score_rows_result(call, 0),
    };
}

struct pdnn_softmax pdnn_score_rows_masked_job(const struct pdnn_bound_call *call, int64_t sequences,
                                               bool is_causal, int64_t window) {
    const int64_t *dim = pdnn_call_in_dim(call, 0);
    struct pdnn_softmax job = pdnn_score_rows_job(call);
    job.matrices = dim[0];
    job.n = dim[1];
    job.heads = dim[0] / sequences;
    job.is_causal = is_causal;
    job.window = window;
    return job;
}

void pdnn_score_rows_add_bias(const struct pdnn_bound_call *call, int input, struct pdnn_softmax *job) {
    bool by_row = input < call->node->n_inputs && pdnn_node_in(call->graph, call->node, input)->rank == 3;
    job->bias = call->in[input];
    job->turn = by_row ? pdnn_call_in_dim(call, input)[0] : 0;
}
