#include "runtime/lowering/pointwise.h"

void pdnn_pointwise_run(const struct pdnn_bound_step *step, enum pdnn_elementwise function) {
    uint64_t bytes = (uint64_t)step->elements * sizeof(float);
    bool in_place = step->out[0] == step->in[0] || step->out[0] == step->in[1];
    struct pdnn_elementwise_job job = {
        .function = function,
        .a = step->in[0],
        .b = step->in[1],
        .y = step->out[0],
        .elements = step->elements,
        .bypass = !in_place && bytes >= step->cache_bytes / PDNN_STEP_BYPASS_ELEMENTWISE,
        .coef = {(float)step->node->coef[0], (float)step->node->coef[1]},
    };
    pdnn_elementwise_run(&job, step->threads);
}

void pdnn_pointwise_clear_padding(const struct pdnn_bound_step *step) {
    pdnn_channels_clear_padding(step->out[0], &step->shape, step->threads);
}
