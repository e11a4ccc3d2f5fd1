/* logistic_loss, of the logits x of labels that are 0 or 1 (1: any above 0), over E elements:
 *   loss = scale * mean of (log(1 + exp(x)) - label x);  dx = (sigmoid(x) - label) / (E / scale).
 * FLOP per element: exp, add and log; multiply, subtract, sum. Backward, of exp(x) for label 0 and exp(-x)
 * for label 1: negate, exp, add, and a division of the factor, which has the label's sign. */
#include "models/attributes.h"
#include "models/ops/element_loss.h"

#include <math.h>

static double value(double x, double label) {
    return fmax(x, 0) + log1p(exp(-fabs(x))) - (label > 0 ? x : 0);
}

static double gradient(double x, double label) {
    return label > 0 ? -1 / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static const struct pdnn_element_loss logistic = {
    .value = value, .gradient = gradient, .has_labels = true, .forward_flop = 6, .backward_flop = 4};

const struct pdnn_op_def pdnn_op_logistic_loss = {
    PDNN_ELEMENT_LOSS,
    .name = "logistic_loss",
    .formula = "loss = mean(log(1 + exp(x)) - label x)",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"label", PDNN_OPERAND_LABEL}},
    .element_loss = &logistic,
};
