/* relu: y = max(x, 0); dx = dy where y > 0, else 0.
 * FLOP: one comparison per element in either pass. */
#include "models/ops/pointwise.h"

enum { FORWARD_FLOP = 1, BACKWARD_FLOP = 1 };

static double value(double x, double unused) {
    (void)unused;
    return x > 0 ? x : 0;
}

static double derivative(double dy, double y) {
    return y > 0 ? dy : 0;
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

const struct pdnn_op_def pdnn_op_relu = {
    .name = "relu",
    .category = "activation",
    .formula = "y = max(x, 0)",
    .n_outputs = 1,
    .infer = pdnn_pointwise_infer,
    .gradient = pdnn_pointwise_gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 1e-6,
};
