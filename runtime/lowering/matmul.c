/* matmul by a library's sgemm, head by head (runtime/lowering/matmul_heads.h), or with a window by our own
 * kernel. Backward-data is the same product with other attributes. */
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/lowering/matmul_heads.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/calls.h"

static bool fits(const struct pdnn_calls *calls, const struct pdnn_heads *heads) {
    int64_t most = calls->library->most;
    return heads->rows <= most && heads->columns <= most && heads->row_stride <= most;
}

static enum pdnn_status compile(const struct pdnn_calls *calls, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    const bool has_window = node->attr[PDNN_MATMUL_WINDOW] != 0;
    const struct pdnn_matmul_job multiply = {.product = pdnn_heads_product_of(graph, node),
                                             .dtype = PDNN_F32,
                                             .threads = calls->options->threads,
                                             .sgemm = has_window ? NULL : calls->library->sgemm};
    const struct pdnn_heads_product *p = &multiply.product;
    if (pdnn_node_in(graph, node, 0)->dtype != PDNN_F32)
        return pdnn_call_unsupported(calls->backend->name, graph, node, err);
    if (!fits(calls, &p->a) || !fits(calls, &p->b) || !fits(calls, &p->y))
        return pdnn_sgemm_refuse(calls, index, err);
    struct pdnn_matmul_work work = pdnn_matmul_work_of(&calls->program->arena, &multiply);
    if (has_window)
        pdnn_matmul_name_own(work.name);
    else
        pdnn_sgemm_name(calls->library, work.name);
    pdnn_matmul_append(calls->program, index, &work, multiply.threads);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_lowering_matmul = {
    .op = &pdnn_op_matmul,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true}},
};
