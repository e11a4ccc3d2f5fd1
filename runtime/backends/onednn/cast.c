#include "runtime/backends/onednn/rows.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/call.h"
#include "runtime/lowering/call.h"

#include <stdio.h>

/* Where one side is stored plain, it has the dimensions that the other is described with: weights of grouped
 * convolutions have one more. */
static const struct pdnn_onednn_layout *layout_of(const struct pdnn_onednn_compile *compile, uint32_t tensor,
                                                  uint32_t other) {
    const struct pdnn_onednn_layout *stored = compile->layout[tensor];
    const struct pdnn_tensor *t = &compile->program->graph->tensors[tensor];
    return stored ? stored : pdnn_onednn_layout_plain_of(compile->pool, compile->layout[other], t->dtype);
}

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    struct pdnn_program *program = compile->program;
    uint32_t x = program->graph->nodes[node].input[PDNN_CAST_X],
             y = program->graph->nodes[node].output[PDNN_CAST_Y];
    struct pdnn_onednn_exec exec;
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    if (!compile->layout[x] && !compile->layout[y])
        return pdnn_calls_compile_generic(calls, node, err);
    const struct pdnn_onednn_place from = {layout_of(compile, x, y), x}, to = {layout_of(compile, y, x), y};
    enum pdnn_status status = pdnn_onednn_exec_reorder(compile, from, to, &exec, err);
    if (status != PDNN_OK)
        return status;
    snprintf(call.implementation, sizeof call.implementation, "%.37s cast %.16s",
             pdnn_onednn_primitive_name(exec.primitive), pdnn_onednn_layout_format(to.layout, format));
    pdnn_onednn_append(program, &call, &exec);
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_onednn_cast_row = {
    .op = &pdnn_op_cast,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node}},
};
