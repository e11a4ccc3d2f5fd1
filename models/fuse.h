/* Merges ops that may run as epilogues into the node before them (`fuse: post-ops`). Works on finished graphs
 * of any mode: a forward post-op joins its producer when nobody else reads the value between them; a
 * backward-weights post-op joins the host that reads the same output gradient. */
#ifndef MODELS_FUSE_H
#define MODELS_FUSE_H

#include "models/graph.h"

void pdnn_fuse_post_ops(struct pdnn_graph *graph);

#endif
