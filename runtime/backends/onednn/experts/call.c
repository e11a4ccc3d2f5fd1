#include "runtime/backends/onednn/rows.h"

#include "models/op.h"
#include "runtime/backends/onednn/compile.h"
#include "models/attributes.h"
#include "runtime/backends/onednn/experts/layouts.h"
#include "runtime/backends/onednn/experts/tune.h"
#include "runtime/kernels/gemm/dense_few.h"
#include "runtime/lowering/experts_runs.h"

/* A few rows for each expert run on our own kernel, more in the way that is chosen, if the strides of the run
 * allow it. */
static enum pdnn_status make_work(struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                                  const struct pdnn_heads_product *product, enum pdnn_onednn_matmul_way way,
                                  struct pdnn_matmul_work *work, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_onednn_matmul_dtypes dtypes = {pdnn_node_in(graph, node, 0)->dtype,
                                                     pdnn_node_out(graph, node, 0)->dtype};
    struct pdnn_arena *arena = &compile->program->arena;
    int64_t threads = compile->onednn->options.threads;
    if (compile->layout[node->input[PDNN_EXPERTS_W]] && node->pass == PDNN_FORWARD)
        return pdnn_onednn_experts_blocked(compile, node, product, work, err);
    if (pdnn_experts_few(arena, graph, node, product, threads, work))
        return PDNN_OK;
    enum pdnn_status status =
        pdnn_onednn_matmul_work(compile->pool, arena, product, dtypes, way, threads, work, err);
    if (status == PDNN_UNSUPPORTED && dtypes.in == PDNN_F32)
        status = pdnn_onednn_matmul_work(compile->pool, arena, product, dtypes, PDNN_ONEDNN_MATMUL_SGEMM,
                                         threads, work, err);
    return status;
}

/* In 16 bit there is only the library's product. */
static enum pdnn_status choose(struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                               const struct pdnn_experts_runs *runs, enum pdnn_onednn_matmul_way *way,
                               struct pdnn_err *err) {
    enum pdnn_dtype dtype = pdnn_node_in(compile->program->graph, node, 0)->dtype;
    bool is_few = node->pass == PDNN_FORWARD && runs->product[0].M <= PDNN_DENSE_FEW_ROWS;
    *way = PDNN_ONEDNN_MATMUL_PRIMITIVE;
    return dtype == PDNN_F32 && !is_few ? pdnn_onednn_experts_choose(compile, node, way, err) : PDNN_OK;
}

static void destroy_all(const struct pdnn_experts_runs *runs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (runs->work[i].destroy)
            runs->work[i].destroy(runs->work[i].state);
}

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t index, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    struct pdnn_program *program = compile->program;
    const struct pdnn_node *node = &program->graph->nodes[index];
    const struct pdnn_experts_runs runs = pdnn_experts_runs_of(&program->arena, program->graph, node);
    enum pdnn_dtype dtype = pdnn_node_in(program->graph, node, 0)->dtype;
    enum pdnn_onednn_matmul_way way;
    bool is_reference = false;
    enum pdnn_status status = choose(compile, node, &runs, &way, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: experts");
    for (size_t i = 0; i < runs.count; i++) {
        status = make_work(compile, node, &runs.product[i], way, &runs.work[i], err);
        if (status != PDNN_OK)
            destroy_all(&runs, i);
        if (status == PDNN_UNSUPPORTED && pdnn_dtype_is_half(dtype))
            return pdnn_onednn_upcast_compile(compile, index, err);
        if (status != PDNN_OK)
            return pdnn_wrap(err, "onednn: experts for %s", pdnn_dtype_name(dtype));
        is_reference = is_reference || runs.work[i].is_reference;
    }
    if (is_reference && pdnn_onednn_upcast_check(compile, node, err) != PDNN_OK) {
        destroy_all(&runs, runs.count);
        return PDNN_UNSUPPORTED;
    }
    pdnn_experts_append(program, index, &runs, compile->onednn->options.threads);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_onednn_experts_row = {
    .op = &pdnn_op_experts,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node},
             [PDNN_BACKWARD_DATA] = {.compile = compile_node},
             [PDNN_BACKWARD_WEIGHTS] = {.compile = compile_node}},
};
