/* resize: images (N, C, H, W) of another height and width, y (N, C, P, Q). Nearest: row p is row
 * floor(p H / P) of x, and columns likewise. Bilinear: with s = max((p + 1/2) H / P - 1/2, 0), i = floor(s)
 * and f = s - i, row p is (1 - f) x[i] + f x[min(i + 1, H - 1)], and columns likewise: centers of pixels stay
 * where they are. In both, dx sums what each pixel gave.
 * FLOP: nearest 0, and an addition for each dy; bilinear 7 for each y, four products and three additions (its
 * weights follow from the shape), and 8 for each dy. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { FORWARD_FLOP = 7, BACKWARD_FLOP = 8 };

/* x and y are also dx and dy. */
struct geometry {
    int64_t planes, H, W, P, Q;
    bool bilinear;
};

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *in = pdnn_node_in(graph, node, 0), *out = pdnn_node_out(graph, node, 0);
    const int64_t *x = (node->pass == PDNN_FORWARD ? in : out)->dim;
    const int64_t *y = (node->pass == PDNN_FORWARD ? out : in)->dim;
    return (struct geometry){x[0] * x[1], x[2], x[3],
                             y[2],        y[3], node->attr[PDNN_RESIZE_KIND] == PDNN_RESIZE_BILINEAR};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RESIZE_X); /* (N, C, H, W) */
    int64_t P = node->attr[PDNN_RESIZE_HEIGHT], Q = node->attr[PDNN_RESIZE_WIDTH];
    if (node->n_inputs != 1 || x->rank != 4)
        return pdnn_fail(err, PDNN_INVALID, "resize: expected one input (N, C, H, W)");
    if (P < 1 || Q < 1)
        return pdnn_fail(err, PDNN_INVALID, "resize: no image is %" PRId64 "x%" PRId64, P, Q);
    outputs[0].rank = 4;
    memcpy(outputs[0].dim, x->dim, sizeof x->dim);
    outputs[0].dim[2] = P;
    outputs[0].dim[3] = Q;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

/* Where one row or column of y comes from: `share` of the second, the rest of the first. */
struct source {
    int64_t first, second;
    double share;
};

static struct source source_of(const struct geometry *g, int64_t at, int64_t from, int64_t to) {
    if (!g->bilinear)
        return (struct source){at * from / to, at * from / to, 0};
    int64_t twice = (2 * at + 1) * from - to; /* s is twice / (2 to) */
    int64_t first = twice > 0 ? twice / (2 * to) : 0;
    double share = twice > 0 ? (double)(twice - first * 2 * to) / (double)(2 * to) : 0;
    return (struct source){first, first + 1 < from ? first + 1 : first, share};
}

/* How many of `from` rows or columns are read for `to`. */
static int64_t read_of(const struct geometry *g, int64_t from, int64_t to) {
    int64_t count = 0, last = -1;
    for (int64_t at = 0; at < to; at++) {
        struct source source = source_of(g, at, from, to);
        count += (source.first > last) + (source.second > source.first && source.second > last);
        last = source.second;
    }
    return count;
}

static void forward_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct geometry g = geometry_of(graph, node);
    bytes[0] = bytes[0] / (uint64_t)(g.H * g.W) * (uint64_t)(read_of(&g, g.H, g.P) * read_of(&g, g.W, g.Q));
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, g.planes, g.P * g.Q, g.bilinear ? FORWARD_FLOP : 0);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, g.planes, g.P * g.Q, g.bilinear ? BACKWARD_FLOP : 1);
}

/* The four weights of a pixel and their places in a plane of x; nearest has one, which is 1. */
static int taps_of(const struct geometry *g, int64_t p, int64_t q, int64_t place[4], double weight[4]) {
    struct source row = source_of(g, p, g->H, g->P), column = source_of(g, q, g->W, g->Q);
    for (int k = 0; k < 4; k++) {
        place[k] = (k < 2 ? row.first : row.second) * g->W + (k % 2 ? column.second : column.first);
        weight[k] = (k < 2 ? 1 - row.share : row.share) * (k % 2 ? column.share : 1 - column.share);
    }
    return g->bilinear ? 4 : 1;
}

static void forward(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    for (int64_t i = 0; i < g.planes * g.P * g.Q; i++) {
        const double *x = pdnn_ref_in(r, 0) + i / (g.P * g.Q) * g.H * g.W;
        int64_t place[4];
        double weight[4], sum = 0;
        int taps = taps_of(&g, i / g.Q % g.P, i % g.Q, place, weight);
        for (int k = 0; k < taps; k++)
            sum += x[place[k]] * weight[k];
        pdnn_ref_out(r, 0)[i] = sum;
        r->flop += g.bilinear ? FORWARD_FLOP : 0;
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    for (int64_t i = 0; i < g.planes * g.H * g.W; i++)
        pdnn_ref_out(r, 0)[i] = 0;
    for (int64_t i = 0; i < g.planes * g.P * g.Q; i++) {
        double *dx = pdnn_ref_out(r, 0) + i / (g.P * g.Q) * g.H * g.W;
        int64_t place[4];
        double weight[4];
        int taps = taps_of(&g, i / g.Q % g.P, i % g.Q, place, weight);
        for (int k = 0; k < taps; k++) {
            dx[place[k]] += pdnn_ref_in(r, 0)[i] * weight[k];
            r->flop += g.bilinear ? 2 : 1;
        }
    }
}

static const char *const kinds[] = {
    [PDNN_RESIZE_NEAREST] = "nearest", [PDNN_RESIZE_BILINEAR] = "bilinear", NULL};

/* The pixels along an axis that nearest takes. */
static uint32_t picked(struct pdnn_export *onnx, uint32_t x, int64_t axis, int64_t from, int64_t to) {
    int64_t *index = pdnn_arena_room(onnx->arena, (size_t)to, sizeof *index);
    for (int64_t i = 0; i < to; i++)
        index[i] = i * from / to;
    const uint32_t y = pdnn_export_op2(onnx, "Gather", x, pdnn_export_wholes(onnx, to, index));
    pdnn_export_add_whole(onnx, "axis", axis);
    return y;
}

/* Nearest at whole factors, where every runtime finds the same pixels; else they are named. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const int64_t *x = pdnn_export_shape_in(onnx, PDNN_RESIZE_X)->dim, *y = pdnn_export_shape_out(onnx)->dim;
    const bool bilinear = onnx->at->attr[PDNN_RESIZE_KIND] == PDNN_RESIZE_BILINEAR;
    const uint32_t image = pdnn_export_in(onnx, PDNN_RESIZE_X);
    if (!bilinear && (y[2] % x[2] || y[3] % x[3]))
        return picked(onnx, picked(onnx, image, 2, x[2], y[2]), 3, x[3], y[3]);
    const uint32_t result = pdnn_export_op(
        onnx, "Resize", 4, (uint32_t[]){image, PDNN_NONE, PDNN_NONE, pdnn_export_wholes(onnx, 4, y)});
    pdnn_export_add_text(onnx, "mode", bilinear ? "linear" : "nearest");
    pdnn_export_add_text(onnx, "coordinate_transformation_mode", bilinear ? "half_pixel" : "asymmetric");
    if (!bilinear)
        pdnn_export_add_text(onnx, "nearest_mode", "floor");
    return result;
}

const struct pdnn_op_def pdnn_op_resize = {
    .name = "resize",
    .category = "pooling",
    .formula = "y = x with another height and width",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"kind", PDNN_RESIZE_KIND, .words = kinds, .shown = "bilinear"},
                   {"factor", PDNN_SIZE, .fallback = "2"},
                   {"height", PDNN_RESIZE_HEIGHT, .fallback = "factor * x.height"},
                   {"width", PDNN_RESIZE_WIDTH, .fallback = "factor * x.width"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .bytes = forward_bytes, .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
