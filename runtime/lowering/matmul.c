/* matmul by a library's sgemm, head by head (runtime/lowering/matmul_heads.h). Backward-data is the same
 * product with other attributes. */
#include "models/op.h"
#include "runtime/lowering/matmul_heads.h"
#include "runtime/lowering/step.h"
#include "runtime/lowering/steps.h"

static bool fits(const struct pdnn_steps *steps, const struct pdnn_heads *heads) {
    int64_t most = steps->library->most;
    return heads->rows <= most && heads->columns <= most && heads->row_stride <= most;
}

static enum pdnn_status compile(const struct pdnn_steps *steps, uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    const struct pdnn_matmul_job multiply = {.product = pdnn_heads_product_of(graph, node),
                                             .threads = steps->options->threads,
                                             .sgemm = steps->library->sgemm};
    const struct pdnn_heads_product *p = &multiply.product;
    if (pdnn_node_in(graph, node, 0)->dtype != PDNN_F32)
        return pdnn_step_unsupported(steps->backend->name, graph, node, err);
    if (!fits(steps, &p->a) || !fits(steps, &p->b) || !fits(steps, &p->y))
        return pdnn_sgemm_refuse(steps, index, err);
    struct pdnn_matmul_work work = pdnn_matmul_work_of(&steps->program->arena, &multiply);
    pdnn_sgemm_name(steps->library, work.name);
    pdnn_matmul_append(steps->program, index, &work, multiply.threads);
    return PDNN_OK;
}

const struct pdnn_step_def pdnn_step_matmul = {
    .op = &pdnn_op_matmul,
    .pass = {[PDNN_FORWARD] = {.compile = compile, .needs_sgemm = true},
             [PDNN_BACKWARD_DATA] = {.compile = compile, .needs_sgemm = true}},
};
