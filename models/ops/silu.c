/* silu (Elfwing, Uchibe, Doya, 2018; swish of Ramachandran, Zoph, Le, 2017):
 *   y = x s with s = sigmoid(x) = 1 / (1 + exp(-x));  dx = dy s (1 + x (1 - s)).
 * FLOP per element: negate, exp, add, divide, multiply. Backward: the four of the sigmoid, subtract,
 * multiply, add, and multiply by s and dy. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

#include <math.h>

enum { SIGMOID_FLOP = 4 };

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double value(double x, const double *coef) {
    (void)coef;
    return x * sigmoid(x);
}

static double gradient(double dy, double x, const double *coef) {
    (void)coef;
    double s = sigmoid(x);
    return dy * s * (1 + x * (1 - s));
}

static const struct pdnn_pointwise silu = {
    .value = value,
    .gradient = gradient,
    .saves_x = true,
    .forward_flop = SIGMOID_FLOP + 1,
    .backward_flop = SIGMOID_FLOP + 5,
};

static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t x = pdnn_export_in(onnx, PDNN_ACTIVATION_X);
    return pdnn_export_op2(onnx, "Mul", x, pdnn_export_op1(onnx, "Sigmoid", x));
}

const struct pdnn_op_def pdnn_op_silu = {
    PDNN_ACTIVATION(.write = nodes),
    .name = "silu",
    .formula = "y = x / (1 + exp(-x))",
    .pointwise = &silu,
};
