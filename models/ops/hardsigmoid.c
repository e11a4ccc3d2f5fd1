/* hardsigmoid (Courbariaux, Bengio, David, 2015, with the slope of MobileNetV3, Howard et al., 2019):
 *   y = min(max(x / 6 + 1/2, 0), 1);  dx = dy / 6 where 0 < y < 1, else 0.
 * FLOP per element: multiply, add, two comparisons. Backward: two comparisons, multiply. */
#include "models/ops/pointwise.h"

static double value(double x, const double *coef) {
    (void)coef;
    double line = x / 6 + 0.5, raised = line > 0 ? line : 0;
    return raised < 1 ? raised : 1;
}

static double gradient(double dy, double y, const double *coef) {
    (void)coef;
    return y > 0 && y < 1 ? dy / 6 : 0;
}

static const struct pdnn_pointwise hardsigmoid = {
    .value = value, .gradient = gradient, .non_negative = true, .forward_flop = 4, .backward_flop = 3};

const struct pdnn_op_def pdnn_op_hardsigmoid = {
    PDNN_ACTIVATION,
    .name = "hardsigmoid",
    .formula = "y = min(max(x / 6 + 1/2, 0), 1)",
    .pointwise = &hardsigmoid,
};
