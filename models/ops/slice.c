/* slice: `rows` consecutive rows of x (R, C) from `first` on; dx is dy in these rows and 0 elsewhere. Since
 * rows are ordered by step, it can take the last step of all sequences. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"

#include <inttypes.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0); /* (R, C) */
    int64_t first = node->attr[PDNN_SLICE_FIRST], rows = node->attr[PDNN_SLICE_ROWS];
    if (node->n_inputs != 1 || x->rank != 2 || first < 0 || rows < 1 || rows > x->dim[0] - first)
        return pdnn_fail(err, PDNN_INVALID, "slice: no %" PRId64 " rows from row %" PRId64 " on", rows,
                         first);
    outputs[0].rank = 2;
    outputs[0].dim[0] = rows;
    outputs[0].dim[1] = x->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

/* Only the rows taken are read. */
static void forward_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    (void)graph, (void)node;
    bytes[0] = bytes[1];
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *y = pdnn_node_out(r->graph, r->node, 0);
    const double *from = pdnn_ref_in(r, 0) + r->node->attr[PDNN_SLICE_FIRST] * y->dim[1];
    memcpy(pdnn_ref_out(r, 0), from, (size_t)pdnn_tensor_elements(y) * sizeof *from);
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *dy = pdnn_node_in(r->graph, r->node, 0);
    int64_t elements = pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0));
    double *dx = pdnn_ref_out(r, 0);
    for (int64_t i = 0; i < elements; i++)
        dx[i] = 0;
    memcpy(dx + r->node->attr[PDNN_SLICE_FIRST] * dy->dim[1], pdnn_ref_in(r, 0),
           (size_t)pdnn_tensor_elements(dy) * sizeof *dx);
}

const struct pdnn_op_def pdnn_op_slice = {
    .name = "slice",
    .formula = "y[r] = x[first + r]",
    .attr_names = {[PDNN_SLICE_FIRST] = "first", [PDNN_SLICE_ROWS] = "rows"},
    .infer = infer,
    .gradient = gradient,
    PDNN_DATA_MOVEMENT(backward_data, .reference = forward, .bytes = forward_bytes),
};
