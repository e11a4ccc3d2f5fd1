/* gelu (Hendrycks and Gimpel, 2016), with the normal distribution P(x) = (1 + erf(x / sqrt(2))) / 2 and its
 * density p(x) = exp(-x^2 / 2) / sqrt(2 pi):
 *   y = x P(x);  dx = dy (P(x) + x p(x)).
 * FLOP per element: multiply, erf, add, multiply for P; multiply by x. Backward: the same four for P;
 * multiply, multiply, exp and multiply for p; by x, add, by dy. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

#include <math.h>

enum { DISTRIBUTION_FLOP = 4, DENSITY_FLOP = 4 };

static double distribution(double x) {
    const double sqrt_half = 0.70710678118654752;
    return 0.5 * (1 + erf(sqrt_half * x));
}

static double density(double x) {
    const double at_0 = 0.39894228040143268;
    return at_0 * exp(-0.5 * (x * x));
}

static double value(double x, const double *coef) {
    (void)coef;
    return x * distribution(x);
}

static double gradient(double dy, double x, const double *coef) {
    (void)coef;
    return dy * (distribution(x) + x * density(x));
}

static const struct pdnn_pointwise gelu = {
    .value = value,
    .gradient = gradient,
    .saves_x = true,
    .forward_flop = DISTRIBUTION_FLOP + 1,
    .backward_flop = DISTRIBUTION_FLOP + DENSITY_FLOP + 3,
};

/* As PyTorch writes it, in pieces that runtimes know. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t x = pdnn_export_in(onnx, PDNN_ACTIVATION_X);
    uint32_t y = pdnn_export_op2(onnx, "Div", x, pdnn_export_number(onnx, sqrt(2)));
    y = pdnn_export_op2(onnx, "Add", pdnn_export_op1(onnx, "Erf", y), pdnn_export_number(onnx, 1));
    return pdnn_export_op2(onnx, "Mul", pdnn_export_op2(onnx, "Mul", x, y), pdnn_export_number(onnx, 0.5));
}

const struct pdnn_op_def pdnn_op_gelu = {
    PDNN_ACTIVATION(.write = nodes),
    .name = "gelu",
    .formula = "y = x (1 + erf(x / sqrt(2))) / 2",
    .pointwise = &gelu,
};
