/* lamb_apply: stage 2 of LAMB (You et al., 2020): w -= lr * |w|/|u| * u, where the ratio is 1 if either norm
 * is 0. Inputs w, u, |w| (1), |u| (1); output w.
 * FLOP per parameter: multiply, subtract; plus 2 for the factor. */
#include "models/attributes.h"
#include "models/op.h"

enum { FLOP = 2, FLOP_ONCE = 2 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_LAMB_APPLY_W)), FLOP, 1);
    pdnn_count_add(count, FLOP_ONCE, 1, 1);
}

static void update(struct pdnn_reference *r) {
    double *w = pdnn_ref_out(r, PDNN_LAMB_APPLY_NEW_W);
    const double *u = pdnn_ref_in(r, PDNN_LAMB_APPLY_U);
    double w_norm = pdnn_ref_in(r, PDNN_LAMB_APPLY_W_NORM)[0],
           u_norm = pdnn_ref_in(r, PDNN_LAMB_APPLY_U_NORM)[0];
    double lr = r->node->coef[PDNN_LAMB_APPLY_LR] * (w_norm > 0 && u_norm > 0 ? w_norm / u_norm : 1);
    r->flop += FLOP_ONCE;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_LAMB_APPLY_W));
    for (int64_t i = 0; i < elements; i++) {
        w[i] -= lr * u[i];
        r->flop += FLOP;
    }
}

const struct pdnn_op_def pdnn_op_lamb_apply = {
    .name = "lamb_apply",
    .category = "optimizer stage 2",
    .formula = "w -= lr*|w|/|u|*u",
    .attributes = {{"lr", PDNN_LAMB_APPLY_LR, .coefficient = true}},
    .coef = {[PDNN_LAMB_APPLY_LR] = 0.001},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
