/* What ops of inputs and one output of the same shape have in common, and the activations y = f(x): the file
 * of one of those is its formula, a struct pdnn_pointwise, and what every activation has is here. */
#ifndef MODELS_OPS_POINTWISE_H
#define MODELS_OPS_POINTWISE_H

#include "models/op.h"

/* An activation, element by element; coef are the node's coefficients. */
struct pdnn_pointwise {
    double (*value)(double x, const double *coef);
    double (*gradient)(double dy, double saved, const double *coef); /* dx */
    bool saves_x;                    /* what backward reads beside dy is x; else it is y */
    int forward_flop, backward_flop; /* of one element */
};

/* The rows of an activation's definition beside name, formula, coefficients and .pointwise. */
#define PDNN_ACTIVATION                                                                                      \
    .category = "activation", .n_outputs = 1, .infer = pdnn_pointwise_infer,                                 \
    .gradient = pdnn_activation_gradient, .tolerance = 1e-6,                                                 \
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_activation_flop,                                                 \
                               .reference = pdnn_activation_forward,                                         \
                               .in_place = 1},                                                               \
             [PDNN_BACKWARD_DATA] = {                                                                        \
                 .flop = pdnn_activation_flop, .reference = pdnn_activation_backward, .in_place = 1}}

/* Emits backward-data from (dy, what is saved). */
void pdnn_activation_gradient(struct pdnn_backward *backward, const struct pdnn_node *node);
void pdnn_activation_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count);
void pdnn_activation_forward(struct pdnn_reference *r);
void pdnn_activation_backward(struct pdnn_reference *r);

/* Of any number of inputs. */
enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err);

/* count += elements of input 0 times flop_per_element. */
void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count);

/* out[i] = function(in0[i], in1[i]) over all elements (in1 is in0 for one input), each flop_per_element
 * operations. */
void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b),
                              uint64_t flop_per_element);

#endif
