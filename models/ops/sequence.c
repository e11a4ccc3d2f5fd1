/* sequence: turns images into sequences of their columns: y[t*N + n][c*F + f] = x[n][c][f][t]; dx is
 * the inverse permutation.
 * N minibatch, C channels, F height (frequency), T width (time). */
#include "models/transform/backward.h"
#include "models/op.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0); /* (N, C, F, T) */
    if (node->n_inputs != 1 || x->rank != 4)
        return pdnn_fail(err, PDNN_INVALID, "sequence: expected images (N, C, F, T)");
    outputs[0].rank = 2; /* (T*N, C*F) */
    outputs[0].dim[0] = x->dim[3] * x->dim[0];
    outputs[0].dim[1] = x->dim[1] * x->dim[2];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

/* Index in the sequences of element i of the images. */
static int64_t place_of(const struct pdnn_tensor *images, int64_t i) {
    int64_t N = images->dim[0], features = images->dim[1] * images->dim[2], T = images->dim[3];
    return (i % T * N + i / T / features) * features + i / T % features;
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *images = pdnn_node_in(r->graph, r->node, 0);
    int64_t elements = pdnn_tensor_elements(images);
    for (int64_t i = 0; i < elements; i++)
        pdnn_ref_out(r, 0)[place_of(images, i)] = pdnn_ref_in(r, 0)[i];
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *images = pdnn_node_out(r->graph, r->node, 0);
    int64_t elements = pdnn_tensor_elements(images);
    for (int64_t i = 0; i < elements; i++)
        pdnn_ref_out(r, 0)[i] = pdnn_ref_in(r, 0)[place_of(images, i)];
}

const struct pdnn_op_def pdnn_op_sequence = {
    .name = "sequence",
    .formula = "y[t][c f] = x[c][f][t]",
    .infer = infer,
    .gradient = gradient,
    PDNN_DATA_MOVEMENT(backward_data, .reference = forward),
};
