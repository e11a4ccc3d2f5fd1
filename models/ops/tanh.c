/* tanh: y = tanh(x); dx = dy (1 - y^2).
 * FLOP per element: one transcendental function; backward: multiply, subtract, multiply. */
#include "models/ops/pointwise.h"

#include <math.h>

static double value(double x, const double *coef) {
    (void)coef;
    return tanh(x);
}

static double gradient(double dy, double y, const double *coef) {
    (void)coef;
    return dy * (1 - y * y);
}

static const struct pdnn_pointwise hyperbolic_tangent = {
    .value = value, .gradient = gradient, .forward_flop = 1, .backward_flop = 3};

const struct pdnn_op_def pdnn_op_tanh = {
    PDNN_ACTIVATION(.type = "Tanh"),
    .name = "tanh",
    .formula = "y = tanh(x)",
    .pointwise = &hyperbolic_tangent,
};
