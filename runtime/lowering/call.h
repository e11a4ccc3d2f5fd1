/* Helpers that all backends use to append calls: a node's slots, and one wording for
 * what is not supported. */
#ifndef RUNTIME_LOWERING_CALL_H
#define RUNTIME_LOWERING_CALL_H

#include "runtime/backend/backend.h"

/* An empty call for the node that uses the home slots of its inputs, outputs and posts. */
struct pdnn_call pdnn_call_of_node(const struct pdnn_graph *graph, uint32_t node);

/* Adds the slot unless the call already uses it. */
void pdnn_call_use(struct pdnn_call *call, uint32_t slot);

/* A slot of so many bytes that the call uses while it runs; PDNN_NONE if it needs none. */
uint32_t pdnn_call_scratch(struct pdnn_call *call, struct pdnn_program *program, uint64_t bytes);

/* "onednn: no implementation of relu forward for bf16", with the dtype of the first input.
 * Returns PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_call_unsupported(const char *backend, const struct pdnn_graph *graph,
                                       const struct pdnn_node *node, struct pdnn_err *err);

#endif
