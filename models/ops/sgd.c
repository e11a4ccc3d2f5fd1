/* sgd: w -= lr*g. Inputs w, g; output w.
 * FLOP per parameter: multiply, subtract. */
#include "models/attributes.h"
#include "models/op.h"

enum { FLOP = 2 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_SGD_W)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_SGD_NEW_W);
    const double *g = pdnn_ref_in(r, PDNN_SGD_G);
    double lr = r->node->coef[PDNN_SGD_LR];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_SGD_W));
    for (int64_t i = 0; i < elements; i++) {
        w[i] -= lr * g[i];
        r->flop += 2;
    }
}

const struct pdnn_op_def pdnn_op_sgd = {
    .name = "sgd",
    .category = "optimizer",
    .formula = "w -= lr*g",
    .attributes = {{"lr", PDNN_SGD_LR, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
