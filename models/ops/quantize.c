/* quantize: s = max |x| / 127 over all of x, or 1 if that is 0; q = x / s, rounded to the nearest integer, in
 * int8. One scale for the whole tensor, computed in every run (dynamic, symmetric).
 * FLOP: two per element for the maximum (absolute value, comparison), two for the value (division,
 * rounding); one for the scale. */
#include "models/attributes.h"
#include "models/op.h"

#include <math.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_QUANTIZE_X);
    if (node->n_inputs != 1 || x->dtype != PDNN_F32)
        return pdnn_fail(err, PDNN_INVALID, "quantize: expected one input of f32");
    outputs[PDNN_QUANTIZE_Q].dtype = PDNN_INT8; /* like x */
    outputs[PDNN_QUANTIZE_Q].rank = x->rank;
    memcpy(outputs[PDNN_QUANTIZE_Q].dim, x->dim, sizeof x->dim);
    outputs[PDNN_QUANTIZE_SCALE].rank = 1; /* the scale (1) */
    outputs[PDNN_QUANTIZE_SCALE].dim[0] = 1;
    return PDNN_OK;
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_QUANTIZE_X)), 4, 1);
    pdnn_count_add(count, 1, 1, 1);
}

static void forward(struct pdnn_reference *r) {
    const double most_q = 127;
    const double *x = pdnn_ref_in(r, PDNN_QUANTIZE_X);
    double *q = pdnn_ref_out(r, PDNN_QUANTIZE_Q), *scale = pdnn_ref_out(r, PDNN_QUANTIZE_SCALE), most = 0;
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_QUANTIZE_X));
    for (int64_t i = 0; i < elements; i++) {
        most = fmax(most, fabs(x[i]));
        r->flop += 2;
    }
    scale[0] = most > 0 ? most / most_q : 1;
    r->flop += 1;
    for (int64_t i = 0; i < elements; i++) {
        q[i] = rint(x[i] / scale[0]);
        r->flop += 2;
    }
}

const struct pdnn_op_def pdnn_op_quantize = {
    .name = "quantize",
    .category = "quantization",
    .formula = "q = round(x / s), s = max |x| / 127",
    .attributes = {{"non_negative", PDNN_QUANTIZE_NON_NEGATIVE}},
    .outputs = {"q", "scale"},
    .infer = infer,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward}},
    .tolerance = 1e-6,
    .rounds = true,
};
