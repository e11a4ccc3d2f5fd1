/* smooth_l1 (Girshick, 2015): with d = x - target, over E elements,
 *   loss = scale * mean of (d^2 / 2 where |d| < 1, else |d| - 1/2);  dx = min(max(d, -1), 1) / (E / scale).
 * FLOP per element: subtract, compare, multiply twice, sum; backward: subtract, compare twice, multiply. */
#include "models/attributes.h"
#include "models/ops/element_loss.h"

#include <math.h>

static double value(double x, double target) {
    double far = fabs(x - target);
    return far < 1 ? far * far / 2 : far - 0.5;
}

static double gradient(double x, double target) {
    return fmin(fmax(x - target, -1), 1);
}

static const struct pdnn_element_loss smooth = {
    .value = value, .gradient = gradient, .forward_flop = 5, .backward_flop = 4};

const struct pdnn_op_def pdnn_op_smooth_l1 = {
    PDNN_ELEMENT_LOSS,
    .name = "smooth_l1",
    .formula = "loss = mean(d^2 / 2 where |d| < 1, else |d| - 1/2) with d = x - target",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"target", PDNN_OPERAND_DATA}},
    .element_loss = &smooth,
};
