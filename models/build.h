/* From an instance to the graph of its whole step. */
#ifndef MODELS_BUILD_H
#define MODELS_BUILD_H

#include "models/graph.h"
#include "models/instance.h"

/* Why no backend runs the instance, known without a graph; NULL: some may. */
const char *pdnn_instance_refusal(const struct pdnn_instance *instance);

/* Builds the forward graph of one micro-step in the arena: what gradients are derived from. */
enum pdnn_status pdnn_instance_forward(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                       struct pdnn_graph *graph, struct pdnn_err *err);

/* Builds an instance's whole graph in the arena: family, backward and updates for training, fusion and
 * int8 if requested. */
enum pdnn_status pdnn_instance_graph(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                     struct pdnn_graph *graph, struct pdnn_err *err);

#endif
