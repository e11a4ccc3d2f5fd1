/* momentum: v = mu*v + g; w -= lr*v. Inputs w, g, v; outputs w, v.
 * FLOP per parameter: multiply, add; multiply, subtract. */
#include "models/op.h"

enum { FLOP = 4 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, 0), *v = pdnn_ref_out(r, 1);
    const double *g = pdnn_ref_in(r, 1);
    double lr = r->node->coef[0], mu = r->node->coef[1];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
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
    .coef_names = (const char *const[]){"lr", "mu", NULL},
    .n_outputs = 2,
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
