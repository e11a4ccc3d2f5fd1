/* adam (Kingma and Ba, 2015, in the reordered form of section 2):
 *   m = b1*m + (1-b1)*g;  v = b2*v + (1-b2)*g^2;
 *   w -= lr_t*m/(sqrt(v) + epsilon) with lr_t = lr*sqrt(1-b2^t)/(1-b1^t).
 * With a decay (AdamW: Loshchilov and Hutter, 2019), w is first multiplied by the constant 1 - lr*decay.
 * power holds (b1^t, b2^t), 1 before the first step. Inputs w, g, m, v, power; outputs w, m, v, power.
 * FLOP per parameter: 3 for m, 4 for v, 5 for w, 1 for the decay if there is one; plus 7 for lr_t. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>

enum { FLOP = 12, FLOP_ONCE = 7 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    int64_t decays = node->coef[PDNN_ADAM_DECAY] != 0;
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_ADAM_W)), FLOP + decays, 1);
    pdnn_count_add(count, FLOP_ONCE, 1, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_ADAM_NEW_W), *m = pdnn_ref_out(r, PDNN_ADAM_NEW_M);
    double *v = pdnn_ref_out(r, PDNN_ADAM_NEW_V), *power = pdnn_ref_out(r, PDNN_ADAM_NEW_POWER);
    const double *g = pdnn_ref_in(r, PDNN_ADAM_G), *coef = r->node->coef;
    double lr = coef[PDNN_ADAM_LR], b1 = coef[PDNN_ADAM_BETA1], b2 = coef[PDNN_ADAM_BETA2],
           rest = 1 - lr * coef[PDNN_ADAM_DECAY];
    power[0] *= b1;
    power[1] *= b2;
    double lr_t = lr * sqrt(1 - power[1]) / (1 - power[0]);
    r->flop += 7;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_ADAM_W));
    for (int64_t i = 0; i < elements; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        r->flop += 3;
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        r->flop += 4;
        w[i] = rest * w[i] - lr_t * m[i] / (sqrt(v[i]) + coef[PDNN_ADAM_EPSILON]);
        r->flop += coef[PDNN_ADAM_DECAY] != 0 ? 6 : 5;
    }
}

const struct pdnn_op_def pdnn_op_adam = {
    .name = "adam",
    .category = "optimizer",
    .formula = "m = b1*m + (1-b1)*g; v = b2*v + (1-b2)*g^2; w = (1-lr*decay)*w - lr_t*m/(sqrt(v)+epsilon)",
    .attributes = {{"lr", PDNN_ADAM_LR, .coefficient = true},
                   {"beta1", PDNN_ADAM_BETA1, .coefficient = true},
                   {"beta2", PDNN_ADAM_BETA2, .coefficient = true},
                   {"epsilon", PDNN_ADAM_EPSILON, .coefficient = true},
                   {"decay", PDNN_ADAM_DECAY, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
