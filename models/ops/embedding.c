/* embedding: y[r][e] = x[id[r]][e]; dx[v][e] = sum of dy[r][e] over the r with id[r] = v. The sum runs in the
 * order of r, so the result does not depend on the number of threads. R ids, V rows of x, E columns. x is a
 * table of weights, or an activation of which some rows are wanted. Its gradient is dense, zeros included, as
 * the optimizers and other ops need it. If something else reads x too (a table that is also the output
 * weights) and x already has a gradient, that is a third input, which the output continues. */
#include "models/ops/embedding.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *ids = pdnn_node_in(graph, node, PDNN_EMBEDDING_IDS); /* (R), or (B, R / B) */
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_EMBEDDING_X);     /* (V, E) */
    if (node->n_inputs != PDNN_EMBEDDING_INPUTS || ids->rank > 2 || ids->dtype != PDNN_S32 || x->rank != 2)
        return pdnn_fail(err, PDNN_INVALID, "embedding: expected s32 ids (R) and rows (V, E) to look up");
    outputs[0].dtype = x->dtype;
    outputs[0].rank = 2; /* (R, E) */
    outputs[0].dim[0] = pdnn_tensor_elements(ids);
    outputs[0].dim[1] = x->dim[1];
    return PDNN_OK;
}

/* The gradient of x so far must not be dy itself (which happens if x and y are added up): dy is still read
 * while the output overwrites that memory. */
void pdnn_lookup_gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_EMBEDDING_X], dy = pdnn_backward_of(backward, node->output[0]);
    uint32_t rest = pdnn_backward_of(backward, x);
    bool is_weight = pdnn_role_is_weight(pdnn_backward_graph(backward)->tensors[x].role);
    enum pdnn_pass pass = is_weight ? PDNN_BACKWARD_WEIGHTS : PDNN_BACKWARD_DATA;
    if (!pdnn_backward_wants(backward, x))
        return;
    if (rest == dy)
        pdnn_backward_emit(backward, node, pass, x,
                           (uint32_t[]){node->input[PDNN_EMBEDDING_IDS], dy, PDNN_NONE});
    else
        pdnn_backward_continue(backward, node, pass, x,
                               (uint32_t[]){node->input[PDNN_EMBEDDING_IDS], dy, rest, PDNN_NONE});
}

/* The ids that a row of y or dy has. */
static int64_t bag_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *rows = node->pass == PDNN_FORWARD
                                         ? pdnn_node_out(graph, node, PDNN_EMBEDDING_Y)
                                         : pdnn_node_in(graph, node, PDNN_EMBEDDING_BACK_DY);
    return pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_EMBEDDING_IDS)) / rows->dim[0];
}

/* One addition for each id after the first of its bag, and column. */
void pdnn_lookup_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                      struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_out(graph, node, PDNN_EMBEDDING_Y)),
                   bag_of(graph, node) - 1, 1);
}

/* One addition for each id and column. */
void pdnn_lookup_backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                               struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_EMBEDDING_BACK_DY)),
                   bag_of(graph, node), 1);
}

/* Ids that are drawn may all differ, as far as there are numbers; others are known. */
static int64_t most_different(const struct pdnn_tensor *ids, int64_t V) {
    switch (ids->fill.kind) {
    case PDNN_FILL_CONSTANT:
        return 1;
    case PDNN_FILL_POSITION:
    case PDNN_FILL_CLASS:
    case PDNN_FILL_ZIPF:
        return (int64_t)ids->fill.scale < V ? (int64_t)ids->fill.scale : V;
    default:
        return V;
    }
}

/* The rows that are looked up, or their gradient. */
static const struct pdnn_tensor *table_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return node->pass == PDNN_FORWARD ? pdnn_node_in(graph, node, PDNN_EMBEDDING_X)
                                      : pdnn_node_out(graph, node, PDNN_EMBEDDING_BACK_DX);
}

/* Elements of the table that the ids name, and if they name each possible row. The ids are input 0 of every
 * pass. */
struct pdnn_saturation pdnn_lookup_saturation(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *ids = pdnn_node_in(graph, node, PDNN_EMBEDDING_IDS),
                             *table = table_of(graph, node);
    return (struct pdnn_saturation){pdnn_tensor_elements(ids) * table->dim[1],
                                    most_different(ids, table->dim[0]) * table->dim[1]};
}

/* The table may be f32 while the gathered rows are 16-bit. */
static uint64_t looked_up_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct pdnn_saturation is = pdnn_lookup_saturation(graph, node);
    return (uint64_t)(is.size < is.limit ? is.size : is.limit) *
           pdnn_dtype_bytes(table_of(graph, node)->dtype);
}

/* A continued gradient changes only in the rows looked up; otherwise it is written whole. */
void pdnn_lookup_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    if (node->pass == PDNN_FORWARD)
        bytes[PDNN_EMBEDDING_X] = looked_up_bytes(graph, node);
    else if (node->n_inputs == PDNN_EMBEDDING_BACK_INPUTS)
        bytes[PDNN_EMBEDDING_BACK_REST] = bytes[PDNN_EMBEDDING_BACK_INPUTS] = looked_up_bytes(graph, node);
}

void pdnn_lookup_forward(struct pdnn_reference *r) {
    const double *ids = pdnn_ref_in(r, PDNN_EMBEDDING_IDS), *x = pdnn_ref_in(r, PDNN_EMBEDDING_X);
    const struct pdnn_tensor *y = pdnn_node_out(r->graph, r->node, PDNN_EMBEDDING_Y);
    double *to = pdnn_ref_out(r, PDNN_EMBEDDING_Y);
    int64_t R = y->dim[0], E = y->dim[1], bag = bag_of(r->graph, r->node);
    for (int64_t i = 0; i < R * bag; i++) {
        for (int64_t e = 0; e < E; e++) {
            bool is_first = i % bag == 0;
            double before = is_first ? 0 : to[i / bag * E + e];
            to[i / bag * E + e] = before + x[(int64_t)ids[i] * E + e];
            r->flop += !is_first;
        }
    }
}

void pdnn_lookup_backward(struct pdnn_reference *r) {
    const double *ids = pdnn_ref_in(r, PDNN_EMBEDDING_BACK_IDS), *dy = pdnn_ref_in(r, PDNN_EMBEDDING_BACK_DY);
    const double *rest =
        r->node->n_inputs == PDNN_EMBEDDING_BACK_INPUTS ? pdnn_ref_in(r, PDNN_EMBEDDING_BACK_REST) : NULL;
    const struct pdnn_tensor *dx = pdnn_node_out(r->graph, r->node, PDNN_EMBEDDING_BACK_DX);
    double *sum = pdnn_ref_out(r, PDNN_EMBEDDING_BACK_DX);
    int64_t R = pdnn_node_in(r->graph, r->node, PDNN_EMBEDDING_BACK_DY)->dim[0], V = dx->dim[0],
            E = dx->dim[1], bag = bag_of(r->graph, r->node);
    for (int64_t i = 0; i < V * E; i++)
        sum[i] = rest ? rest[i] : 0;
    for (int64_t i = 0; i < R * bag; i++) {
        for (int64_t e = 0; e < E; e++) {
            sum[(int64_t)ids[i] * E + e] += dy[i / bag * E + e];
            r->flop += 1;
        }
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t y = pdnn_export_op2(onnx, "Gather", pdnn_export_in(onnx, PDNN_EMBEDDING_X),
                                       pdnn_export_in(onnx, PDNN_EMBEDDING_IDS));
    return pdnn_export_shape_in(onnx, PDNN_EMBEDDING_IDS)->rank > 1 ? pdnn_export_as_output(onnx, y) : y;
}

const struct pdnn_op_def pdnn_op_embedding = {
    PDNN_EMBEDDING,
    .name = "embedding",
    .formula = "y[r] = x[id[r]]",
    .infer = infer,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_no_flop, PDNN_EMBEDDING_FORWARD}, PDNN_EMBEDDING_BACKWARD},
    .onnx.write = nodes,
};
