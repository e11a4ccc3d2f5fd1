/* Activations and their derivatives by oneDNN, on the slot as one long vector. */
#include "models/op.h"
#include "runtime/backends/common/step.h"
#include "runtime/backends/onednn/onednn.h"

#include <stdio.h>

enum pdnn_status pdnn_onednn_compile_eltwise(struct pdnn_onednn_compile *compile, uint32_t node,
                                             struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_node *n = &graph->nodes[node];
    struct pdnn_step step = pdnn_step_of_node(graph, node);
    struct pdnn_onednn_layout *vector = NULL;
    struct pdnn_onednn_primitive *primitive = NULL;
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_ELTWISE, .pass = n->pass};
    bool backward = n->pass == PDNN_BACKWARD_DATA; /* inputs dy, y; output dx */
    const enum pdnn_dtype dtype = pdnn_node_in(graph, n, 0)->dtype;
    int64_t elements = (int64_t)(compile->program->slots[n->input[0]].bytes / pdnn_dtype_bytes(dtype));
    if (!pdnn_onednn_function_of(n->op, &request.function))
        return pdnn_step_unsupported("onednn", graph, n, err);
    enum pdnn_status status =
        pdnn_onednn_layout_create(dtype, 1, &elements, PDNN_ONEDNN_ROW_MAJOR, &vector, err);
    if (status != PDNN_OK)
        return status;
    request.layout[PDNN_ONEDNN_SRC] = request.layout[PDNN_ONEDNN_DST] = vector;
    request.layout[PDNN_ONEDNN_WEIGHTS] = backward ? vector : NULL;
    status = pdnn_onednn_primitive_create(compile->onednn->library, &request, &primitive, err);
    pdnn_onednn_layout_destroy(vector);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: %s %s", n->op->name, pdnn_pass_name(n->pass));
    const uint32_t slot[PDNN_ONEDNN_SCRATCHPAD] = {
        [PDNN_ONEDNN_SRC] = backward ? n->output[0] : n->input[0],
        [PDNN_ONEDNN_WEIGHTS] = backward ? n->input[1] : PDNN_NONE,
        [PDNN_ONEDNN_BIAS] = PDNN_NONE,
        [PDNN_ONEDNN_DST] = backward ? n->input[0] : n->output[0],
    };
    snprintf(step.implementation, sizeof step.implementation, "%s eltwise",
             pdnn_onednn_primitive_name(primitive));
    return pdnn_onednn_append(compile->program, &step, primitive, slot, err);
}
