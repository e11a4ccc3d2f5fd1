/* gelu (Hendrycks and Gimpel, 2016), with the normal distribution P(x) = (1 + erf(x / sqrt(2))) / 2 and its
 * density p(x) = exp(-x^2 / 2) / sqrt(2 pi):
 *   y = x P(x);  dx = dy (P(x) + x p(x)).
 * FLOP per element: multiply, erf, add, multiply for P; multiply by x. Backward: the same four for P;
 * multiply, multiply, exp and multiply for p; by x, add, by dy. */
#include "models/ops/pointwise.h"

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

const struct pdnn_op_def pdnn_op_gelu = {
    PDNN_ACTIVATION,
    .name = "gelu",
    .formula = "y = x (1 + erf(x / sqrt(2))) / 2",
    .pointwise = &gelu,
};
