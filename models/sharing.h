/* What graphs of one model have in common whatever the size of their data: at all sequence lengths or
 * minibatches, a model has one set of weights and of state kept between steps. */
#ifndef MODELS_SHARING_H
#define MODELS_SHARING_H

#include "models/graph.h"

/* Weights and state. */
bool pdnn_role_is_shared(enum pdnn_role role);

/* The first shareable tensor from `from` on, or PDNN_NONE. Number k of one graph corresponds to
 * number k of another. */
uint32_t pdnn_shared_next(const struct pdnn_graph *graph, uint32_t from);

/* The counterpart of a shared tensor in the other graph, or PDNN_NONE. */
uint32_t pdnn_shared_match(const struct pdnn_graph *graph, uint32_t tensor, const struct pdnn_graph *other);

/* Whether the graph has exactly the shared tensors of `other`, in the same order, with the same shapes,
 * dtypes and initial values. If not, PDNN_INVALID with the first difference: "weight 3 of lstm1 is 512x256
 * f32, not 256x256 f32". */
enum pdnn_status pdnn_graph_shares(const struct pdnn_graph *graph, const struct pdnn_graph *other,
                                   struct pdnn_err *err);

#endif
