/* rope: rotary positions (Su and others, 2021). Of each row of x (B*n, ld), `heads` heads of `width` columns,
 * side by side from `column` on, are turned; the other columns stay. In a head, column i and column i +
 * width/2 are a pair, and row t of a sequence turns it by a(i) = (position + t) * theta^(-2i/width):
 *   y1 = x1 cos a - x2 sin a,  y2 = x2 cos a + x1 sin a
 * The gradient turns dy back. Sines and cosines, which all heads of a row share, are not counted.
 * FLOP: 3 per element turned. Bytes: only the columns turned. */
#include "base/memory.h"
#include "models/attributes.h"
#include "models/op.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOP = 3 };

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_ROPE_X);
    const int64_t *attr = node->attr, width = attr[PDNN_ROPE_WIDTH];
    if (node->n_inputs != 1 || x->rank != 2 || attr[PDNN_ROPE_SEQUENCES] < 1 ||
        x->dim[0] % attr[PDNN_ROPE_SEQUENCES] || attr[PDNN_ROPE_POSITION] < 0)
        return pdnn_fail(err, PDNN_INVALID, "rope: expected rows (B*n, ld) of B sequences");
    if (width < 1 || width % 2)
        return pdnn_fail(err, PDNN_INVALID, "rope: width=%" PRId64 " is not even", width);
    if (attr[PDNN_ROPE_HEADS] < 1 || attr[PDNN_ROPE_COLUMN] < 0 ||
        attr[PDNN_ROPE_HEADS] > (x->dim[1] - attr[PDNN_ROPE_COLUMN]) / width)
        return pdnn_fail(err, PDNN_INVALID,
                         "rope: no %" PRId64 " heads of width=%" PRId64 " from column=%" PRId64
                         " on in %" PRId64 " columns",
                         attr[PDNN_ROPE_HEADS], width, attr[PDNN_ROPE_COLUMN], x->dim[1]);
    outputs[PDNN_ROPE_Y].rank = 2;
    memcpy(outputs[PDNN_ROPE_Y].dim, x->dim, sizeof x->dim);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_ROPE_Y]);
    if (pdnn_backward_wants(backward, node->input[PDNN_ROPE_X]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_ROPE_X],
                           (uint32_t[]){dy, PDNN_NONE});
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_count_add(count, FLOP * pdnn_node_in(graph, node, PDNN_ROPE_X)->dim[0], node->attr[PDNN_ROPE_HEADS],
                   node->attr[PDNN_ROPE_WIDTH]);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_ROPE_X);
    int64_t turned = x->dim[0] * node->attr[PDNN_ROPE_HEADS] * node->attr[PDNN_ROPE_WIDTH];
    bytes[PDNN_ROPE_X] = bytes[1] = (uint64_t)turned * pdnn_dtype_bytes(x->dtype);
}

/* Turns pair i of the head at x. */
static void turn(struct pdnn_reference *r, const double *x, double *y, int64_t i, double position) {
    int64_t half = r->node->attr[PDNN_ROPE_WIDTH] / 2;
    double angle = position * pow(r->node->coef[PDNN_ROPE_THETA], -(double)i / (double)half);
    double c = cos(angle), s = sin(angle), first = x[i], second = x[i + half];
    y[i] = first * c - second * s;
    y[i + half] = second * c + first * s;
    r->flop += 6;
}

static void reference(struct pdnn_reference *r) {
    const int64_t *attr = r->node->attr, *dim = pdnn_node_in(r->graph, r->node, PDNN_ROPE_X)->dim;
    int64_t heads = attr[PDNN_ROPE_HEADS], width = attr[PDNN_ROPE_WIDTH];
    const double *x = pdnn_ref_in(r, PDNN_ROPE_X), back = r->node->pass == PDNN_BACKWARD_DATA ? -1 : 1;
    double *y = pdnn_ref_out(r, PDNN_ROPE_Y);
    memmove(y, x, (size_t)(dim[0] * dim[1]) * sizeof *y);
    for (int64_t k = 0; k < dim[0] * heads; k++) {
        int64_t row = k / heads, at = row * dim[1] + attr[PDNN_ROPE_COLUMN] + k % heads * width;
        int64_t t = attr[PDNN_ROPE_POSITION] + row % (dim[0] / attr[PDNN_ROPE_SEQUENCES]);
        for (int64_t i = 0; i < width / 2; i++)
            turn(r, y + at, y + at, i, back * (double)t);
    }
}

/* 0: cos a = sin(a + pi/2), 1: sin a, of the n rows of a sequence and both halves of a head, which all heads
 * share. In f64, since a grows with the rows. */
static uint32_t turns(struct pdnn_export *onnx, int64_t n, int k) {
    const int64_t *attr = onnx->at->attr, width = attr[PDNN_ROPE_WIDTH], half = width / 2;
    const double phase = acos(0);
    uint32_t y = pdnn_export_kept(onnx, k);
    if (y != PDNN_NONE)
        return y;
    double *values = pdnn_alloc((size_t)(n > width ? n : width), sizeof *values);
    for (int64_t t = 0; t < n; t++)
        values[t] = (double)(attr[PDNN_ROPE_POSITION] + t);
    const uint32_t positions = pdnn_export_constant(onnx, PDNN_EXPORT_F64, 3, (int64_t[]){n, 1, 1}, values);
    for (int64_t i = 0; i < width; i++)
        values[i] = pow(onnx->at->coef[PDNN_ROPE_THETA], -(double)(i % half) / (double)half);
    y = pdnn_export_op2(onnx, "Mul", positions,
                        pdnn_export_constant(onnx, PDNN_EXPORT_F64, 1, &width, values));
    free(values);
    if (k == 0)
        y = pdnn_export_op2(onnx, "Add", y, pdnn_export_constant(onnx, PDNN_EXPORT_F64, 0, NULL, &phase));
    y = pdnn_export_op1(onnx, "Cast", pdnn_export_op1(onnx, "Sin", y));
    pdnn_export_add_whole(onnx, "to", PDNN_EXPORT_F32);
    return pdnn_export_keep(onnx, k, y);
}

/* y = x cos a + [-x2 x1] sin a, as models of Transformers write it. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *shape = pdnn_export_shape_in(onnx, PDNN_ROPE_X);
    const int64_t *attr = onnx->at->attr, B = attr[PDNN_ROPE_SEQUENCES], heads = attr[PDNN_ROPE_HEADS],
                  width = attr[PDNN_ROPE_WIDTH], half = width / 2, n = shape->dim[0] / B,
                  columns = heads * width, first = attr[PDNN_ROPE_COLUMN];
    const uint32_t whole = pdnn_export_in(onnx, PDNN_ROPE_X);
    uint32_t x = columns < shape->dim[1] ? pdnn_export_slice(onnx, whole, 1, first, columns) : whole;
    x = pdnn_export_reshape(onnx, x, 4, (int64_t[]){B, n, heads, width});
    const uint32_t back = pdnn_export_op1(onnx, "Neg", pdnn_export_slice(onnx, x, 3, half, half)),
                   turned = pdnn_export_concat(onnx, 2,
                                               (uint32_t[]){back, pdnn_export_slice(onnx, x, 3, 0, half)}, 3);
    uint32_t y = pdnn_export_op2(onnx, "Add", pdnn_export_op2(onnx, "Mul", x, turns(onnx, n, 0)),
                                 pdnn_export_op2(onnx, "Mul", turned, turns(onnx, n, 1)));
    y = pdnn_export_reshape(onnx, y, 2, (int64_t[]){shape->dim[0], columns});
    return pdnn_export_put(onnx, whole, y, 1, shape->dim[1], first, columns);
}

const struct pdnn_op_def pdnn_op_rope = {
    .name = "rope",
    .category = "positions",
    .formula = "y = x turned by position * theta^(-2i/width), pair by pair of each head",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"sequences", PDNN_ROPE_SEQUENCES, .required = true},
                   {"heads", PDNN_ROPE_HEADS, .fallback = "1"},
                   {"width", PDNN_ROPE_WIDTH, .required = true},
                   {"column", PDNN_ROPE_COLUMN},
                   {"position", PDNN_ROPE_POSITION},
                   {"theta", PDNN_ROPE_THETA, .coefficient = true}},
    .coef = {[PDNN_ROPE_THETA] = 10000},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = reference, .bytes = bytes, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = reference, .bytes = bytes, .in_place = 1}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
