/* What all backends need to append steps: the slots of a node, and one wording for what cannot be done. */
#ifndef RUNTIME_STEPS_STEP_H
#define RUNTIME_STEPS_STEP_H

#include "runtime/core/backend.h"

/* An empty step of the node; it uses the home slots of the node's inputs, outputs and posts. */
struct pdnn_step pdnn_step_of_node(const struct pdnn_graph *graph, uint32_t node);

/* Adds a slot unless the step uses it already. */
void pdnn_step_use(struct pdnn_step *step, uint32_t slot);

/* "onednn: no implementation of relu forward for bf16"; the dtype is the first input's. PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_step_unsupported(const char *backend, const struct pdnn_graph *graph,
                                       const struct pdnn_node *node, struct pdnn_err *err);

#endif
