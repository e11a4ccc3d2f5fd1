#include "runtime/lowering/step.h"

#include "models/op.h"

#include <assert.h>

void pdnn_step_use(struct pdnn_step *step, uint32_t slot) {
    for (int i = 0; i < step->n_slots; i++) {
        if (step->slot[i] == slot)
            return;
    }
    assert(step->n_slots < PDNN_STEP_SLOTS);
    step->slot[step->n_slots++] = slot;
}

uint32_t pdnn_step_scratch(struct pdnn_step *step, struct pdnn_program *program, uint64_t bytes) {
    if (!bytes)
        return PDNN_NONE;
    uint32_t slot = pdnn_program_slot(program, bytes, false);
    pdnn_step_use(step, slot);
    return slot;
}

struct pdnn_step pdnn_step_of_node(const struct pdnn_graph *graph, uint32_t node) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int n_accesses = pdnn_node_accesses(&graph->nodes[node], access);
    struct pdnn_step step = {.node = node, .tensor = PDNN_NONE};
    for (int i = 0; i < n_accesses; i++)
        pdnn_step_use(&step, access[i].tensor);
    return step;
}

enum pdnn_status pdnn_step_unsupported(const char *backend, const struct pdnn_graph *graph,
                                       const struct pdnn_node *node, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: no implementation of %s %s for %s", backend, node->op->name,
                     pdnn_pass_name(node->pass), pdnn_dtype_name(pdnn_node_in(graph, node, 0)->dtype));
}
