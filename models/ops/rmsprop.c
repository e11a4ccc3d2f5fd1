/* rmsprop (TensorFlow's, with momentum):
 *   ms += (1-decay)*(g^2 - ms);  mom = mu*mom + lr*g/sqrt(ms + epsilon);  w -= mom.
 * Inputs w, g, ms, mom; outputs w, ms, mom.
 * FLOP per parameter: multiply, subtract, multiply, add; multiply, multiply, add, sqrt,
 * divide, add; subtract. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>

enum { FLOP = 11 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_RMSPROP_W)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_RMSPROP_NEW_W), *ms = pdnn_ref_out(r, PDNN_RMSPROP_NEW_MS);
    double *mom = pdnn_ref_out(r, PDNN_RMSPROP_NEW_MOM);
    const double *g = pdnn_ref_in(r, PDNN_RMSPROP_G), *coef = r->node->coef;
    double lr = coef[PDNN_RMSPROP_LR], rest = 1 - coef[PDNN_RMSPROP_DECAY];
    double mu = coef[PDNN_RMSPROP_MU], epsilon = coef[PDNN_RMSPROP_EPSILON];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_RMSPROP_W));
    for (int64_t i = 0; i < elements; i++) {
        ms[i] += rest * (g[i] * g[i] - ms[i]);
        r->flop += 4;
        mom[i] = mu * mom[i] + lr * g[i] / sqrt(ms[i] + epsilon);
        r->flop += 6;
        w[i] -= mom[i];
        r->flop += 1;
    }
}

const struct pdnn_op_def pdnn_op_rmsprop = {
    .name = "rmsprop",
    .category = "optimizer",
    .formula = "ms += (1-decay)*(g^2-ms); mom = mu*mom + lr*g/sqrt(ms+epsilon); w -= mom",
    .attributes = {{"lr", PDNN_RMSPROP_LR, .coefficient = true},
                   {"decay", PDNN_RMSPROP_DECAY, .coefficient = true},
                   {"mu", PDNN_RMSPROP_MU, .coefficient = true},
                   {"epsilon", PDNN_RMSPROP_EPSILON, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
