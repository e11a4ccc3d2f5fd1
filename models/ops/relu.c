/* relu: y = max(x, 0); dx = dy where y > 0, else 0.
 * FLOP: one comparison per element in both passes. */
#include "models/ops/pointwise.h"

static double value(double x, const double *coef) {
    (void)coef;
    return x > 0 ? x : 0;
}

static double gradient(double dy, double y, const double *coef) {
    (void)coef;
    return y > 0 ? dy : 0;
}

static const struct pdnn_pointwise relu = {
    .value = value, .gradient = gradient, .non_negative = true, .forward_flop = 1, .backward_flop = 1};

const struct pdnn_op_def pdnn_op_relu = {
    PDNN_ACTIVATION(.type = "Relu"),
    .name = "relu",
    .formula = "y = max(x, 0)",
    .pointwise = &relu,
};
