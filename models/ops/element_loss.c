#include "models/ops/element_loss.h"

#include "models/attributes.h"
#include "models/transform/backward.h"

enum pdnn_status pdnn_element_loss_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         struct pdnn_tensor *outputs, struct pdnn_err *err) {
    if (node->n_inputs != PDNN_ELEMENT_LOSS_INPUTS)
        return pdnn_fail(err, PDNN_INVALID, "%s: expected x and what it is compared with", node->op->name);
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_ELEMENT_LOSS_X),
                             *target = pdnn_node_in(graph, node, PDNN_ELEMENT_LOSS_TARGET);
    if (node->op->element_loss->has_labels
            ? target->dtype != PDNN_S32 || pdnn_tensor_elements(target) != pdnn_tensor_elements(x)
            : target->dtype != x->dtype || !pdnn_tensor_same_shape(target, x))
        return pdnn_fail(err, PDNN_INVALID, "%s: expected %s for each value of x", node->op->name,
                         node->op->element_loss->has_labels ? "an s32 label" : "a value");
    if (node->op->element_loss->has_labels && x->rank > 2) /* an image's labels have no layout of channels */
        return pdnn_fail(err, PDNN_INVALID, "%s: expected rows, not images", node->op->name);
    outputs[PDNN_ELEMENT_LOSS_LOSS].dtype = PDNN_F32;
    outputs[PDNN_ELEMENT_LOSS_LOSS].rank = 1;
    outputs[PDNN_ELEMENT_LOSS_LOSS].dim[0] = 1;
    return PDNN_OK;
}

void pdnn_element_loss_gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_ELEMENT_LOSS_X], target = node->input[PDNN_ELEMENT_LOSS_TARGET];
    if (pdnn_backward_wants(backward, target))
        pdnn_backward_refuse(backward, "a loss has no gradient of what it compares with");
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x, (uint32_t[]){x, target, PDNN_NONE});
}

static int64_t elements_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_ELEMENT_LOSS_X));
}

void pdnn_element_loss_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                            struct pdnn_count *count) {
    const struct pdnn_element_loss *loss = node->op->element_loss;
    bool is_forward = node->pass == PDNN_FORWARD;
    pdnn_count_add(count, elements_of(graph, node), is_forward ? loss->forward_flop : loss->backward_flop, 1);
    if (is_forward)
        pdnn_count_add(count, 1, 1, 1);
}

void pdnn_element_loss_forward(struct pdnn_reference *r) {
    const struct pdnn_element_loss *loss = r->node->op->element_loss;
    const double *x = pdnn_ref_in(r, PDNN_ELEMENT_LOSS_X), *target = pdnn_ref_in(r, PDNN_ELEMENT_LOSS_TARGET);
    int64_t elements = elements_of(r->graph, r->node);
    double sum = 0;
    for (int64_t i = 0; i < elements; i++) {
        sum += loss->value(x[i], target[i]);
        r->flop += (uint64_t)loss->forward_flop;
    }
    *pdnn_ref_out(r, PDNN_ELEMENT_LOSS_LOSS) = sum / ((double)elements / r->node->coef[PDNN_LOSS_SCALE]);
    r->flop += 1;
}

/* The factor of the mean is a constant of the shapes, so not counted as FLOP. */
void pdnn_element_loss_backward(struct pdnn_reference *r) {
    const struct pdnn_element_loss *loss = r->node->op->element_loss;
    const double *x = pdnn_ref_in(r, PDNN_ELEMENT_LOSS_X), *target = pdnn_ref_in(r, PDNN_ELEMENT_LOSS_TARGET);
    double *dx = pdnn_ref_out(r, PDNN_ELEMENT_LOSS_BACK_DX);
    int64_t elements = elements_of(r->graph, r->node);
    double factor = r->node->coef[PDNN_LOSS_SCALE] / (double)elements;
    for (int64_t i = 0; i < elements; i++) {
        dx[i] = factor * loss->gradient(x[i], target[i]);
        r->flop += (uint64_t)loss->backward_flop;
    }
}
