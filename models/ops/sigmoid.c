/* sigmoid: y = 1 / (1 + exp(-x)); dx = dy y (1 - y).
 * FLOP per element: negate, exp, add, divide; backward: multiply, subtract, multiply. */
#include "models/ops/pointwise.h"

#include <math.h>

static double value(double x, const double *coef) {
    (void)coef;
    return 1 / (1 + exp(-x));
}

static double gradient(double dy, double y, const double *coef) {
    (void)coef;
    return dy * y * (1 - y);
}

static const struct pdnn_pointwise sigmoid = {
    .value = value, .gradient = gradient, .non_negative = true, .forward_flop = 4, .backward_flop = 3};

const struct pdnn_op_def pdnn_op_sigmoid = {
    PDNN_ACTIVATION(.type = "Sigmoid"),
    .name = "sigmoid",
    .formula = "y = 1 / (1 + exp(-x))",
    .pointwise = &sigmoid,
};
