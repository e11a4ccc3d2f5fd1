/* gelu_tanh (Hendrycks and Gimpel, 2016; GPT-2 uses it):
 *   y = x (1 + t) / 2 with t = tanh(u(x)), u(x) = c (x + a x^3), a = 0.044715, c = sqrt(2 / pi);
 *   dx = dy ((1 + t) / 2 + x (1 - t^2) u'(x) / 2) with u'(x) = c (1 + 3 a x^2).
 * FLOP per element: u as x (c + c a x^2) is multiply, multiply, add, multiply; then tanh, add, multiply, by
 * x. Backward: the same without the last; multiply, subtract, multiply, multiply for x (1 - t^2) / 2;
 * multiply and add for u'; by u', add, by dy. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

#include <math.h>

enum { FORWARD_FLOP = 8, BACKWARD_FLOP = 16 };

static const double a = 0.044715, c = 0.79788456080286536;

static double value(double x, const double *coef) {
    (void)coef;
    double u = x * (c + c * a * (x * x));
    return 0.5 * (1 + tanh(u)) * x;
}

static double gradient(double dy, double x, const double *coef) {
    (void)coef;
    double square = x * x, t = tanh(x * (c + c * a * square));
    double du = c + 3 * c * a * square;
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * du);
}

static const struct pdnn_pointwise gelu_tanh = {
    .value = value,
    .gradient = gradient,
    .saves_x = true,
    .forward_flop = FORWARD_FLOP,
    .backward_flop = BACKWARD_FLOP,
};

/* As PyTorch writes it, in pieces that runtimes know. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t x = pdnn_export_in(onnx, PDNN_ACTIVATION_X);
    uint32_t y = pdnn_export_op2(onnx, "Pow", x, pdnn_export_number(onnx, 3));
    y = pdnn_export_op2(onnx, "Mul", y, pdnn_export_number(onnx, a));
    y = pdnn_export_op2(onnx, "Mul", pdnn_export_op2(onnx, "Add", x, y), pdnn_export_number(onnx, c));
    y = pdnn_export_op2(onnx, "Add", pdnn_export_op1(onnx, "Tanh", y), pdnn_export_number(onnx, 1));
    /* Half of x times the sum, as PyTorch writes it: ONNX Runtime fuses that into one operator. */
    return pdnn_export_op2(onnx, "Mul", pdnn_export_op2(onnx, "Mul", x, pdnn_export_number(onnx, 0.5)), y);
}

const struct pdnn_op_def pdnn_op_gelu_tanh = {
    PDNN_ACTIVATION(.write = nodes),
    .name = "gelu_tanh",
    .formula = "y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2",
    .pointwise = &gelu_tanh,
};
