/* sgd: w -= lr*g. Inputs w, g; output w.
 * FLOP per parameter: multiply, subtract. */
#include "models/op.h"

enum { FLOP = 2 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), FLOP, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, 0);
    const double *g = pdnn_ref_in(r, 1);
    double lr = r->node->coef[0];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++) {
        w[i] -= lr * g[i];
        r->flop += 2;
    }
}

const struct pdnn_op_def pdnn_op_sgd = {
    .name = "sgd",
    .category = "optimizer",
    .formula = "w -= lr*g",
    .coef_names = (const char *const[]){"lr", NULL},
    .n_outputs = 1,
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
