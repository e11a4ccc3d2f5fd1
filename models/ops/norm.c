/* norm: y = sqrt(sum_i x_i^2 + z^2): the Euclidean norm of x or, with the optional z, of x together with the
 * tensors that gave z. Inputs x[, z (1)]; output y (1), f32.
 * FLOP: 2 per element and 1; with z 2 more. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_NORM_X)), 2, 1);
    pdnn_count_add(count, node->n_inputs > PDNN_NORM_BEFORE ? 3 : 1, 1, 1);
}

static void norm(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_NORM_X);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_NORM_X));
    double sum = 0;
    for (int64_t i = 0; i < elements; i++) {
        sum += x[i] * x[i];
        r->flop += 2;
    }
    if (r->node->n_inputs > PDNN_NORM_BEFORE) {
        sum += pdnn_ref_in(r, PDNN_NORM_BEFORE)[0] * pdnn_ref_in(r, PDNN_NORM_BEFORE)[0];
        r->flop += 2;
    }
    pdnn_ref_out(r, PDNN_NORM_Y)[0] = sqrt(sum);
    r->flop += 1;
}

const struct pdnn_op_def pdnn_op_norm = {
    .name = "norm",
    .category = "norm",
    .formula = "y = sqrt(sum x^2 + z^2), z the norm of what came before",
    .pass = {[PDNN_UPDATE] = {.flop = flop, .reference = norm}},
    .tolerance = 1e-6,
};
