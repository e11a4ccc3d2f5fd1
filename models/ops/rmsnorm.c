/* rmsnorm (Zhang, Sennrich, 2019), per row of x over its H values:
 *   y = gamma*xhat with xhat = x*inverse_rms and inverse_rms = 1/sqrt(mean(x^2) + epsilon).
 * R rows (tokens), H width. Training keeps inverse_rms (R) for backward. With dxhat = dy*gamma, per row
 *   dx = inverse_rms*(dxhat - xhat * mean of dxhat*xhat);
 * dgamma = sum dy*xhat over the rows. Backward is one node, because both come from one read of dy and x.
 * FLOP forward, per value: 2 for the squares, 2 to scale; per row: divide, add, square root,
 * divide. Backward, per value: 1 for xhat, 2 to sum dgamma, 1 for dxhat, 2 for the sum of
 * dxhat*xhat, 3 for dx; per row: divide.
 * With `heads`, each of so many parts of `width` values, side by side from `column` on, is such a row of its
 * own, all with one gamma (width), and inverse_rms is (R * heads). The other columns of x and dy stay as they
 * are, and bytes are those of the heads. */
#include "models/attributes.h"
#include "models/ops/norm_rows.h"
#include "models/onnx/nodes.h"

#include <math.h>
#include <string.h>

enum { FLOP = 4, ROW_FLOP = 4, BACK_FLOP = 9, BACK_ROW_FLOP = 1 };

/* The rows that are normalized: `heads` in each of R rows of ld values. */
struct parts {
    int64_t R, heads, H, column, ld;
};

static struct parts parts_of(const struct pdnn_tensor *x, const int64_t *attr) {
    if (!attr[PDNN_RMSNORM_HEADS])
        return (struct parts){x->dim[0], 1, x->dim[1], 0, x->dim[1]};
    return (struct parts){x->dim[0], attr[PDNN_RMSNORM_HEADS], attr[PDNN_RMSNORM_WIDTH],
                          attr[PDNN_RMSNORM_COLUMN], x->dim[1]};
}

static int64_t first_of(const struct parts *parts, int64_t i) {
    return i / parts->heads * parts->ld + parts->column + i % parts->heads * parts->H;
}

static bool fit(const struct pdnn_tensor *x, const struct pdnn_tensor *gamma, const int64_t *attr) {
    bool is_whole = !attr[PDNN_RMSNORM_HEADS] && !attr[PDNN_RMSNORM_WIDTH] && !attr[PDNN_RMSNORM_COLUMN];
    if (is_whole)
        return pdnn_norm_rows_fit(x, gamma, NULL);
    const struct parts parts = parts_of(x, attr);
    return x->rank == 2 && parts.heads >= 1 && parts.H >= 1 && parts.column >= 0 &&
           parts.heads <= (parts.ld - parts.column) / parts.H && gamma->rank == 1 && gamma->dim[0] == parts.H;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RMSNORM_X);
    if (node->n_inputs != PDNN_RMSNORM_INPUTS ||
        !fit(x, pdnn_node_in(graph, node, PDNN_RMSNORM_GAMMA), node->attr))
        return pdnn_fail(err, PDNN_INVALID,
                         "rmsnorm: expected input (R, H) and gamma (H), or heads of its width within a row");
    outputs[PDNN_RMSNORM_Y].rank = 2;
    memcpy(outputs[PDNN_RMSNORM_Y].dim, x->dim, sizeof x->dim);
    if (node->attr[PDNN_RMSNORM_TRAIN]) {
        pdnn_norm_rows_statistics(x, outputs + PDNN_RMSNORM_INVERSE_RMS, 1);
        outputs[PDNN_RMSNORM_INVERSE_RMS].dim[0] *= parts_of(x, node->attr).heads;
    }
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    pdnn_norm_rows_gradient(backward, node, "rmsnorm: no gradient without what training keeps for it");
}

static void add_flop(const struct pdnn_tensor *x, const int64_t *attr, int64_t per_value, int64_t per_row,
                     struct pdnn_count *count) {
    const struct parts parts = parts_of(x, attr);
    pdnn_count_add(count, parts.R * parts.heads, parts.H, per_value);
    pdnn_count_add(count, parts.R * parts.heads, per_row, 1);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    add_flop(pdnn_node_in(graph, node, PDNN_RMSNORM_X), node->attr, FLOP, ROW_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    add_flop(pdnn_node_in(graph, node, PDNN_RMSNORM_BACK_X), node->attr, BACK_FLOP, BACK_ROW_FLOP, count);
}

/* What is as large as x, of either pass, is read or written in the heads only. */
static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RMSNORM_X);
    const struct parts parts = parts_of(x, node->attr);
    uint64_t used = (uint64_t)(parts.R * parts.heads * parts.H) * pdnn_dtype_bytes(x->dtype);
    bytes[0] = bytes[node->n_inputs] = used;
    if (node->pass == PDNN_BACKWARD_DATA)
        bytes[PDNN_RMSNORM_BACK_X] = used;
}

static void forward_row(struct pdnn_reference *r, const struct parts *parts, int64_t i) {
    const double *gamma = pdnn_ref_in(r, PDNN_RMSNORM_GAMMA);
    const double *x = pdnn_ref_in(r, PDNN_RMSNORM_X) + first_of(parts, i);
    double *y = pdnn_ref_out(r, PDNN_RMSNORM_Y) + first_of(parts, i), squares = 0;
    for (int64_t k = 0; k < parts->H; k++) {
        squares += x[k] * x[k];
        r->flop += 2;
    }
    double inverse_rms = 1 / sqrt(squares / (double)parts->H + r->node->coef[PDNN_RMSNORM_EPSILON]);
    r->flop += 4;
    for (int64_t k = 0; k < parts->H; k++) {
        y[k] = x[k] * inverse_rms * gamma[k];
        r->flop += 2;
    }
    if (r->node->attr[PDNN_RMSNORM_TRAIN])
        pdnn_ref_out(r, PDNN_RMSNORM_INVERSE_RMS)[i] = inverse_rms;
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_RMSNORM_X);
    const struct parts parts = parts_of(x, r->node->attr);
    memmove(pdnn_ref_out(r, PDNN_RMSNORM_Y), pdnn_ref_in(r, PDNN_RMSNORM_X),
            (size_t)pdnn_tensor_elements(x) * sizeof(double));
    for (int64_t i = 0; i < parts.R * parts.heads; i++)
        forward_row(r, &parts, i);
}

/* One row, from dy to dx; dx may be dy. Adds to dgamma. */
static void backward_row(struct pdnn_reference *r, const struct parts *parts, int64_t i) {
    const double *dy = pdnn_ref_in(r, PDNN_RMSNORM_BACK_DY) + first_of(parts, i);
    const double *x = pdnn_ref_in(r, PDNN_RMSNORM_BACK_X) + first_of(parts, i);
    const double *gamma = pdnn_ref_in(r, PDNN_RMSNORM_BACK_GAMMA);
    double inverse_rms = pdnn_ref_in(r, PDNN_RMSNORM_BACK_INVERSE_RMS)[i], product = 0;
    double *dx = pdnn_ref_out(r, PDNN_RMSNORM_BACK_DX) + first_of(parts, i);
    double *dgamma = pdnn_ref_out(r, PDNN_RMSNORM_BACK_DGAMMA);
    for (int64_t k = 0; k < parts->H; k++) {
        double xhat = x[k] * inverse_rms, dxhat = dy[k] * gamma[k];
        dgamma[k] += dy[k] * xhat;
        product += dxhat * xhat;
        r->flop += 6;
    }
    product /= (double)parts->H;
    r->flop += 1;
    for (int64_t k = 0; k < parts->H; k++) {
        double xhat = x[k] * inverse_rms, dxhat = dy[k] * gamma[k]; /* recomputed; counted above */
        dx[k] = inverse_rms * (dxhat - xhat * product);
        r->flop += 3;
    }
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_RMSNORM_BACK_X);
    const struct parts parts = parts_of(x, r->node->attr);
    memset(pdnn_ref_out(r, PDNN_RMSNORM_BACK_DGAMMA), 0, (size_t)parts.H * sizeof(double));
    memmove(pdnn_ref_out(r, PDNN_RMSNORM_BACK_DX), pdnn_ref_in(r, PDNN_RMSNORM_BACK_DY),
            (size_t)pdnn_tensor_elements(x) * sizeof(double));
    for (int64_t i = 0; i < parts.R * parts.heads; i++)
        backward_row(r, &parts, i);
}

/* ONNX has no such op before opset 23. */
static uint32_t normalized(struct pdnn_export *onnx, uint32_t x) {
    uint32_t y = pdnn_export_op2(onnx, "Pow", x, pdnn_export_number(onnx, 2));
    y = pdnn_export_op1(onnx, "ReduceMean", y);
    pdnn_export_add_wholes(onnx, "axes", 1, (int64_t[]){-1});
    y = pdnn_export_op2(onnx, "Add", y, pdnn_export_number(onnx, onnx->at->coef[PDNN_RMSNORM_EPSILON]));
    y = pdnn_export_op2(onnx, "Div", x, pdnn_export_op1(onnx, "Sqrt", y));
    return pdnn_export_op2(onnx, "Mul", y, pdnn_export_in(onnx, PDNN_RMSNORM_GAMMA));
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *x = pdnn_export_shape_in(onnx, PDNN_RMSNORM_X);
    const int64_t *attr = onnx->at->attr, heads = attr[PDNN_RMSNORM_HEADS], width = attr[PDNN_RMSNORM_WIDTH],
                  R = x->dim[0], columns = heads * width, first = attr[PDNN_RMSNORM_COLUMN];
    const uint32_t whole = pdnn_export_in(onnx, PDNN_RMSNORM_X);
    if (!heads)
        return normalized(onnx, whole);
    uint32_t y = columns < x->dim[1] ? pdnn_export_slice(onnx, whole, 1, first, columns) : whole;
    y = normalized(onnx, pdnn_export_reshape(onnx, y, 3, (int64_t[]){R, heads, width}));
    y = pdnn_export_reshape(onnx, y, 2, (int64_t[]){R, columns});
    return pdnn_export_put(onnx, whole, y, 1, x->dim[1], first, columns);
}

const struct pdnn_op_def pdnn_op_rmsnorm = {
    .name = "rmsnorm",
    .category = "normalization",
    .formula = "y = gamma*x/sqrt(mean(x^2) + epsilon), of each row or each of its heads",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"gamma", PDNN_OPERAND_WEIGHT, .shape = "heads > 0 ? width : x.columns",
                  .fill = PDNN_FILL_NEAR_ONE, .scale = 0.25}},
    .attributes = {{"train", PDNN_RMSNORM_TRAIN, .derived = true, .fallback = "mode == train"},
                   {"heads", PDNN_RMSNORM_HEADS},
                   {"width", PDNN_RMSNORM_WIDTH},
                   {"column", PDNN_RMSNORM_COLUMN},
                   {"epsilon", PDNN_RMSNORM_EPSILON, .coefficient = true}},
    .coef = {[PDNN_RMSNORM_EPSILON] = 1e-6},
    .outputs = {"y", "inverse_rms"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .bytes = bytes, .in_place = 1},
             [PDNN_BACKWARD_DATA] =
                 {.flop = backward_flop, .reference = backward_data, .bytes = bytes, .in_place = 1}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_ROW,
    .onnx.write = nodes,
};
