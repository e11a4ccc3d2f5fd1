#include "runtime/backends/onednn/rows.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/step.h"
#include "runtime/backends/onednn/tensor_layout.h"
#include "runtime/lowering/step.h"

#include <stdio.h>

static enum pdnn_status compile_node(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = steps->compilation;
    struct pdnn_program *program = compile->program;
    uint32_t x = program->graph->nodes[node].input[PDNN_CAST_X],
             y = program->graph->nodes[node].output[PDNN_CAST_Y];
    struct pdnn_onednn_call call;
    struct pdnn_step step = pdnn_step_of_node(program->graph, node);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    if (!compile->layout[x] && !compile->layout[y])
        return pdnn_steps_compile_generic(steps, node, err);
    const struct pdnn_onednn_place from = {pdnn_onednn_tensor_layout(compile, x), x},
                                   to = {pdnn_onednn_tensor_layout(compile, y), y};
    enum pdnn_status status = pdnn_onednn_reorder_call(compile, from, to, &call, err);
    if (status != PDNN_OK)
        return status;
    snprintf(step.implementation, sizeof step.implementation, "%.37s cast %.16s",
             pdnn_onednn_primitive_name(call.primitive), pdnn_onednn_layout_format(to.layout, format));
    pdnn_onednn_append(program, &step, &call);
    return PDNN_OK;
}

const struct pdnn_step_def pdnn_onednn_cast_row = {
    .op = &pdnn_op_cast,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node}},
};
