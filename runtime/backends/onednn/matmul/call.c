#include "runtime/backends/onednn/rows.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/matmul/tune.h"

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    struct pdnn_program *program = compile->program;
    struct pdnn_onednn *onednn = compile->onednn;
    const struct pdnn_node *n = &program->graph->nodes[node];
    const struct pdnn_heads_product product = pdnn_heads_product_of(program->graph, n);
    enum pdnn_dtype dtype = pdnn_node_in(program->graph, n, PDNN_MATMUL_A)->dtype;
    enum pdnn_onednn_matmul_way way;
    struct pdnn_matmul_work work;
    enum pdnn_status status = pdnn_onednn_matmul_choose(compile, n, &way, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_matmul_work(compile->pool, &program->arena, &product,
                                         (struct pdnn_onednn_matmul_dtypes){dtype, dtype}, way,
                                         onednn->options.threads, &work, err);
    if (status == PDNN_UNSUPPORTED && pdnn_dtype_is_half(dtype))
        return pdnn_onednn_upcast_compile(compile, node, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: matmul for %s", pdnn_dtype_name(dtype));
    if (work.is_reference && pdnn_onednn_upcast_check(compile, n, err) != PDNN_OK) {
        work.destroy(work.state);
        return PDNN_UNSUPPORTED;
    }
    pdnn_matmul_append(program, node, &work, onednn->options.threads);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_onednn_matmul_row = {
    .op = &pdnn_op_matmul,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node}, [PDNN_BACKWARD_DATA] = {.compile = compile_node}},
};
