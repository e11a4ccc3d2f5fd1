/* Data parallel training: what makes the graph of one process that of one rank among several. Every rank has
 * the whole model and a minibatch of its own; before the weights are updated, the gradients are averaged over
 * the ranks, in buckets. */
#ifndef MODELS_TRANSFORM_DISTRIBUTE_H
#define MODELS_TRANSFORM_DISTRIBUTE_H

#include "models/graph.h"
#include "models/instance.h"

/* Adds the nodes `allreduce` to a whole training graph, as the settings ranks, allreduce and bucket say;
 * nothing for one rank. Gradients enter buckets in the order in which the backward pass completes them, which
 * is the reverse order of the layers; a bucket ends before the gradient with which it would exceed its size.
 * Blocking: each gradient's node stands where the gradient is complete, and the bucket's last one averages.
 * Otherwise a node there starts, and another one waits before the first update. */
void pdnn_distribute(const struct pdnn_instance *instance, struct pdnn_graph *graph);

#endif
