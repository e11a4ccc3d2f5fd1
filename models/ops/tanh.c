/* tanh: y = tanh(x); dx = dy (1 - y^2).
 * FLOP per element: one transcendental function; backward multiply, subtract, multiply. */
#include "models/ops/pointwise.h"

#include <math.h>

enum { FORWARD_FLOP = 1, BACKWARD_FLOP = 3 };

static double value(double x, double unused) {
    (void)unused;
    return tanh(x);
}

static double derivative(double dy, double y) {
    return dy * (1 - y * y);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, FORWARD_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, BACKWARD_FLOP, count);
}

static void forward(struct pdnn_reference *r) {
    pdnn_pointwise_reference(r, value, FORWARD_FLOP);
}

static void backward_data(struct pdnn_reference *r) {
    pdnn_pointwise_reference(r, derivative, BACKWARD_FLOP);
}

const struct pdnn_op_def pdnn_op_tanh = {
    .name = "tanh",
    .category = "activation",
    .formula = "y = tanh(x)",
    .n_outputs = 1,
    .infer = pdnn_pointwise_infer,
    .gradient = pdnn_pointwise_gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 1e-6,
};
