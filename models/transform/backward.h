/* Derives the training step from the forward graph: each op's gradient rule in reverse order, then the
 * optimizer's updates. Only gradients that are used are built: those of weights and of whatever lies between
 * them and the loss. A loss may be a sum of losses. A step may consist of several micro-steps, each forward
 * and backward, whose gradients are summed before the updates: 3 more words per parameter for each
 * micro-step after the first. */
#ifndef MODELS_TRANSFORM_BACKWARD_H
#define MODELS_TRANSFORM_BACKWARD_H

#include "models/graph.h"

struct pdnn_optimizer_def;

/* State of one derivation; ops see it through the functions below. */
struct pdnn_backward;

/* Appends backward and update nodes to the graph, whose loss must be set. Errors stick in the graph. */
void pdnn_backward_derive(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer);

/* The same in parts. Create comes first, while the graph has no nodes; it allocates in the graph's arena.
 * Append follows each micro-step's forward pass: it appends the backward pass of the new nodes and makes the
 * graph's loss the sum of those so far. With checkpoint, the nodes of a segment (pdnn_graph_segment_begin)
 * are repeated right before the backward pass of the segment's last one; the copies have no outputs that are
 * inputs, so that they leave state unchanged. Update comes last. */
struct pdnn_backward *pdnn_backward_create(struct pdnn_graph *graph, bool checkpoint);
void pdnn_backward_append(struct pdnn_backward *backward);
void pdnn_backward_update(struct pdnn_backward *backward, const struct pdnn_optimizer_def *optimizer);

/* True if anything needs the gradient of the tensor. */
bool pdnn_backward_wants(const struct pdnn_backward *backward, uint32_t tensor);

/* The gradient of the tensor computed so far, or PDNN_NONE. In a later micro-step, the gradient of a weight
 * that several nodes read includes earlier ones. The gradient of a loss is 1 and has no tensor: the result
 * may be passed on, but must not be a node's input. */
uint32_t pdnn_backward_of(const struct pdnn_backward *backward, uint32_t tensor);

/* The graph so far. */
const struct pdnn_graph *pdnn_backward_graph(const struct pdnn_backward *backward);

/* All nodes of the forward pass that read a tensor, or the one it is a copy of, lie between two nodes. */
struct pdnn_readers {
    uint32_t tensor, first, end;
};
struct pdnn_readers pdnn_backward_readers(const struct pdnn_backward *backward, uint32_t tensor);

/* Appends a pass of the forward node's op that computes the gradient of `target` from inputs (ended by
 * PDNN_NONE). A second contribution to the same target is added to the first by an `add` node. */
void pdnn_backward_emit(struct pdnn_backward *backward, const struct pdnn_node *forward, enum pdnn_pass pass,
                        uint32_t target, const uint32_t *inputs);

/* The same for a node that takes the gradient so far, if there is one, as an input: its output replaces it,
 * and nothing is added. For gradients of which several nodes each write a part. */
void pdnn_backward_continue(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, uint32_t target, const uint32_t *inputs);

/* The same for several targets (ended by PDNN_NONE) at once: output k of the node is the gradient of target
 * k. A target that nothing needs gets a tensor all the same. */
void pdnn_backward_emit_all(struct pdnn_backward *backward, const struct pdnn_node *forward,
                            enum pdnn_pass pass, const uint32_t *targets, const uint32_t *inputs);

/* The same for a rule whose gradient is an existing tensor (the shortcut of an add: dy itself). */
void pdnn_backward_pass_on(struct pdnn_backward *backward, uint32_t target, uint32_t gradient);

/* For a node that has no gradient: PDNN_UNSUPPORTED with the reason, a static text. */
void pdnn_backward_refuse(struct pdnn_backward *backward, const char *reason);

#endif
