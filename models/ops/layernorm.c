/* layernorm (Ba, Kiros, Hinton, 2016), per row of x over its H values:
 *   y = gamma*xhat + beta with xhat = (x - mean)*inverse_std and inverse_std = 1/sqrt(variance + epsilon).
 * R rows (tokens), H width. Training keeps mean and inverse_std (R) for backward. Per
 * row, with dxhat = dy*gamma,
 *   dx = inverse_std*(dxhat - mean of dxhat - xhat * mean of dxhat*xhat);
 * dgamma = sum dy*xhat and dbeta = sum dy over the rows. Backward is one node, because all three come from
 * one read of dy and x. Without gamma and beta, y = xhat and dxhat = dy. FLOP: models/ops/norm_rows.h. */
#include "models/attributes.h"
#include "models/ops/norm_rows.h"
#include "models/onnx/nodes.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_LAYERNORM_X);
    const bool fits = node->n_inputs == PDNN_LAYERNORM_INPUTS
                          ? pdnn_norm_rows_fit(x, pdnn_node_in(graph, node, PDNN_LAYERNORM_GAMMA),
                                               pdnn_node_in(graph, node, PDNN_LAYERNORM_BETA))
                          : node->n_inputs == PDNN_LAYERNORM_X + 1 && x->rank == 2;
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID, "layernorm: expected input (R, H), gamma (H) and beta (H)");
    outputs[PDNN_LAYERNORM_Y].rank = x->rank;
    memcpy(outputs[PDNN_LAYERNORM_Y].dim, x->dim, sizeof x->dim);
    if (node->attr[PDNN_LAYERNORM_TRAIN])
        pdnn_norm_rows_statistics(x, outputs + PDNN_LAYERNORM_MEAN, 2);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    pdnn_norm_rows_gradient(backward, node, "layernorm: no gradient without statistics kept for it");
}

static bool is_affine(const struct pdnn_node *node) {
    return node->pass == PDNN_FORWARD ? node->n_inputs == PDNN_LAYERNORM_INPUTS
                                      : node->n_inputs == PDNN_LAYERNORM_BACK_INPUTS;
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    pdnn_norm_rows_flop(pdnn_node_in(graph, node, PDNN_LAYERNORM_X),
                        is_affine(node) ? PDNN_NORM_FLOP : PDNN_NORM_PLAIN_FLOP, PDNN_NORM_ROW_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_norm_rows_flop(pdnn_node_in(graph, node, PDNN_LAYERNORM_BACK_X),
                        is_affine(node) ? PDNN_NORM_BACK_FLOP : PDNN_NORM_PLAIN_BACK_FLOP,
                        PDNN_NORM_BACK_ROW_FLOP, count);
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_LAYERNORM_X);
    bool train = r->node->attr[PDNN_LAYERNORM_TRAIN], affine = is_affine(r->node);
    int64_t H = x->dim[1];
    for (int64_t row = 0; row < x->dim[0]; row++)
        pdnn_norm_row_forward(
            r, &(struct pdnn_norm_row){.x = pdnn_ref_in(r, PDNN_LAYERNORM_X) + row * H,
                                       .gamma = affine ? pdnn_ref_in(r, PDNN_LAYERNORM_GAMMA) : NULL,
                                       .beta = affine ? pdnn_ref_in(r, PDNN_LAYERNORM_BETA) : NULL,
                                       .y = pdnn_ref_out(r, PDNN_LAYERNORM_Y) + row * H,
                                       .mean = train ? pdnn_ref_out(r, PDNN_LAYERNORM_MEAN) + row : NULL,
                                       .inverse_std =
                                           train ? pdnn_ref_out(r, PDNN_LAYERNORM_INVERSE_STD) + row : NULL,
                                       .epsilon = r->node->coef[PDNN_LAYERNORM_EPSILON],
                                       .H = H});
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_LAYERNORM_BACK_X);
    int64_t H = x->dim[1];
    const bool affine = is_affine(r->node);
    double *dgamma = affine ? pdnn_ref_out(r, PDNN_LAYERNORM_BACK_DGAMMA) : NULL,
           *dbeta = affine ? pdnn_ref_out(r, PDNN_LAYERNORM_BACK_DBETA) : NULL;
    const int mean = r->node->n_inputs - 2; /* then comes inverse_std */
    if (affine) {
        memset(dgamma, 0, (size_t)H * sizeof *dgamma);
        memset(dbeta, 0, (size_t)H * sizeof *dbeta);
    }
    for (int64_t row = 0; row < x->dim[0]; row++)
        pdnn_norm_row_backward(r, &(struct pdnn_norm_row_backward){
                                      .dy = pdnn_ref_in(r, PDNN_LAYERNORM_BACK_DY) + row * H,
                                      .x = pdnn_ref_in(r, PDNN_LAYERNORM_BACK_X) + row * H,
                                      .gamma = affine ? pdnn_ref_in(r, PDNN_LAYERNORM_BACK_GAMMA) : NULL,
                                      .dx = pdnn_ref_out(r, PDNN_LAYERNORM_BACK_DX) + row * H,
                                      .dgamma = dgamma,
                                      .dbeta = dbeta,
                                      .mean = pdnn_ref_in(r, mean)[row],
                                      .inverse_std = pdnn_ref_in(r, mean + 1)[row],
                                      .H = H,
                                  });
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const int64_t H = pdnn_export_shape_in(onnx, PDNN_LAYERNORM_X)->dim[1];
    const uint32_t x = pdnn_export_in(onnx, PDNN_LAYERNORM_X);
    uint32_t y;
    if (is_affine(onnx->at))
        y = pdnn_export_op(onnx, "LayerNormalization", PDNN_LAYERNORM_INPUTS,
                           (uint32_t[]){x, pdnn_export_in(onnx, PDNN_LAYERNORM_GAMMA),
                                        pdnn_export_in(onnx, PDNN_LAYERNORM_BETA)});
    else
        y = pdnn_export_op2(onnx, "LayerNormalization", x, pdnn_export_same(onnx, H, 1));
    pdnn_export_add_number(onnx, "epsilon", onnx->at->coef[PDNN_LAYERNORM_EPSILON]);
    return y;
}

const struct pdnn_op_def pdnn_op_layernorm = {
    .name = "layernorm",
    .formula = "y = gamma*(x - mean)/sqrt(variance + epsilon) + beta, of each row",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"gamma", PDNN_OPERAND_WEIGHT, .shape = "x.columns", .fill = PDNN_FILL_NEAR_ONE,
                  .scale = 0.25, .when = "affine"},
                 {"beta", PDNN_OPERAND_WEIGHT, .shape = "x.columns", .fill = PDNN_FILL_UNIFORM, .scale = 0.1,
                  .when = "affine"}},
    .attributes = {{"train", PDNN_LAYERNORM_TRAIN, .derived = true, .fallback = "mode == train"},
                   {"affine", PDNN_SIZE, .fallback = "1"},
                   {"epsilon", PDNN_LAYERNORM_EPSILON, .coefficient = true}},
    .coef = {[PDNN_LAYERNORM_EPSILON] = 1e-5},
    .outputs = {"y", "mean", "inverse_std"},
    .infer = infer,
    .gradient = gradient,
    PDNN_NORM_ROWS(forward_flop, forward, backward_flop, backward_data),
    .onnx.write = nodes,
};
