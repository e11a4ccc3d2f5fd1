/* dropout (Srivastava et al., 2014), training only: y = x * mask, where mask is 0 with probability p =
 * percent/100 and else 1/(1 - p), so that inference needs no node at all; dx = dy * mask. The mask is not
 * stored: that of element i follows from the node, the step and i, and backward computes it anew. The step is
 * counted by a state of one value, which forward first increments; the node is known by that state's tensor.
 * Element i is kept where pdnn_rng_16_at(pdnn_rng_at(counter's tensor, counter), i) >= percent * 65536 / 100.
 * FLOP: one multiplication per element in either pass, one addition for the counter. */
#include "base/rng.h"
#include "models/attributes.h"
#include "models/backward.h"
#include "models/op.h"

#include <string.h>

enum { PERCENT_MAX = 99 };

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0), *counter = pdnn_node_in(graph, node, 1);
    int64_t percent = node->attr[PDNN_DROPOUT_PERCENT];
    if (node->n_inputs != 2 || counter->role != PDNN_ROLE_STATE || pdnn_tensor_elements(counter) != 1 ||
        percent < 0 || percent > PERCENT_MAX)
        return pdnn_fail(err, PDNN_INVALID, "dropout: expected a counter (1) and 0 to %d percent",
                         PERCENT_MAX);
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    outputs[1].rank = 1; /* the counter */
    outputs[1].dim[0] = 1;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0],
                           (uint32_t[]){dy, node->input[1], PDNN_NONE});
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 0)), 1, 1);
    pdnn_count_add(count, node->pass == PDNN_FORWARD, 1, 1);
}

static void mask(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, 0);
    double *y = pdnn_ref_out(r, 0);
    uint64_t seed = pdnn_rng_at(r->node->input[1], (uint64_t)*pdnn_ref_in(r, 1));
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    int64_t percent = r->node->attr[PDNN_DROPOUT_PERCENT], least = percent * 65536 / 100;
    double kept = 100.0 / (double)(100 - percent);
    for (int64_t i = 0; i < elements; i++) {
        y[i] = x[i] * (pdnn_rng_16_at(seed, (uint64_t)i) >= least ? kept : 0);
        r->flop += 1;
    }
}

static void forward(struct pdnn_reference *r) {
    *pdnn_ref_in(r, 1) += 1;
    r->flop += 1;
    mask(r);
}

const struct pdnn_op_def pdnn_op_dropout = {
    .name = "dropout",
    .category = "dropout",
    .formula = "y = x * mask / (1 - p)",
    .attr_names = (const char *const[]){"percent", NULL},
    .n_outputs = 2,
    .updates = {[1] = 2},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = mask, .in_place = 1}},
    .tolerance = 1e-6,
};
