/* What the ops of one input and one output of the same shape have in common: shape inference, a gradient rule
 * that uses the output, and FLOP per element. Their files give the formulas. */
#ifndef MODELS_OPS_POINTWISE_H
#define MODELS_OPS_POINTWISE_H

#include "models/op.h"

enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err);

/* Emits backward-data from (dy, y). */
void pdnn_pointwise_gradient(struct pdnn_backward *backward, const struct pdnn_node *node);

/* count += elements of input 0 times flop_per_element. */
void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count);

/* out[i] = function(in0[i], in1[i]) over all elements (in1 is in0 for one input), each flop_per_element
 * operations. */
void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b),
                              uint64_t flop_per_element);

#endif
