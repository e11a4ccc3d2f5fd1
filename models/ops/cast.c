/* cast: y = x in another dtype: from an f32 master weight to the 16-bit dtype that the graph computes
 * in, or back to f32 for the losses (to_f32). Rounds to nearest, ties to even. dx is dy in the dtype
 * of x. Gradients of weights are not cast: the ops that read a weight's 16-bit copy return the
 * gradient in f32. FLOP: none. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    enum pdnn_dtype to = node->attr[PDNN_CAST_TO_F32] ? PDNN_F32 : graph->dtype;
    bool is_between =
        pdnn_dtype_is_half(x->dtype) != pdnn_dtype_is_half(to) && (x->dtype == PDNN_F32 || to == PDNN_F32);
    if (node->n_inputs != 1 || !is_between)
        return pdnn_fail(err, PDNN_INVALID, "cast: expected one input, and f32 on one side, not %s and %s",
                         pdnn_dtype_name(x->dtype), pdnn_dtype_name(to));
    outputs[0].dtype = to;
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    if (x->role == PDNN_ROLE_WEIGHT) {
        outputs[0].role = PDNN_ROLE_WEIGHT_COPY;
        outputs[0].of = node->input[0];
    }
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[0], dy = pdnn_backward_of(backward, node->output[0]);
    bool is_weight = pdnn_role_is_weight(pdnn_backward_graph(backward)->tensors[x].role);
    if (!is_weight && pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x, (uint32_t[]){dy, PDNN_NONE});
}

static void copy(struct pdnn_reference *r) {
    size_t elements = (size_t)pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    memcpy(pdnn_ref_out(r, 0), pdnn_ref_in(r, 0), elements * sizeof(double));
}

const struct pdnn_op_def pdnn_op_cast = {
    .name = "cast",
    .category = "cast",
    .formula = "y = x in another type; no FLOP",
    .attributes = {{"to_f32", PDNN_CAST_TO_F32}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_no_flop, .reference = copy},
             [PDNN_BACKWARD_DATA] = {.flop = pdnn_no_flop, .reference = copy}},
    .tolerance = 1e-7,
};
