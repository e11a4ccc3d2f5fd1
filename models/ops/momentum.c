/* momentum: v = mu*v + g; w -= lr*v. Inputs w, g, v; outputs w, v.
 * FLOP per parameter: multiply, add; multiply, subtract. */
#include "models/attributes.h"
#include "models/op.h"

enum { FLOP = 4 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_MOMENTUM_W)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_MOMENTUM_NEW_W), *v = pdnn_ref_out(r, PDNN_MOMENTUM_NEW_V);
    const double *g = pdnn_ref_in(r, PDNN_MOMENTUM_G);
    double lr = r->node->coef[PDNN_MOMENTUM_LR], mu = r->node->coef[PDNN_MOMENTUM_MU];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_MOMENTUM_W));
    for (int64_t i = 0; i < elements; i++) {
        v[i] = mu * v[i] + g[i];
        w[i] -= lr * v[i];
        r->flop += 4;
    }
}

const struct pdnn_op_def pdnn_op_momentum = {
    .name = "momentum",
    .category = "optimizer",
    .formula = "v = mu*v + g; w -= lr*v",
    .attributes = {{"lr", PDNN_MOMENTUM_LR, .coefficient = true},
                   {"mu", PDNN_MOMENTUM_MU, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
