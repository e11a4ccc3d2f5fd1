/* rnn unrolled: products by a library's sgemm, cells by our own kernels (runtime/lowering/rnn_unrolled.h). */
#include "models/op.h"
#include "runtime/lowering/rnn_unrolled.h"
#include "runtime/lowering/step.h"
#include "runtime/lowering/steps.h"

static enum pdnn_status compile(const struct pdnn_steps *steps, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    int64_t most = steps->library->most;
    if (graph->rnn == PDNN_RECURRENCE_FUSED)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: %s has no recurrent layers; use rnn=unrolled",
                         steps->backend->name, steps->library->title);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct pdnn_tensor *input = pdnn_node_in(graph, node, i);
        if (input->dtype != PDNN_F32)
            return pdnn_step_unsupported(steps->backend->name, graph, node, err);
        if (input->dim[0] > most || (input->rank > 1 && input->dim[1] > most))
            return pdnn_sgemm_refuse(steps, index, err);
    }
    pdnn_rnn_compile(steps->library, steps->options->threads, steps->program, index);
    return PDNN_OK;
}

const struct pdnn_step_def pdnn_step_rnn = {
    .op = &pdnn_op_rnn,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true}},
};
