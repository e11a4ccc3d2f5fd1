/* From a compiled definition to graphs, and to the family that the rest of the program sees. */
#ifndef MODELS_DEFINITION_BUILD_H
#define MODELS_DEFINITION_BUILD_H

#include "models/definition/definition.h"
#include "models/instance.h"

struct pdnn_compiled;
struct pdnn_origin; /* models/definition/compiled.h */

/* Appends the forward graph of a resolved instance, and its loss if it trains. Errors stick in the graph.
 * What neither the result nor, in training, the loss depends on is not built; an op that serves neither is an
 * error. Returns where each node comes from, counted from the first one that it appends; in the graph's
 * arena. */
const struct pdnn_origin *pdnn_definition_build(const struct pdnn_compiled *compiled,
                                                const struct pdnn_instance *instance,
                                                struct pdnn_graph *graph);

#endif
