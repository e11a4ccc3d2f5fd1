/* adam_apply: the last part of Adam as an op of its own, after op moment has computed m and v:
 *   w = (1 - lr*decay)*w - lr_t*m/(sqrt(v) + epsilon) with lr_t = lr*sqrt(1-b2^t)/(1-b1^t), as in adam.
 * power holds (b1^t, b2^t), 1 before the first step. Inputs w, m, v, power; outputs w, power.
 * FLOP per parameter: 5, and 1 for the decay if there is one; plus 7 for lr_t. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>

enum { FLOP = 5, FLOP_ONCE = 7 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    int64_t decays = node->coef[PDNN_ADAM_DECAY] != 0;
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_ADAM_APPLY_W)), FLOP + decays,
                   1);
    pdnn_count_add(count, FLOP_ONCE, 1, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_ADAM_APPLY_NEW_W), *power = pdnn_ref_out(r, PDNN_ADAM_APPLY_NEW_POWER);
    const double *m = pdnn_ref_in(r, PDNN_ADAM_APPLY_M), *v = pdnn_ref_in(r, PDNN_ADAM_APPLY_V),
                 *coef = r->node->coef;
    double lr = coef[PDNN_ADAM_LR], rest = 1 - lr * coef[PDNN_ADAM_DECAY];
    power[0] *= coef[PDNN_ADAM_BETA1];
    power[1] *= coef[PDNN_ADAM_BETA2];
    double lr_t = lr * sqrt(1 - power[1]) / (1 - power[0]);
    r->flop += FLOP_ONCE;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_ADAM_APPLY_W));
    for (int64_t i = 0; i < elements; i++) {
        w[i] = rest * w[i] - lr_t * m[i] / (sqrt(v[i]) + coef[PDNN_ADAM_EPSILON]);
        r->flop += coef[PDNN_ADAM_DECAY] != 0 ? 6 : 5;
    }
}

const struct pdnn_op_def pdnn_op_adam_apply = {
    .name = "adam_apply",
    .category = "optimizer",
    .formula = "w = (1-lr*decay)*w - lr_t*m/(sqrt(v)+epsilon)",
    .attributes = {{"lr", PDNN_ADAM_LR, .coefficient = true},
                   {"beta1", PDNN_ADAM_BETA1, .coefficient = true},
                   {"beta2", PDNN_ADAM_BETA2, .coefficient = true},
                   {"epsilon", PDNN_ADAM_EPSILON, .coefficient = true},
                   {"decay", PDNN_ADAM_DECAY, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
