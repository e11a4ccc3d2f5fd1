/* Merges what stands between the products of a segment into one op each (`fuse: blocks`):
 *   scale [relative_bias] [mask] softmax [dropout], or without scale from a relative_bias on,
 *                            becomes attention_softmax;
 *   [dropout] add layernorm  becomes dropout_add_norm.
 * Works on the forward graph of a micro-step, before its gradients are derived: the ops have gradients of
 * their own. Each op of a pattern follows the one before it and takes its result as first input; only casts
 * of weights may stand between, and move before it. Between them nothing else reads the result, except that
 * the sum may have other readers; in inference, a sum without them is not written (`y_only`). */
#ifndef MODELS_TRANSFORM_FUSE_BLOCKS_H
#define MODELS_TRANSFORM_FUSE_BLOCKS_H

#include "models/graph.h"

/* `first`: the micro-step's first node. A graph with a loss is trained. */
void pdnn_fuse_blocks(struct pdnn_graph *graph, size_t first);

#endif
