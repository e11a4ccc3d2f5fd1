#include "models/ops/pointwise.h"

#include "models/attributes.h"
#include "models/transform/backward.h"

#include <assert.h>
#include <string.h>

enum pdnn_status pdnn_pointwise_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    struct pdnn_broadcast broadcast;
    for (int k = 1; k < node->n_inputs; k++) {
        if (!pdnn_broadcast_of(x, pdnn_node_in(graph, node, k), &broadcast))
            return pdnn_fail(err, PDNN_INVALID,
                             "%s: b is not like a, nor does it repeat over a's rows or pixels",
                             node->op->name);
    }
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    return PDNN_OK;
}

bool pdnn_pointwise_is_equal(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return pdnn_tensor_same_shape(pdnn_node_in(graph, node, 0), pdnn_node_in(graph, node, 1));
}

void pdnn_pointwise_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         int64_t flop_per_element, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), flop_per_element, 1);
}

void pdnn_pointwise_reference(struct pdnn_reference *r, double (*function)(double a, double b)) {
    const struct pdnn_tensor *a = pdnn_node_in(r->graph, r->node, 0);
    const double *from = pdnn_ref_in(r, 0), *other = pdnn_ref_in(r, 1);
    double *y = pdnn_ref_out(r, 0);
    struct pdnn_broadcast broadcast = {0};
    bool fits = pdnn_broadcast_of(a, pdnn_node_in(r->graph, r->node, 1), &broadcast);
    assert(fits);
    (void)fits;
    for (int64_t i = 0; i < pdnn_tensor_elements(a); i++) {
        y[i] = function(from[i], other[pdnn_broadcast_at(&broadcast, i)]);
        r->flop += 1;
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
