/* experts by a library's sgemm, expert by expert (runtime/lowering/experts_runs.h). */
#include "models/op.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/calls.h"
#include "runtime/lowering/experts_runs.h"

static enum pdnn_status compile(const struct pdnn_calls *calls, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    struct pdnn_experts_runs runs = pdnn_experts_runs_of(&calls->program->arena, graph, node);
    int64_t most = calls->library->most;
    if (pdnn_node_in(graph, node, 0)->dtype != PDNN_F32)
        return pdnn_call_unsupported(calls->backend->name, graph, node, err);
    for (size_t i = 0; i < runs.count; i++) {
        const struct pdnn_matmul_job job = {
            .product = runs.product[i], .threads = calls->options->threads, .sgemm = calls->library->sgemm};
        if (job.product.M > most || job.product.N > most || job.product.K > most)
            return pdnn_sgemm_refuse(calls, index, err);
        if (pdnn_experts_few(&calls->program->arena, graph, node, &runs.product[i], job.threads,
                             &runs.work[i]))
            continue;
        runs.work[i] = pdnn_matmul_work_of(&calls->program->arena, &job);
        pdnn_sgemm_name(calls->library, runs.work[i].name);
    }
    pdnn_experts_append(calls->program, index, &runs, calls->options->threads);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_lowering_experts = {
    .op = &pdnn_op_experts,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_WEIGHTS] = {.compile = compile, .needs_sgemm = true}},
};
