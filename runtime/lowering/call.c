#include "runtime/lowering/call.h"

#include "models/op.h"

#include <assert.h>

void pdnn_call_use(struct pdnn_call *call, uint32_t slot) {
    for (int i = 0; i < call->n_slots; i++) {
        if (call->slot[i] == slot)
            return;
    }
    assert(call->n_slots < PDNN_CALL_SLOTS);
    call->slot[call->n_slots++] = slot;
}

uint32_t pdnn_call_scratch(struct pdnn_call *call, struct pdnn_program *program, uint64_t bytes) {
    if (!bytes)
        return PDNN_NONE;
    uint32_t slot = pdnn_program_slot(program, bytes, false);
    pdnn_call_use(call, slot);
    return slot;
}

struct pdnn_call pdnn_call_of_node(const struct pdnn_graph *graph, uint32_t node) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    int n_accesses = pdnn_node_accesses(&graph->nodes[node], access);
    struct pdnn_call call = {.node = node, .tensor = PDNN_NONE};
    for (int i = 0; i < n_accesses; i++)
        pdnn_call_use(&call, access[i].tensor);
    return call;
}

enum pdnn_status pdnn_call_unsupported(const char *backend, const struct pdnn_graph *graph,
                                       const struct pdnn_node *node, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: no implementation of %s %s for %s", backend, node->op->name,
                     pdnn_pass_name(node->pass), pdnn_dtype_name(pdnn_node_in(graph, node, 0)->dtype));
}
