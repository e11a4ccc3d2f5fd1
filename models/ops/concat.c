/* concat: y (outer, sum n_k, inner) holds several tensors (outer, n_k, inner) side by side, such as columns
 * of matrices or channels of images. Backward is one node that gives every input its part of dy. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <string.h>

static int dim_of(const struct pdnn_node *node) {
    static const int dims[] = {
        [PDNN_CONCAT_COLUMNS] = 1, [PDNN_CONCAT_ROWS] = 0, [PDNN_CONCAT_HEIGHT] = 2, [PDNN_CONCAT_WIDTH] = 3};
    return dims[node->attr[PDNN_CONCAT_ALONG]];
}

static bool fits_beside(const struct pdnn_tensor *a, const struct pdnn_tensor *b, int dim) {
    bool fits = a->rank == b->rank && dim < a->rank;
    for (int i = 0; fits && i < a->rank; i++)
        fits = i == dim || a->dim[i] == b->dim[i];
    return fits;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    static const char *const names[] = {[PDNN_CONCAT_COLUMNS] = "columns or channels",
                                        [PDNN_CONCAT_ROWS] = "rows or images",
                                        [PDNN_CONCAT_HEIGHT] = "height",
                                        [PDNN_CONCAT_WIDTH] = "width"};
    const struct pdnn_tensor *first = pdnn_node_in(graph, node, 0);
    int dim = dim_of(node);
    int64_t n = 0;
    /* The backward node has an output for each input. */
    bool fits = node->n_inputs >= 2 && node->n_inputs <= PDNN_NODE_OUTPUTS;
    for (int k = 0; k < node->n_inputs && fits; k++) {
        const struct pdnn_tensor *x = pdnn_node_in(graph, node, k);
        fits = x->dtype == first->dtype && fits_beside(first, x, dim);
        n += fits ? x->dim[dim] : 0;
    }
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID, "concat: expected 2 to %d tensors that are alike but for %s",
                         PDNN_NODE_OUTPUTS, names[node->attr[PDNN_CONCAT_ALONG]]);
    outputs[0].rank = first->rank;
    memcpy(outputs[0].dim, first->dim, sizeof first->dim);
    outputs[0].dim[dim] = n;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]), targets[PDNN_NODE_OUTPUTS + 1];
    bool wanted = false;
    for (int k = 0; k < node->n_inputs; k++) {
        targets[k] = node->input[k];
        wanted = wanted || pdnn_backward_wants(backward, node->input[k]);
    }
    targets[node->n_inputs] = PDNN_NONE;
    if (wanted)
        pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, (uint32_t[]){dy, PDNN_NONE});
}

/* Moves a part to or from the entries of the whole from `at` on. */
static void move(double *whole_data, struct pdnn_view whole, int64_t at, double *part_data,
                 struct pdnn_view part, bool into_whole) {
    for (int64_t i = 0; i < part.outer * part.n * part.inner; i++) {
        int64_t outer = i / (part.n * part.inner);
        double *place = whole_data + i + (outer * (whole.n - part.n) + at) * whole.inner;
        *(into_whole ? place : part_data + i) = *(into_whole ? part_data + i : place);
    }
}

static void forward(struct pdnn_reference *r) {
    int dim = dim_of(r->node);
    struct pdnn_view whole = pdnn_view_of(pdnn_node_out(r->graph, r->node, 0), dim);
    int64_t at = 0;
    for (int k = 0; k < r->node->n_inputs; k++) {
        struct pdnn_view part = pdnn_view_of(pdnn_node_in(r->graph, r->node, k), dim);
        move(pdnn_ref_out(r, 0), whole, at, pdnn_ref_in(r, k), part, true);
        at += part.n;
    }
}

static void backward_data(struct pdnn_reference *r) {
    int dim = dim_of(r->node);
    struct pdnn_view whole = pdnn_view_of(pdnn_node_in(r->graph, r->node, 0), dim);
    int64_t at = 0;
    for (int k = 0; k < r->node->n_outputs; k++) {
        struct pdnn_view part = pdnn_view_of(pdnn_node_out(r->graph, r->node, k), dim);
        move(pdnn_ref_in(r, 0), whole, at, pdnn_ref_out(r, k), part, false);
        at += part.n;
    }
}

static const char *const along[] = {
    [PDNN_CONCAT_COLUMNS] = "columns",
    [PDNN_CONCAT_ROWS] = "rows",
    [PDNN_CONCAT_HEIGHT] = "height",
    [PDNN_CONCAT_WIDTH] = "width",
    NULL,
};

static uint32_t nodes(struct pdnn_export *onnx) {
    uint32_t values[PDNN_NODE_INPUTS];
    for (int k = 0; k < onnx->at->n_inputs; k++)
        values[k] = pdnn_export_in(onnx, k);
    return pdnn_export_concat(onnx, onnx->at->n_inputs, values, dim_of(onnx->at));
}

const struct pdnn_op_def pdnn_op_concat = {
    .name = "concat",
    .formula = "y = [a b ...]",
    .operands = {{"x", PDNN_OPERAND_DATA, .many = true}},
    .attributes = {{"along", PDNN_CONCAT_ALONG, .words = along}},
    .infer = infer,
    .gradient = gradient,
    PDNN_DATA_MOVEMENT(backward_data, .reference = forward),
    .onnx.write = nodes,
};
