/* Helpers that all backends use to append steps: a node's slots, and one wording for
 * what is not supported. */
#ifndef RUNTIME_LOWERING_STEP_H
#define RUNTIME_LOWERING_STEP_H

#include "runtime/backend/backend.h"

/* An empty step for the node that uses the home slots of its inputs, outputs and posts. */
struct pdnn_step pdnn_step_of_node(const struct pdnn_graph *graph, uint32_t node);

/* Adds the slot unless the step already uses it. */
void pdnn_step_use(struct pdnn_step *step, uint32_t slot);

/* A slot of so many bytes that the step uses while it runs; PDNN_NONE if it needs none. */
uint32_t pdnn_step_scratch(struct pdnn_step *step, struct pdnn_program *program, uint64_t bytes);

/* "onednn: no implementation of relu forward for bf16", with the dtype of the first input.
 * Returns PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_step_unsupported(const char *backend, const struct pdnn_graph *graph,
                                       const struct pdnn_node *node, struct pdnn_err *err);

#endif
