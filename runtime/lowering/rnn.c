/* rnn unrolled: products by a library's sgemm, cells by our own kernels (runtime/lowering/rnn_unrolled.h). */
#include "models/op.h"
#include "runtime/lowering/rnn_unrolled.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/calls.h"

static enum pdnn_status compile(const struct pdnn_calls *calls, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    int64_t most = calls->library->most;
    if (graph->rnn == PDNN_RECURRENCE_FUSED)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: %s has no recurrent layers; use rnn=unrolled",
                         calls->backend->name, calls->library->title);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct pdnn_tensor *input = pdnn_node_in(graph, node, i);
        if (input->dtype != PDNN_F32)
            return pdnn_call_unsupported(calls->backend->name, graph, node, err);
        if (input->dim[0] > most || (input->rank > 1 && input->dim[1] > most))
            return pdnn_sgemm_refuse(calls, index, err);
    }
    pdnn_rnn_compile(calls->library, calls->options->threads, calls->program, index);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_lowering_rnn = {
    .op = &pdnn_op_rnn,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true}},
};
