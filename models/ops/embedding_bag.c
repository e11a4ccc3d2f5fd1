/* embedding_bag: y[n][e] = sum over p of x[id[n][p]][e]. N bags of P ids each, V rows of x, E columns; the
 * rest is as for embedding, and with P = 1 the same. Sampled neighbours in a graph are bags too, of rows of
 * an activation. */
#include "models/attributes.h"
#include "models/ops/embedding.h"
#include "models/onnx/nodes.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *ids = pdnn_node_in(graph, node, PDNN_EMBEDDING_IDS); /* (N, P) */
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_EMBEDDING_X);     /* (V, E) */
    if (node->n_inputs != PDNN_EMBEDDING_INPUTS || ids->rank != 2 || ids->dtype != PDNN_S32 || x->rank != 2)
        return pdnn_fail(err, PDNN_INVALID,
                         "embedding_bag: expected s32 ids (N, P) and rows (V, E) to add up");
    outputs[0].dtype = x->dtype;
    outputs[0].rank = 2; /* (N, E) */
    outputs[0].dim[0] = ids->dim[0];
    outputs[0].dim[1] = x->dim[1];
    return PDNN_OK;
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t rows = pdnn_export_op2(onnx, "Gather", pdnn_export_in(onnx, PDNN_EMBEDDING_X),
                                          pdnn_export_in(onnx, PDNN_EMBEDDING_IDS)), /* (N, P, E) */
        y = pdnn_export_op2(onnx, "ReduceSum", rows, pdnn_export_wholes(onnx, 1, (int64_t[]){1}));
    pdnn_export_add_whole(onnx, "keepdims", 0);
    return y;
}

const struct pdnn_op_def pdnn_op_embedding_bag = {
    PDNN_EMBEDDING,
    .name = "embedding_bag",
    .formula = "y[n] = sum over p of x[id[n][p]]",
    .infer = infer,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_lookup_flop, PDNN_EMBEDDING_FORWARD}, PDNN_EMBEDDING_BACKWARD},
    .onnx.write = nodes,
};
