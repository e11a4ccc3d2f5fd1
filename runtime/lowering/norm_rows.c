#include "runtime/lowering/norm_rows.h"

struct pdnn_layernorm_result pdnn_norm_rows_result(const struct pdnn_bound_step *step, int output) {
    uint64_t bytes = 0;
    bool in_place = false;
    for (int i = 0; i < step->node->n_outputs; i++)
        bytes += pdnn_tensor_bytes(pdnn_node_out(step->graph, step->node, i));
    for (int i = 0; i < step->node->n_inputs; i++)
        in_place = in_place || step->in[i] == step->out[output];
    return (struct pdnn_layernorm_result){step->out[output], !in_place && pdnn_step_bypasses(step, bytes)};
}

uint64_t pdnn_norm_rows_scratch(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_layernorm_scratch(step->columns, step->threads) * sizeof(float);
}

uint64_t pdnn_norm_rows_backward_scratch(const struct pdnn_bound_step *step) {
    return (uint64_t)pdnn_layernorm_backward_scratch(step->rows, step->columns) * sizeof(float);
}
