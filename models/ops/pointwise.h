/* Shared by the ops whose inputs and one output have the same shape, above all the activations y = f(x). An
 * activation's own file holds only its formula, as a struct pdnn_pointwise; the rest is here. */
#ifndef MODELS_OPS_POINTWISE_H
#define MODELS_OPS_POINTWISE_H

#include "models/op.h"

/* An activation, element by element; coef are the node's coefficients. */
struct pdnn_pointwise {
    double (*value)(double x, const double *coef);
    double (*gradient)(double dy, double saved, const double *coef); /* returns dx */
    bool saves_x;                    /* backward reads dy and x; else dy and y */
    int forward_flop, backward_flop; /* per element */
};

/* The fields that all activations' definitions share; name, formula, coefficients and
 * .pointwise come on top. */
#define PDNN_ACTIVATION                                                                                      \
    .category = "activation", .n_outputs = 1, .infer = pdnn_pointwise_infer,                                 \
    .gradient = pdnn_activation_gradient, .tolerance = 1e-6,                                                 \
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_activation_flop,                                                 \
                               .reference = pdnn_activation_forward,                                         \
                               .in_place = 1},                                                               \
             [PDNN_BACKWARD_DATA] = {                                                                        \
                 .flop = pdnn_activation_flop, .reference = pdnn_activation_backward, .in_place = 1}}

/* Emits backward-data from (dy, the saved tensor). */
void pdnn_activation_gradient(struct pdnn_backward *backward, const struct pdnn_node *node);
void pdnn_activation_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count);
void pdnn_activation_forward(struct pdnn_reference *r);
void pdnn_activation_backward(struct pdnn_reference *r);

/* For any number of inputs. */
enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err);

/* Adds flop_per_element for each element of input 0. */
void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count);

/* out[i] = function(in0[i], in1[i]) over all elements, counting flop_per_element for each; with
 * one input, in1 is in0. */
void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b),
                              uint64_t flop_per_element);

#endif
