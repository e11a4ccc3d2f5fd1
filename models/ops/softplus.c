/* softplus (Dugas et al., 2001): y = log(1 + exp(x)); dx = dy / (1 + exp(-x)).
 * FLOP per element: exp, add, log. Backward: negate, exp, add, divide for the sigmoid; multiply. */
#include "models/ops/pointwise.h"

#include <math.h>

/* For large x, exp(x) would overflow. */
static double value(double x, const double *coef) {
    (void)coef;
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double gradient(double dy, double x, const double *coef) {
    (void)coef;
    return dy * (1 / (1 + exp(-x)));
}

static const struct pdnn_pointwise softplus = {
    .value = value,
    .gradient = gradient,
    .saves_x = true,
    .non_negative = true,
    .forward_flop = 3,
    .backward_flop = 5,
};

const struct pdnn_op_def pdnn_op_softplus = {
    PDNN_ACTIVATION(.type = "Softplus"),
    .name = "softplus",
    .formula = "y = log(1 + exp(x))",
    .pointwise = &softplus,
};
