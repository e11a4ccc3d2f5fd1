/* hardsigmoid (Courbariaux, Bengio, David, 2015, with the slope of MobileNetV3, Howard et al., 2019):
 *   y = min(max(x / 6 + 1/2, 0), 1);  dx = dy / 6 where 0 < y < 1, else 0.
 * FLOP per element: multiply, add, two comparisons. Backward: two comparisons, multiply. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

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

/* ONNX has another slope by default. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t y = pdnn_export_op1(onnx, "HardSigmoid", pdnn_export_in(onnx, PDNN_ACTIVATION_X));
    pdnn_export_add_number(onnx, "alpha", 1.0 / 6);
    pdnn_export_add_number(onnx, "beta", 0.5);
    return y;
}

const struct pdnn_op_def pdnn_op_hardsigmoid = {
    PDNN_ACTIVATION(.write = nodes),
    .name = "hardsigmoid",
    .formula = "y = min(max(x / 6 + 1/2, 0), 1)",
    .pointwise = &hardsigmoid,
};
