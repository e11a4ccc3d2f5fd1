#include "runtime/lowering/norm_rows.h"

struct pdnn_layernorm_result pdnn_norm_rows_result(const struct pdnn_bound_call *call, int output) {
    uint64_t bytes = 0;
    bool in_place = false;
    for (int i = 0; i < call->node->n_outputs; i++)
        bytes += pdnn_tensor_bytes(pdnn_node_out(call->graph, call->node, i));
    for (int i = 0; i < call->node->n_inputs; i++)
        in_place = in_place || call->in[i] == call->out[output];
    return (struct pdnn_layernorm_result){call->out[output], !in_place && pdnn_call_bypasses(call, bytes)};
}

uint64_t pdnn_norm_rows_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_layernorm_scratch(call->columns, call->threads) * sizeof(float);
}

uint64_t pdnn_norm_rows_backward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_layernorm_backward_scratch(call->rows, call->columns) * sizeof(float);
}
