/* dense: y[n][o] = sum_i x[n][i] * w[o][i]; dx = dy w; dw = dy^T x. In forward, x and w may be int8
 * (models/ops/quantized.h); y is then s32, or f32 if the two scales are given.
 * N minibatch, I input units, O output units. An input of higher rank is treated as (N, I): all dimensions
 * after the first are flattened in row-major order. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/quantized.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>

static int64_t units(const struct pdnn_tensor *x) {
    return pdnn_tensor_elements(x) / x->dim[0];
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_DENSE_X); /* (N, I) */
    const struct pdnn_tensor *w = pdnn_node_in(graph, node, PDNN_DENSE_W); /* (O, I) */
    if (!pdnn_quantized_has_inputs(node) || x->rank < 2 || w->rank != 2 || units(x) != w->dim[1])
        return pdnn_fail(err, PDNN_INVALID,
                         "dense: input (N, I) and weights (O, I) disagree: I is %" PRId64 " and %" PRId64,
                         units(x), w->dim[1]);
    outputs[PDNN_DENSE_Y].rank = 2;
    outputs[PDNN_DENSE_Y].dim[0] = x->dim[0];
    outputs[PDNN_DENSE_Y].dim[1] = w->dim[0];
    return pdnn_quantized_infer(graph, node, &outputs[PDNN_DENSE_Y], err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_DENSE_X], w = node->input[PDNN_DENSE_W],
             dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, w))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_WEIGHTS, w,
                           (uint32_t[]){[PDNN_DENSE_WEIGHTS_X] = x, [PDNN_DENSE_WEIGHTS_DY] = dy, PDNN_NONE});
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x,
                           (uint32_t[]){[PDNN_DENSE_DATA_DY] = dy, [PDNN_DENSE_DATA_W] = w, PDNN_NONE});
}

/* Each pass does one multiply-add per (n, o, i), and each pass sees all three matrices. */
static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    const struct pdnn_tensor *a = pdnn_node_in(graph, node, 0), *b = pdnn_node_in(graph, node, 1);
    int64_t n = a->dim[0];
    /* Backward-weights reads x (N, I) and dy (N, O); the other passes read one matrix (O, I). */
    bool weights = node->pass == PDNN_BACKWARD_WEIGHTS;
    pdnn_count_add(count, 2 * n, weights ? units(a) : b->dim[0], b->dim[1]);
    if (pdnn_quantized_is_scaled(node))
        pdnn_quantized_flop(graph, node, count);
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_DENSE_X), *w = pdnn_ref_in(r, PDNN_DENSE_W);
    double *y = pdnn_ref_out(r, PDNN_DENSE_Y);
    int64_t N = pdnn_node_in(r->graph, r->node, PDNN_DENSE_X)->dim[0];
    int64_t O = pdnn_node_in(r->graph, r->node, PDNN_DENSE_W)->dim[0],
            I = pdnn_node_in(r->graph, r->node, PDNN_DENSE_W)->dim[1];
    for (int64_t n = 0; n < N; n++) {
        for (int64_t o = 0; o < O; o++) {
            double sum = 0;
            for (int64_t i = 0; i < I; i++) {
                sum += x[n * I + i] * w[o * I + i];
                r->flop += 2;
            }
            y[n * O + o] = sum;
        }
    }
    if (pdnn_quantized_is_scaled(r->node))
        pdnn_quantized_scale(r, PDNN_QUANTIZED_X_SCALE);
}

static void backward_data(struct pdnn_reference *r) {
    const double *dy = pdnn_ref_in(r, PDNN_DENSE_DATA_DY), *w = pdnn_ref_in(r, PDNN_DENSE_DATA_W);
    double *dx = pdnn_ref_out(r, PDNN_DENSE_DATA_DX);
    int64_t N = pdnn_node_in(r->graph, r->node, PDNN_DENSE_DATA_DY)->dim[0];
    int64_t O = pdnn_node_in(r->graph, r->node, PDNN_DENSE_DATA_W)->dim[0],
            I = pdnn_node_in(r->graph, r->node, PDNN_DENSE_DATA_W)->dim[1];
    for (int64_t i = 0; i < N * I; i++)
        dx[i] = 0;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t o = 0; o < O; o++) {
            for (int64_t i = 0; i < I; i++) {
                dx[n * I + i] += dy[n * O + o] * w[o * I + i];
                r->flop += 2;
            }
        }
    }
}

static void backward_weights(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_DENSE_WEIGHTS_X), *dy = pdnn_ref_in(r, PDNN_DENSE_WEIGHTS_DY);
    double *dw = pdnn_ref_out(r, PDNN_DENSE_WEIGHTS_DW);
    int64_t N = pdnn_node_in(r->graph, r->node, PDNN_DENSE_WEIGHTS_X)->dim[0];
    int64_t I = units(pdnn_node_in(r->graph, r->node, PDNN_DENSE_WEIGHTS_X)),
            O = pdnn_node_in(r->graph, r->node, PDNN_DENSE_WEIGHTS_DY)->dim[1];
    for (int64_t i = 0; i < O * I; i++)
        dw[i] = 0;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t o = 0; o < O; o++) {
            for (int64_t i = 0; i < I; i++) {
                dw[o * I + i] += dy[n * O + o] * x[n * I + i];
                r->flop += 2;
            }
        }
    }
}

static const struct pdnn_op_def *const posts[] = {&pdnn_op_bias, NULL};

static uint32_t nodes(struct pdnn_export *onnx) {
    uint32_t x = pdnn_export_in(onnx, PDNN_DENSE_X);
    if (pdnn_export_shape_in(onnx, PDNN_DENSE_X)->rank > 2)
        x = pdnn_export_op1(onnx, "Flatten", x);
    const uint32_t y = pdnn_export_op2(onnx, "Gemm", x, pdnn_export_in(onnx, PDNN_DENSE_W));
    pdnn_export_add_whole(onnx, "transB", 1);
    return y;
}

const struct pdnn_op_def pdnn_op_dense = {
    .name = "dense",
    .category = "linear gemm",
    .formula = "y = x w^T",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"w", PDNN_OPERAND_WEIGHT, .shape = "out, x.features", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_INIT}},
    .attributes = {{"out", PDNN_SIZE, .required = true}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .posts = posts, .takes_activations = true},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = backward_data},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = flop, .reference = backward_weights, .posts = posts}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
