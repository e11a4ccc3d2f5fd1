/* dropout (Srivastava et al., 2014), training only: y = x * mask, dx = dy * mask. The mask is 0 with
 * probability p = percent/100 and 1/(1 - p) otherwise, so inference needs no node. The mask is not stored: it
 * is a function of node, step and element, and backward recomputes it. A state of one value counts the steps.
 * Forward increments it first, unless the counter is not among its outputs. The node is identified by the
 * counter's tensor. Element i is kept if
 *   pdnn_rng_16_at(pdnn_rng_at(counter's tensor, counter), i) >= percent * 65536 / 100.
 * FLOP: one multiplication per element in both passes, one addition for the counter. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/dropout_mask.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_DROPOUT_X);
    int64_t percent = node->attr[PDNN_DROPOUT_PERCENT];
    if (node->n_inputs != 2 || !pdnn_is_dropout_counter(pdnn_node_in(graph, node, PDNN_DROPOUT_COUNTER)) ||
        percent < 0 || percent > PDNN_DROPOUT_PERCENT_MAX)
        return pdnn_fail(err, PDNN_INVALID, "dropout: expected a counter (1) and 0 to %d percent",
                         PDNN_DROPOUT_PERCENT_MAX);
    outputs[PDNN_DROPOUT_Y].rank = x->rank;
    memcpy(outputs[PDNN_DROPOUT_Y].dim, x->dim, sizeof x->dim);
    outputs[PDNN_DROPOUT_NEW_COUNTER].rank = 1;
    outputs[PDNN_DROPOUT_NEW_COUNTER].dim[0] = 1;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_DROPOUT_Y]);
    if (pdnn_backward_wants(backward, node->input[PDNN_DROPOUT_X]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_DROPOUT_X],
                           (uint32_t[]){dy, node->input[PDNN_DROPOUT_COUNTER], PDNN_NONE});
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_DROPOUT_X)), 1, 1);
    pdnn_count_add(count, pdnn_dropout_counts(node, PDNN_DROPOUT_NEW_COUNTER), 1, 1);
}

static void drop(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_DROPOUT_X);
    double *y = pdnn_ref_out(r, PDNN_DROPOUT_Y);
    struct pdnn_dropout_mask mask =
        pdnn_dropout_mask_of(r, PDNN_DROPOUT_COUNTER, r->node->attr[PDNN_DROPOUT_PERCENT]);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_DROPOUT_X));
    for (int64_t i = 0; i < elements; i++) {
        y[i] = x[i] * pdnn_dropout_mask_at(&mask, i);
        r->flop += 1;
    }
}

static void forward(struct pdnn_reference *r) {
    pdnn_dropout_count(r, PDNN_DROPOUT_COUNTER, PDNN_DROPOUT_NEW_COUNTER);
    drop(r);
}

const struct pdnn_op_def pdnn_op_dropout = {
    .name = "dropout",
    .category = "dropout",
    .formula = "y = x * mask / (1 - p)",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"counter", PDNN_OPERAND_STATE, .shape = "1"}},
    .attributes = {{"percent", PDNN_DROPOUT_PERCENT, .required = true}},
    .when = "mode == train and percent > 0",
    .outputs = {"y", "new_counter"},
    .updates = {[PDNN_DROPOUT_NEW_COUNTER] = 1 + PDNN_DROPOUT_COUNTER},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = drop, .in_place = 1}},
    .tolerance = 1e-6,
};
