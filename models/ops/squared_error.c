/* squared_error: with d = x - target, over E elements, loss = scale * mean of d^2; dx = 2 d / (E / scale).
 * FLOP per element: subtract, multiply, sum; backward: subtract, multiply. */
#include "models/attributes.h"
#include "models/ops/element_loss.h"

static double value(double x, double target) {
    return (x - target) * (x - target);
}

static double gradient(double x, double target) {
    return 2 * (x - target);
}

static const struct pdnn_element_loss squared = {
    .value = value, .gradient = gradient, .forward_flop = 3, .backward_flop = 2};

const struct pdnn_op_def pdnn_op_squared_error = {
    PDNN_ELEMENT_LOSS,
    .name = "squared_error",
    .formula = "loss = mean((x - target)^2)",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"target", PDNN_OPERAND_DATA}},
    .element_loss = &squared,
};
