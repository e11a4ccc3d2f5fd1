/* dequantize: y[n][o] = x[n][o] x_scale w_scale[o], which turns s32 sums of int8 products into f32. On an
 * image, the same at every pixel.
 * N minibatch, O units or channels. */
#include "models/attributes.h"
#include "models/ops/quantized.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    /* (N, O) or (N, O, H, W), s32 */
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_DEQUANTIZE_X);
    if (node->n_inputs != PDNN_DEQUANTIZE_X_SCALE + 2 || x->dtype != PDNN_S32 ||
        !pdnn_quantized_fits(graph, node, PDNN_DEQUANTIZE_X_SCALE, x))
        return pdnn_fail(err, PDNN_INVALID, "dequantize: expected sums (N, O, ...) of s32, and two scales");
    outputs[0].dtype = PDNN_F32;
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    return PDNN_OK;
}

static void forward(struct pdnn_reference *r) {
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, PDNN_DEQUANTIZE_X));
    if (pdnn_ref_out(r, 0) != pdnn_ref_in(r, PDNN_DEQUANTIZE_X))
        memcpy(pdnn_ref_out(r, 0), pdnn_ref_in(r, PDNN_DEQUANTIZE_X), (size_t)elements * sizeof(double));
    pdnn_quantized_scale(r, PDNN_DEQUANTIZE_X_SCALE);
}

const struct pdnn_op_def pdnn_op_dequantize = {
    .name = "dequantize",
    .category = "quantization",
    .formula = "y = x x_scale w_scale[o]",
    .outputs = {"y"},
    .infer = infer,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_quantized_flop, .reference = forward, .in_place = 1}},
    .tolerance = 1e-6,
};
