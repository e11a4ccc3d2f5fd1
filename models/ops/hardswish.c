/* hardswish (MobileNetV3, Howard et al., 2019), with h = min(max(x / 6 + 1/2, 0), 1):
 *   y = x h;  dx = dy (h + x / 6) where 0 < h < 1, else dy h.
 * FLOP per element: multiply, add and two comparisons for h; multiply by x. Backward: the same four for h;
 * add x / 6, multiply by dy. */
#include "models/ops/pointwise.h"

enum { GATE_FLOP = 4 };

static double gate(double x) {
    double line = x / 6 + 0.5, raised = line > 0 ? line : 0;
    return raised < 1 ? raised : 1;
}

static double value(double x, const double *coef) {
    (void)coef;
    return x * gate(x);
}

static double gradient(double dy, double x, const double *coef) {
    (void)coef;
    double h = gate(x);
    return dy * (h > 0 && h < 1 ? h + x / 6 : h);
}

static const struct pdnn_pointwise hardswish = {
    .value = value,
    .gradient = gradient,
    .saves_x = true,
    .forward_flop = GATE_FLOP + 1,
    .backward_flop = GATE_FLOP + 2,
};

const struct pdnn_op_def pdnn_op_hardswish = {
    PDNN_ACTIVATION(.type = "HardSwish"),
    .name = "hardswish",
    .formula = "y = x min(max(x / 6 + 1/2, 0), 1)",
    .pointwise = &hardswish,
};
