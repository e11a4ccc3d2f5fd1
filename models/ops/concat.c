/* concat: y (R, sum C_k) holds the columns of several matrices (R, C_k) side by side. Backward is one node
 * that gives every input its columns of dy. */
#include "models/transform/backward.h"
#include "models/op.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    int64_t rows = pdnn_node_in(graph, node, 0)->dim[0], columns = 0;
    /* The backward node has an output for each input. */
    bool fits = node->n_inputs >= 2 && node->n_inputs <= PDNN_NODE_OUTPUTS;
    for (int k = 0; k < node->n_inputs; k++) {
        const struct pdnn_tensor *x = pdnn_node_in(graph, node, k); /* (R, C_k) */
        fits = fits && x->rank == 2 && x->dim[0] == rows;
        columns += x->dim[1];
    }
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID, "concat: expected 2 to %d matrices of as many rows",
                         PDNN_NODE_OUTPUTS);
    outputs[0].rank = 2;
    outputs[0].dim[0] = rows;
    outputs[0].dim[1] = columns;
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

/* Moves columns between a part and the columns of the wide matrix from `at` on. */
static void move(double *wide, int64_t at, const struct pdnn_tensor *whole, double *part, int64_t columns,
                 bool into_wide) {
    for (int64_t i = 0; i < whole->dim[0] * columns; i++) {
        double *place = wide + i / columns * whole->dim[1] + at + i % columns;
        *(into_wide ? place : part + i) = *(into_wide ? part + i : place);
    }
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *whole = pdnn_node_out(r->graph, r->node, 0);
    int64_t at = 0;
    for (int k = 0; k < r->node->n_inputs; k++) {
        int64_t columns = pdnn_node_in(r->graph, r->node, k)->dim[1];
        move(pdnn_ref_out(r, 0), at, whole, pdnn_ref_in(r, k), columns, true);
        at += columns;
    }
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *whole = pdnn_node_in(r->graph, r->node, 0);
    int64_t at = 0;
    for (int k = 0; k < r->node->n_outputs; k++) {
        int64_t columns = pdnn_node_out(r->graph, r->node, k)->dim[1];
        move(pdnn_ref_in(r, 0), at, whole, pdnn_ref_out(r, k), columns, false);
        at += columns;
    }
}

const struct pdnn_op_def pdnn_op_concat = {
    .name = "concat",
    .formula = "y = [a b ...]",
    .infer = infer,
    .gradient = gradient,
    PDNN_DATA_MOVEMENT(backward_data, .reference = forward),
};
