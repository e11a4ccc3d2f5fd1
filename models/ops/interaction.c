/* interaction (DLRM: Naumov and others, 2019): a row of x is k vectors x_i of D columns; y has the products
 * of pairs: x_i . x_j for j < i, row by row, or of all k^2. dx_i = sum over the pairs of dy_ij x_j, for
 * either end of a pair. N rows. FLOP: 2 D for each pair, and twice that backward. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

struct geometry {
    int64_t N, k, D;
    bool all;
};

/* Of x. */
static struct geometry geometry_of(const struct pdnn_node *node, const struct pdnn_tensor *x) {
    int64_t D = node->attr[PDNN_INTERACTION_WIDTH];
    return (struct geometry){x->dim[0], x->dim[1] / D, D,
                             node->attr[PDNN_INTERACTION_PAIRS] == PDNN_INTERACTION_ALL};
}

/* Those of vector i with the first ones. */
static int64_t pairs_of(const struct geometry *g, int64_t i) {
    return g->all ? g->k : i;
}

static int64_t count_pairs(const struct geometry *g) {
    return g->all ? g->k * g->k : g->k * (g->k - 1) / 2;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_INTERACTION_X);
    int64_t D = node->attr[PDNN_INTERACTION_WIDTH];
    if (node->n_inputs != 1 || x->rank != 2 || D < 1 || x->dim[1] % D || x->dim[1] < 2 * D)
        return pdnn_fail(err, PDNN_INVALID, "interaction: expected rows of two or more vectors of width=%lld",
                         (long long)D);
    const struct geometry g = geometry_of(node, x);
    outputs[0].rank = 2;
    outputs[0].dim[0] = g.N;
    outputs[0].dim[1] = count_pairs(&g);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_INTERACTION_X], dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x, (uint32_t[]){dy, x, PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct geometry g = geometry_of(node, pdnn_node_in(graph, node, PDNN_INTERACTION_X));
    pdnn_count_add(count, g.N, count_pairs(&g), 2 * g.D);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    const struct geometry g = geometry_of(node, pdnn_node_in(graph, node, PDNN_INTERACTION_BACK_X));
    pdnn_count_add(count, g.N, count_pairs(&g), 4 * g.D);
}

static void forward(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r->node, pdnn_node_in(r->graph, r->node, PDNN_INTERACTION_X));
    const double *x = pdnn_ref_in(r, PDNN_INTERACTION_X);
    double *y = pdnn_ref_out(r, PDNN_INTERACTION_Y);
    for (int64_t n = 0; n < g.N; n++, x += g.k * g.D) {
        for (int64_t i = 0; i < g.k; i++) {
            for (int64_t j = 0; j < pairs_of(&g, i); j++, y++) {
                *y = 0;
                for (int64_t d = 0; d < g.D; d++) {
                    *y += x[i * g.D + d] * x[j * g.D + d];
                    r->flop += 2;
                }
            }
        }
    }
}

static void backward_data(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r->node, pdnn_node_in(r->graph, r->node, PDNN_INTERACTION_BACK_X));
    const double *dy = pdnn_ref_in(r, PDNN_INTERACTION_BACK_DY), *x = pdnn_ref_in(r, PDNN_INTERACTION_BACK_X);
    double *dx = pdnn_ref_out(r, PDNN_INTERACTION_BACK_DX);
    for (int64_t i = 0; i < g.N * g.k * g.D; i++)
        dx[i] = 0;
    for (int64_t n = 0; n < g.N; n++, x += g.k * g.D, dx += g.k * g.D) {
        for (int64_t i = 0; i < g.k; i++) {
            for (int64_t j = 0; j < pairs_of(&g, i); j++, dy++) {
                for (int64_t d = 0; d < g.D; d++) {
                    dx[i * g.D + d] += *dy * x[j * g.D + d];
                    dx[j * g.D + d] += *dy * x[i * g.D + d];
                    r->flop += 4;
                }
            }
        }
    }
}

static const char *const pairs[] = {"below", "all", NULL};

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct geometry g = geometry_of(onnx->at, pdnn_export_shape_in(onnx, PDNN_INTERACTION_X));
    const uint32_t x =
        pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_INTERACTION_X), 3, (int64_t[]){g.N, g.k, g.D});
    uint32_t y = pdnn_export_op2(onnx, "MatMul", x, pdnn_export_transpose(onnx, x, 3, (int64_t[]){0, 2, 1}));
    y = pdnn_export_reshape(onnx, y, 2, (int64_t[]){g.N, g.k * g.k});
    if (g.all)
        return y;
    const int64_t count = pdnn_export_shape_out(onnx)->dim[1];
    int64_t *index = pdnn_arena_room(onnx->arena, (size_t)count, sizeof *index), at = 0;
    for (int64_t i = 0; i < g.k; i++) {
        for (int64_t j = 0; j < pairs_of(&g, i); j++)
            index[at++] = i * g.k + j;
    }
    y = pdnn_export_op2(onnx, "Gather", y, pdnn_export_wholes(onnx, count, index));
    pdnn_export_add_whole(onnx, "axis", 1);
    return y;
}

const struct pdnn_op_def pdnn_op_interaction = {
    .name = "interaction",
    .category = "attention gemm",
    .formula = "y = x_i . x_j of the row's vectors, for j < i or for all j",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"width", PDNN_INTERACTION_WIDTH, .required = true},
                   {"pairs", PDNN_INTERACTION_PAIRS, .words = pairs}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data}},
    .tolerance = 2e-6,
    .onnx.write = nodes,
};
