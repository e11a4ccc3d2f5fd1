/* Derives the training step from the forward graph: each op's gradient rule in reverse order, then the
 * optimizer's updates. No gradient is built that nothing uses: only weights and what lies between them and
 * the loss get one. */
#ifndef MODELS_BACKWARD_H
#define MODELS_BACKWARD_H

#include "models/graph.h"

struct pdnn_optimizer_def;

/* State of one derivation; ops see it through the functions below. */
struct pdnn_backward;

/* Appends backward and update nodes to the graph, whose loss must be set. Errors stick in the graph. */
void pdnn_backward_derive(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer);

/* True when somebody needs the gradient of the tensor. */
bool pdnn_backward_wants(const struct pdnn_backward *backward, uint32_t tensor);

/* The gradient of the tensor computed so far, or PDNN_NONE (of the loss: it is 1 and has no tensor). */
uint32_t pdnn_backward_of(const struct pdnn_backward *backward, uint32_t tensor);

/* Appends a pass of the forward node's op that computes the gradient of `target` from inputs (ended by
 * PDNN_NONE). A second contribution to the same target is added to the first by an `add` node. */
void pdnn_backward_emit(struct pdnn_backward *backward, const struct pdnn_node *forward, enum pdnn_pass pass,
                        uint32_t target, const uint32_t *inputs);

/* The same for several targets (ended by PDNN_NONE) at once: output k of the node is the gradient of target
 * k. A target that nobody wants gets a tensor all the same. */
void pdnn_backward_emit_all(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, const uint32_t *targets, const uint32_t *inputs);

/* The same for a rule whose gradient is an existing tensor (the shortcut of an add: dy itself). */
void pdnn_backward_pass_on(struct pdnn_backward *backward, uint32_t target, uint32_t gradient);

/* For a node that has no gradient: PDNN_UNSUPPORTED with the reason, a static text. */
void pdnn_backward_refuse(struct pdnn_backward *backward, const char *reason);

#endif
