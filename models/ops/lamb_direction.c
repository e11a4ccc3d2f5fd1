/* lamb_direction: stage 1 of LAMB (You et al., 2020), as in NVIDIA's apex. With c = max(norm of all gradients
 * / limit, 1): g = g/c; m = b1*m + (1-b1)*g; v = b2*v + (1-b2)*g^2; u = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) +
 * epsilon)
 * + decay*w. power holds (b1^t, b2^t), 1 before the first step. Inputs w, g, m, v, power, norm; outputs u, m,
 * v, power. u may take over g's memory. FLOP per parameter: 1 for g, 3 for m, 4 for v, 7 for u; and 8 for c,
 * the powers and the reciprocals of c, 1-b1^t and 1-b2^t. */
#include "models/op.h"

#include <math.h>

enum { W, G, M, V, POWER, NORM };
enum { U, NEW_M, NEW_V, NEW_POWER };
enum { BETA1, BETA2, EPSILON, DECAY, LIMIT };
enum { FLOP = 15, FLOP_ONCE = 9 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, W)), FLOP, 1);
    pdnn_count_add(count, FLOP_ONCE, 1, 1);
}

static void update(struct pdnn_reference *r) {
    const double *w = pdnn_ref_in(r, W), *g = pdnn_ref_in(r, G), *coef = r->node->coef;
    double *u = pdnn_ref_out(r, U), *m = pdnn_ref_out(r, NEW_M), *v = pdnn_ref_out(r, NEW_V);
    double *power = pdnn_ref_out(r, NEW_POWER);
    double b1 = coef[BETA1], b2 = coef[BETA2];
    power[0] *= b1;
    power[1] *= b2;
    double per_m = 1 / (1 - power[0]), per_v = 1 / (1 - power[1]);
    double excess = pdnn_ref_in(r, NORM)[0] / coef[LIMIT], per_g = 1 / (excess > 1 ? excess : 1);
    r->flop += FLOP_ONCE;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, W));
    for (int64_t i = 0; i < elements; i++) {
        double clipped = g[i] * per_g;
        r->flop += 1;
        m[i] = b1 * m[i] + (1 - b1) * clipped;
        r->flop += 3;
        v[i] = b2 * v[i] + (1 - b2) * clipped * clipped;
        r->flop += 4;
        u[i] = m[i] * per_m / (sqrt(v[i] * per_v) + coef[EPSILON]) + coef[DECAY] * w[i];
        r->flop += 7;
    }
}

const struct pdnn_op_def pdnn_op_lamb_direction = {
    .name = "lamb_direction",
    .category = "optimizer stage 1",
    .formula = "m, v as adam of g clipped; u = m_hat/(sqrt(v_hat)+epsilon) + decay*w",
    .coef_names = (const char *const[]){"beta1", "beta2", "epsilon", "decay", "limit", NULL},
    .n_outputs = 4,
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update, .in_place = 1 + G}},
    .tolerance = 1e-6,
};
