#include "models/ops/quantized.h"

#include "models/attributes.h"

#include <inttypes.h>

bool pdnn_quantized_has_inputs(const struct pdnn_node *node) {
    return node->n_inputs == PDNN_QUANTIZED_W + 1 || pdnn_quantized_is_scaled(node);
}

bool pdnn_quantized_fits(const struct pdnn_graph *graph, const struct pdnn_node *node, int first,
                         const struct pdnn_tensor *tensor) {
    const struct pdnn_tensor *x_scale = pdnn_node_in(graph, node, first);
    const struct pdnn_tensor *w_scale = pdnn_node_in(graph, node, first + 1);
    return x_scale->dtype == PDNN_F32 && w_scale->dtype == PDNN_F32 && pdnn_tensor_elements(x_scale) == 1 &&
           w_scale->rank == 1 && tensor->rank >= 2 && w_scale->dim[0] == tensor->dim[1];
}

enum pdnn_status pdnn_quantized_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *output, struct pdnn_err *err) {
    enum pdnn_dtype x = pdnn_node_in(graph, node, PDNN_QUANTIZED_X)->dtype;
    enum pdnn_dtype w = pdnn_node_in(graph, node, PDNN_QUANTIZED_W)->dtype;
    bool scaled = pdnn_quantized_is_scaled(node);
    if ((x == PDNN_INT8) != (w == PDNN_INT8))
        return pdnn_fail(err, PDNN_INVALID, "%s: an input of %s and weights of %s", node->op->name,
                         pdnn_dtype_name(x), pdnn_dtype_name(w));
    if (scaled && (x != PDNN_INT8 || !pdnn_quantized_fits(graph, node, PDNN_QUANTIZED_X_SCALE, output)))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: the scales are not those of int8 values and of %" PRId64 " rows of weights",
                         node->op->name, output->dim[1]);
    if (x == PDNN_INT8)
        output->dtype = scaled ? PDNN_F32 : PDNN_S32;
    return PDNN_OK;
}

void pdnn_quantized_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *y = pdnn_node_out(graph, node, 0);
    pdnn_count_add(count, y->dim[1], 1, 1);
    pdnn_count_add(count, pdnn_tensor_elements(y), 1, 1);
}

void pdnn_quantized_scale(struct pdnn_reference *r, int first) {
    const double *x_scale = pdnn_ref_in(r, first), *w_scale = pdnn_ref_in(r, first + 1);
    double *y = pdnn_ref_out(r, 0);
    const struct pdnn_tensor *t = pdnn_node_out(r->graph, r->node, 0);
    int64_t O = t->dim[1], per_channel = pdnn_tensor_elements(t) / (t->dim[0] * O);
    for (int64_t o = 0; o < O; o++) {
        double factor = x_scale[0] * w_scale[o];
        r->flop += 1;
        for (int64_t i = 0; i < t->dim[0] * per_channel; i++) {
            y[(i / per_channel * O + o) * per_channel + i % per_channel] *= factor;
            r->flop += 1;
        }
    }
}
