/* Merges ops into their neighbours as posts (`fuse: post-ops`). Works on finished graphs of any mode. A
 * forward op joins its producer if nothing else reads the value between them; a normalization whose
 * statistics are constants is folded into the producer's weights; a backward-data op joins its only reader; a
 * backward-weights op joins the host that reads the same output gradient. */
#ifndef MODELS_TRANSFORM_FUSE_H
#define MODELS_TRANSFORM_FUSE_H

#include "models/graph.h"

void pdnn_fuse_post_ops(struct pdnn_graph *graph);

#endif
