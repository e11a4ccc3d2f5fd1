/* embedding: y[r][e] = table[id[r]][e]; dtable[v][e] = sum over the r with id[r] = v of dy[r][e], in the
 * order of r, so that every thread count gives the same sum. R rows (ids), V vocabulary, E embedding. The
 * table's gradient is dense, zeros included, as the optimizers want it. */
#include "models/backward.h"
#include "models/op.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *ids = pdnn_node_in(graph, node, 0);   /* (R), or (N, R / N) */
    const struct pdnn_tensor *table = pdnn_node_in(graph, node, 1); /* (V, E) */
    if (node->n_inputs != 2 || ids->dtype != PDNN_S32 || table->rank != 2)
        return pdnn_fail(err, PDNN_INVALID, "embedding: expected s32 ids (R) and a table (V, E)");
    outputs[0].dtype = table->dtype;
    outputs[0].rank = 2; /* (R, E) */
    outputs[0].dim[0] = pdnn_tensor_elements(ids);
    outputs[0].dim[1] = table->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[1]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_WEIGHTS, node->input[1],
                           (uint32_t[]){node->input[0], dy, PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    (void)graph, (void)node, (void)count; /* it only moves data */
}

/* One addition per element of dy. */
static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, 1)), 1, 1);
}

/* Of the table no more rows than there are ids. */
static void forward_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    uint64_t table = pdnn_tensor_bytes(pdnn_node_in(graph, node, 1));
    uint64_t rows = pdnn_tensor_bytes(pdnn_node_out(graph, node, 0));
    bytes[0] = pdnn_tensor_bytes(pdnn_node_in(graph, node, 0));
    bytes[1] = rows < table ? rows : table;
    bytes[2] = rows;
}

static void forward(struct pdnn_reference *r) {
    const double *ids = pdnn_ref_in(r, 0), *table = pdnn_ref_in(r, 1);
    double *y = pdnn_ref_out(r, 0);
    int64_t R = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0)),
            E = pdnn_node_in(r->graph, r->node, 1)->dim[1];
    for (int64_t i = 0; i < R; i++) {
        for (int64_t e = 0; e < E; e++)
            y[i * E + e] = table[(int64_t)ids[i] * E + e];
    }
}

static void backward_weights(struct pdnn_reference *r) {
    const double *ids = pdnn_ref_in(r, 0), *dy = pdnn_ref_in(r, 1);
    const struct pdnn_tensor *dtable = pdnn_node_out(r->graph, r->node, 0);
    double *sum = pdnn_ref_out(r, 0);
    int64_t R = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0)), V = dtable->dim[0],
            E = dtable->dim[1];
    for (int64_t i = 0; i < V * E; i++)
        sum[i] = 0;
    for (int64_t i = 0; i < R; i++) {
        for (int64_t e = 0; e < E; e++) {
            sum[(int64_t)ids[i] * E + e] += dy[i * E + e];
            r->flop += 1;
        }
    }
}

const struct pdnn_op_def pdnn_op_embedding = {
    .name = "embedding",
    .category = "embedding",
    .formula = "y[r] = table[id[r]]",
    .n_outputs = 1,
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .bytes = forward_bytes},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = backward_flop, .reference = backward_weights}},
    .tolerance = 1e-6,
};
