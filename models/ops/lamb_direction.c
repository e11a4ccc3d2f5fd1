/* lamb_direction: stage 1 of LAMB (You et al., 2020), as in NVIDIA's apex. With c = max(norm of
 * all gradients / limit, 1):
 *   g = g/c;  m = b1*m + (1-b1)*g;  v = b2*v + (1-b2)*g^2;
 *   u = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + epsilon) + decay*w.
 * power holds (b1^t, b2^t), 1 before the first step. Inputs w, g, m, v, power, norm; outputs u, m, v,
 * power. u may overwrite g.
 * FLOP per parameter: 1 for g, 3 for m, 4 for v, 7 for u; plus 8 for c, the powers and the reciprocals of
 * c, 1-b1^t and 1-b2^t. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>

enum { FLOP = 15, FLOP_ONCE = 9 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_LAMB_DIRECTION_W)), FLOP, 1);
    pdnn_count_add(count, FLOP_ONCE, 1, 1);
}

static void update(struct pdnn_reference *r) {
    const double *w = pdnn_ref_in(r, PDNN_LAMB_DIRECTION_W), *g = pdnn_ref_in(r, PDNN_LAMB_DIRECTION_G),
                 *coef = r->node->coef;
    double *u = pdnn_ref_out(r, PDNN_LAMB_DIRECTION_U), *m = pdnn_ref_out(r, PDNN_LAMB_DIRECTION_NEW_M),
           *v = pdnn_ref_out(r, PDNN_LAMB_DIRECTION_NEW_V);
    double *power = pdnn_ref_out(r, PDNN_LAMB_DIRECTION_NEW_POWER);
    double b1 = coef[PDNN_LAMB_DIRECTION_BETA1], b2 = coef[PDNN_LAMB_DIRECTION_BETA2];
    power[0] *= b1;
    power[1] *= b2;
    double per_m = 1 / (1 - power[0]), per_v = 1 / (1 - power[1]);
    double excess = pdnn_ref_in(r, PDNN_LAMB_DIRECTION_NORM)[0] / coef[PDNN_LAMB_DIRECTION_LIMIT],
           per_g = 1 / (excess > 1 ? excess : 1);
    r->flop += FLOP_ONCE;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_LAMB_DIRECTION_W));
    for (int64_t i = 0; i < elements; i++) {
        double clipped = g[i] * per_g;
        r->flop += 1;
        m[i] = b1 * m[i] + (1 - b1) * clipped;
        r->flop += 3;
        v[i] = b2 * v[i] + (1 - b2) * clipped * clipped;
        r->flop += 4;
        u[i] = m[i] * per_m / (sqrt(v[i] * per_v) + coef[PDNN_LAMB_DIRECTION_EPSILON]) +
               coef[PDNN_LAMB_DIRECTION_DECAY] * w[i];
        r->flop += 7;
    }
}

const struct pdnn_op_def pdnn_op_lamb_direction = {
    .name = "lamb_direction",
    .category = "optimizer stage 1",
    .formula = "m, v as adam of g clipped; u = m_hat/(sqrt(v_hat)+epsilon) + decay*w",
    .attributes = {{"beta1", PDNN_LAMB_DIRECTION_BETA1, .coefficient = true},
                   {"beta2", PDNN_LAMB_DIRECTION_BETA2, .coefficient = true},
                   {"epsilon", PDNN_LAMB_DIRECTION_EPSILON, .coefficient = true},
                   {"decay", PDNN_LAMB_DIRECTION_DECAY, .coefficient = true},
                   {"limit", PDNN_LAMB_DIRECTION_LIMIT, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update, .in_place = 1 + PDNN_LAMB_DIRECTION_G}},
    .tolerance = 1e-6,
};
