/* What families build the forward graph with: weights, state, and the forward passes of ops. Errors stick in
 * the graph, as those of graph.h do. */
#ifndef MODELS_FORWARD_H
#define MODELS_FORWARD_H

#include "models/op.h"

/* A weight as ops read it. Matrices have the graph's dtype, vectors (biases, scales, shifts) are f32, as
 * libraries expect. If the graph has masters, the weight is f32, and the result is a copy in the graph's
 * dtype from a node that casts it here: once per micro-step, and again in a recomputed segment. */
uint32_t pdnn_graph_weight(struct pdnn_graph *graph, int rank, const int64_t *dim, struct pdnn_fill fill);

/* State that no optimizer created. Vectors, such as running statistics, are f32; matrices, such as cached
 * keys and values, have the graph's dtype if that is 16-bit. */
uint32_t pdnn_graph_state(struct pdnn_graph *graph, int rank, const int64_t *dim, struct pdnn_fill fill);

/* From now on, pdnn_graph_weight and pdnn_graph_state return the tensors they created before, starting with
 * the first: a family that builds its forward graph again appends another micro-step on the same weights. */
void pdnn_graph_replay(struct pdnn_graph *graph);

/* Called by families: the op's forward pass on inputs ended by PDNN_NONE, at most PDNN_NODE_INPUTS.
 * Infers and creates the outputs and returns the first one; coefficients are the op's defaults. attrs may be
 * NULL (all zero), else PDNN_NODE_ATTRS values. */
uint32_t pdnn_graph_forward(struct pdnn_graph *graph, const struct pdnn_op_def *op, const uint32_t *inputs,
                            const int64_t *attrs);

/* The same with given coefficients, PDNN_NODE_COEFS of them; NULL: the defaults. */
uint32_t pdnn_graph_forward_with(struct pdnn_graph *graph, const struct pdnn_op_def *op,
                                 const uint32_t *inputs, const int64_t *attrs, const double *coefs);

/* The forward node `like` again, on other data in place of its first n_data inputs, with the same shapes and
 * dtypes: its other inputs, and its outputs, are new tensors like those that it has. The graph has no error.
 * Returns the node. */
uint32_t pdnn_graph_forward_again(struct pdnn_graph *graph, uint32_t like, const uint32_t *data, int n_data);

/* The tensor in f32, as losses need it: cast by a node if it is 16-bit, else itself. */
uint32_t pdnn_graph_f32(struct pdnn_graph *graph, uint32_t tensor);

#endif
