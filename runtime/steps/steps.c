/* The one way to find what runs a node. */
#include "runtime/steps/steps.h"

#include "models/op.h"
#include "runtime/steps/own_step.h"
#include "runtime/steps/f32_copies.h"
#include "runtime/steps/upcast.h"
#include "runtime/steps/step.h"

extern const struct pdnn_step_def pdnn_step_dense, pdnn_step_matmul, pdnn_step_rnn, pdnn_step_conv2d;
static const struct pdnn_step_def *const generic[] = {&pdnn_step_dense, &pdnn_step_matmul, &pdnn_step_rnn,
                                                      &pdnn_step_conv2d, NULL};

static const struct pdnn_step_pass *find(const struct pdnn_step_def *const *rows,
                                         const struct pdnn_node *node) {
    for (; rows && *rows; rows++) {
        if ((*rows)->op == node->op)
            return (*rows)->pass[node->pass].compile ? &(*rows)->pass[node->pass] : NULL;
    }
    return NULL;
}

/* An sgemm computes in f32 alone: products of 16 bit take copies. */
static enum pdnn_status multiply(const struct pdnn_steps *steps, const struct pdnn_step_pass *pass,
                                 uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    if (!steps->library)
        return pdnn_step_unsupported(steps->backend->name, graph, node, err);
    if (!pdnn_half_is_used(graph, node))
        return pass->compile(steps, index, err);
    if (!steps->program->allow_slow)
        return pdnn_upcast_refuse(steps->backend->name, "sgemm", graph, node, err);
    return pdnn_upcast_compile(steps->backend, steps->state, steps->options->threads, steps->program, index,
                               err);
}

enum pdnn_status pdnn_steps_compile_generic(const struct pdnn_steps *steps, uint32_t node,
                                            struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_step_pass *pass = find(generic, &graph->nodes[node]);
    bool found = false;
    if (pass && pass->needs_sgemm)
        return multiply(steps, pass, node, err);
    enum pdnn_status status = pdnn_own_compile(steps->options, steps->program, node, &found, err);
    if (status == PDNN_OK && !found)
        return pdnn_step_unsupported(steps->backend->name, graph, &graph->nodes[node], err);
    return status;
}

enum pdnn_status pdnn_steps_compile(const struct pdnn_steps *steps, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_step_pass *pass = find(steps->rows, &graph->nodes[i]);
        status = pass ? pass->compile(steps, i, err) : pdnn_steps_compile_generic(steps, i, err);
    }
    return status;
}

enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: %s with a dimension beyond the library's integers",
                     steps->backend->name, steps->program->graph->nodes[node].op->name);
}
