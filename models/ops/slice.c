/* slice: consecutive entries of x along one dimension, from `first` on; dx is dy in these entries and 0
 * elsewhere. Since rows are ordered by step, it can take the last step of all sequences.
 * x (outer, n, inner), y (outer, count, inner). */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

/* The dimension that has a count; PDNN_RANK_MAX if none or several have one. */
static int dim_of(const struct pdnn_node *node) {
    int dim = PDNN_RANK_MAX, counts = 0;
    for (int i = 0; i < PDNN_SLICE_COUNTS; i++) {
        dim = node->attr[PDNN_SLICE_ROWS + i] ? i : dim;
        counts += node->attr[PDNN_SLICE_ROWS + i] != 0;
    }
    return counts == 1 ? dim : PDNN_RANK_MAX;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    static const char *const names[] = {"rows", "columns", "height", "width"};
    int64_t first = node->attr[PDNN_SLICE_FIRST];
    int dim = dim_of(node);
    if (node->n_inputs != 1 || dim >= x->rank)
        return pdnn_fail(err, PDNN_INVALID,
                         "slice: give one of rows, columns, height and width, and a tensor that has it");
    int64_t count = node->attr[PDNN_SLICE_ROWS + dim];
    if (first < 0 || count < 1 || count > x->dim[dim] - first)
        return pdnn_fail(err, PDNN_INVALID, "slice: no %s=%" PRId64 " from %" PRId64 " on", names[dim], count,
                         first);
    outputs[0].rank = x->rank;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    outputs[0].dim[dim] = count;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

/* Only the entries taken are read. */
static void forward_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    (void)graph, (void)node;
    bytes[0] = bytes[1];
}

static void forward(struct pdnn_reference *r) {
    int dim = dim_of(r->node);
    struct pdnn_view x = pdnn_view_of(pdnn_node_in(r->graph, r->node, 0), dim);
    struct pdnn_view y = pdnn_view_of(pdnn_node_out(r->graph, r->node, 0), dim);
    for (int64_t i = 0; i < y.outer * y.n * y.inner; i++) {
        int64_t outer = i / (y.n * y.inner), first = r->node->attr[PDNN_SLICE_FIRST];
        pdnn_ref_out(r, 0)[i] = pdnn_ref_in(r, 0)[i + (outer * (x.n - y.n) + first) * x.inner];
    }
}

static void backward_data(struct pdnn_reference *r) {
    int dim = dim_of(r->node);
    struct pdnn_view dy = pdnn_view_of(pdnn_node_in(r->graph, r->node, 0), dim);
    struct pdnn_view dx = pdnn_view_of(pdnn_node_out(r->graph, r->node, 0), dim);
    for (int64_t i = 0; i < dx.outer * dx.n * dx.inner; i++) {
        int64_t outer = i / (dx.n * dx.inner);
        int64_t k = i / dx.inner % dx.n - r->node->attr[PDNN_SLICE_FIRST]; /* in dy */
        bool is_taken = k >= 0 && k < dy.n;
        pdnn_ref_out(r, 0)[i] =
            is_taken ? pdnn_ref_in(r, 0)[(outer * dy.n + k) * dy.inner + i % dx.inner] : 0;
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const int dim = dim_of(onnx->at);
    return pdnn_export_slice(onnx, pdnn_export_in(onnx, PDNN_SLICE_X), dim, onnx->at->attr[PDNN_SLICE_FIRST],
                             pdnn_export_shape_out(onnx)->dim[dim]);
}

const struct pdnn_op_def pdnn_op_slice = {
    .name = "slice",
    .formula = "y[r] = x[first + r]",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"first", PDNN_SLICE_FIRST},
                   {"rows", PDNN_SLICE_ROWS},
                   {"columns", PDNN_SLICE_COLUMNS},
                   {"height", PDNN_SLICE_HEIGHT},
                   {"width", PDNN_SLICE_WIDTH}},
    .infer = infer,
    .gradient = gradient,
    PDNN_DATA_MOVEMENT(backward_data, .reference = forward, .bytes = forward_bytes),
    .onnx.write = nodes,
};
