/* hardtanh: y = min(max(x, low), high), by default from 0 to 20 (the clipped ReLU of Deep Speech, Hannun et
 * al., 2014); dx = dy where low < y < high, else 0.
 * FLOP per element: two comparisons in both passes. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"
#include "models/onnx/nodes.h"

static double value(double x, const double *coef) {
    double raised = x > coef[PDNN_HARDTANH_LOW] ? x : coef[PDNN_HARDTANH_LOW];
    return raised < coef[PDNN_HARDTANH_HIGH] ? raised : coef[PDNN_HARDTANH_HIGH];
}

static double gradient(double dy, double y, const double *coef) {
    return y > coef[PDNN_HARDTANH_LOW] && y < coef[PDNN_HARDTANH_HIGH] ? dy : 0;
}

static const struct pdnn_pointwise hardtanh = {
    .value = value, .gradient = gradient, .non_negative = true, .forward_flop = 2, .backward_flop = 2};

static uint32_t nodes(struct pdnn_export *onnx) {
    const double *coef = onnx->at->coef;
    return pdnn_export_op(onnx, "Clip", 3,
                          (uint32_t[]){pdnn_export_in(onnx, PDNN_ACTIVATION_X),
                                       pdnn_export_number(onnx, coef[PDNN_HARDTANH_LOW]),
                                       pdnn_export_number(onnx, coef[PDNN_HARDTANH_HIGH])});
}

const struct pdnn_op_def pdnn_op_hardtanh = {
    PDNN_ACTIVATION(.write = nodes),
    .name = "hardtanh",
    .formula = "y = min(max(x, low), high)",
    .attributes = {{"low", PDNN_HARDTANH_LOW, .coefficient = true},
                   {"high", PDNN_HARDTANH_HIGH, .coefficient = true}},
    .coef = {0, 20},
    .pointwise = &hardtanh,
};
