#include "models/ops/pointwise.h"

#include "models/attributes.h"
#include "models/transform/backward.h"

#include <string.h>

enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    for (int k = 1; k < node->n_inputs; k++) {
        const struct pdnn_tensor *other = pdnn_node_in(graph, node, k);
        if (other->rank != x->rank || memcmp(other->dim, x->dim, (size_t)x->rank * sizeof *x->dim) != 0)
            return pdnn_fail(err, PDNN_INVALID, "%s: the inputs have different shapes", node->op->name);
    }
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    return PDNN_OK;
}

void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), flop_per_element, 1);
}

void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b),
                              uint64_t flop_per_element) {
    const double *a = pdnn_ref_in(r, 0);
    const double *b = r->node->n_inputs > 1 ? pdnn_ref_in(r, 1) : a;
    double *y = pdnn_ref_out(r, 0);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++) {
        y[i] = function(a[i], b[i]);
        r->flop += flop_per_element;
    }
}

void pdnn_activation_gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_ACTIVATION_X], y = node->output[PDNN_ACTIVATION_Y],
             dy = pdnn_backward_of(backward, y);
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x,
                           (uint32_t[]){[PDNN_ACTIVATION_BACK_DY] = dy,
                                        [PDNN_ACTIVATION_BACK_SAVED] = node->op->pointwise->saves_x ? x : y,
                                        PDNN_NONE});
}

static int flop_of(const struct pdnn_node *node) {
    const struct pdnn_pointwise *pointwise = node->op->pointwise;
    return node->pass == PDNN_FORWARD ? pointwise->forward_flop : pointwise->backward_flop;
}

void pdnn_activation_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, flop_of(node), count);
}

void pdnn_activation_forward(struct pdnn_reference *r) {
    const struct pdnn_pointwise *pointwise = r->node->op->pointwise;
    const double *x = pdnn_ref_in(r, PDNN_ACTIVATION_X);
    double *y = pdnn_ref_out(r, PDNN_ACTIVATION_Y);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_ACTIVATION_X));
    for (int64_t i = 0; i < elements; i++) {
        y[i] = pointwise->value(x[i], r->node->coef);
        r->flop += (uint64_t)pointwise->forward_flop;
    }
}

void pdnn_activation_backward(struct pdnn_reference *r) {
    const struct pdnn_pointwise *pointwise = r->node->op->pointwise;
    const double *dy = pdnn_ref_in(r, PDNN_ACTIVATION_BACK_DY),
                 *saved = pdnn_ref_in(r, PDNN_ACTIVATION_BACK_SAVED);
    double *dx = pdnn_ref_out(r, PDNN_ACTIVATION_BACK_DX);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_ACTIVATION_BACK_DY));
    for (int64_t i = 0; i < elements; i++) {
        dx[i] = pointwise->gradient(dy[i], saved[i], r->node->coef);
        r->flop += (uint64_t)pointwise->backward_flop;
    }
}
