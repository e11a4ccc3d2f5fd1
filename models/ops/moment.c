/* moment: the first part of Adam as an op of its own: m = b*m + (1-b)*g, or with g^2 in place of
 * g. Inputs m, g; output m.
 * FLOP per parameter: 3, and 1 for the square. */
#include "models/attributes.h"
#include "models/op.h"

enum { FLOP = 3 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_MOMENT_M)),
                   FLOP + node->attr[PDNN_MOMENT_SQUARE], 1);
}

static void update(struct pdnn_reference *r) {
    double *m = pdnn_ref_out(r, PDNN_MOMENT_NEW_M);
    const double *g = pdnn_ref_in(r, PDNN_MOMENT_G);
    double b = r->node->coef[PDNN_MOMENT_BETA];
    bool squares = r->node->attr[PDNN_MOMENT_SQUARE];
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_MOMENT_M));
    for (int64_t i = 0; i < elements; i++) {
        m[i] = squares ? b * m[i] + (1 - b) * g[i] * g[i] : b * m[i] + (1 - b) * g[i];
        r->flop += squares ? 4 : 3;
    }
}

const struct pdnn_op_def pdnn_op_moment = {
    .name = "moment",
    .category = "optimizer",
    .formula = "m = b*m + (1-b)*g, or g^2",
    .attributes = {{"square", PDNN_MOMENT_SQUARE}, {"beta", PDNN_MOMENT_BETA, .coefficient = true}},
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = update}},
    .tolerance = 1e-6,
};
