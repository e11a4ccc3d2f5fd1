/* rmsprop (TensorFlow's, with momentum): ms += (1-decay)*(g^2 - ms); mom = mu*mom + lr*g/sqrt(ms + epsilon);
 * w -= mom. Inputs w, g, ms, mom; outputs w, ms, mom. FLOP per parameter: multiply, subtract, multiply, add;
 * multiply, multiply, add, sqrt, divide, add; subtract. */
#include "models/op.h"

#include <math.h>

enum { FLOP = 11 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, 0), *ms = pdnn_ref_out(r, 1), *mom = pdnn_ref_out(r, 2);
    const double *g = pdnn_ref_in(r, 1), *coef = r->node->coef;
    double lr = coef[0], rest = 1 - coef[1], mu = coef[2], epsilon = coef[3];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
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
    .coef_names = (const char *const[]){"lr", "decay", "mu", "epsilon", NULL},
    .n_outputs = 3,
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
