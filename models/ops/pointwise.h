/* Shared by the ops whose one output has the shape of their first input, above all the activations y = f(x).
 * An activation's own file holds only its formula, as a struct pdnn_pointwise; the rest is here. */
#ifndef MODELS_OPS_POINTWISE_H
#define MODELS_OPS_POINTWISE_H

#include "models/op.h"

/* An activation, element by element; coef are the node's coefficients. */
struct pdnn_pointwise {
    double (*value)(double x, const double *coef);
    double (*gradient)(double dy, double saved, const double *coef); /* returns dx */
    bool saves_x;                    /* backward reads dy and x; else dy and y */
    bool non_negative;               /* no y is negative, unless coefficient 0 is */
    int forward_flop, backward_flop; /* per element */
};

/* The fields that all activations' definitions share; name, formula, coefficients and
 * .pointwise come on top. `...`: its form in ONNX. */
#define PDNN_ACTIVATION(...)                                                                                 \
    .category = "activation", .operands = {{"x", PDNN_OPERAND_DATA}}, .outputs = {"y"},                      \
    .onnx = {__VA_ARGS__}, .infer = pdnn_pointwise_infer, .gradient = pdnn_activation_gradient,              \
    .tolerance = 1e-6,                                                                                       \
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

/* Output 0 is like input 0; a second input must fit it (models/graph.h). */
enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err);

/* Whether a forward node's second input is as large as its first. */
bool pdnn_pointwise_is_equal(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Adds flop_per_element for each element of input 0. */
void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count);

/* out0[i] = function(in0[i], the element of in1 that it meets), counting one FLOP for each. */
void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b));

#endif
