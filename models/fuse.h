/* Merges ops into their neighbours as posts (`fuse: post-ops`). Works on finished graphs of any mode: a
 * forward op joins its producer when nobody else reads the value between them, and a normalization whose
 * statistics are constants goes into the producer's weights; a backward-data op joins its only reader; a
 * backward-weights op joins the host that reads the same output gradient. */
#ifndef MODELS_FUSE_H
#define MODELS_FUSE_H

#include "models/graph.h"

void pdnn_fuse_post_ops(struct pdnn_graph *graph);

#endif
