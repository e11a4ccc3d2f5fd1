/* groupnorm (Wu and He, 2018), per image and group of C/G neighbouring channels, over their L pixels:
 *   y = gamma*xhat + beta with xhat = (x - mean)*inverse_std and inverse_std = 1/sqrt(variance + epsilon).
 * N minibatch, C channels, L pixels, G groups; gamma and beta (C). Training keeps mean and inverse_std (N, G)
 * for backward, whose formulas are layernorm's, for rows of C/G*L values: 8 FLOP a value and 5 a group, and
 * backward 13 and 2 (models/ops/norm_rows.h). */
#include "models/attributes.h"
#include "models/ops/norm_rows.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_GROUPNORM_X); /* (N, C, H, W) */
    const int64_t groups = node->attr[PDNN_GROUPNORM_GROUPS];
    bool fits = node->n_inputs == PDNN_GROUPNORM_INPUTS && x->rank == 4;
    for (int k = PDNN_GROUPNORM_GAMMA; fits && k < PDNN_GROUPNORM_INPUTS; k++) {
        const struct pdnn_tensor *c = pdnn_node_in(graph, node, k);
        fits = c->rank == 1 && c->dim[0] == x->dim[1];
    }
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "groupnorm: expected images (N, C, H, W), gamma (C) and beta (C)");
    if (groups < 1 || x->dim[1] % groups)
        return pdnn_fail(err, PDNN_INVALID,
                         "groupnorm: groups=%" PRId64 " does not divide %" PRId64 " channels", groups,
                         x->dim[1]);
    outputs[PDNN_GROUPNORM_Y].rank = x->rank;
    memcpy(outputs[PDNN_GROUPNORM_Y].dim, x->dim, sizeof x->dim);
    for (int k = PDNN_GROUPNORM_MEAN; node->attr[PDNN_GROUPNORM_TRAIN] && k <= PDNN_GROUPNORM_INVERSE_STD;
         k++) {
        outputs[k].dtype = PDNN_F32;
        outputs[k].rank = 2;
        outputs[k].dim[0] = x->dim[0];
        outputs[k].dim[1] = groups;
    }
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    pdnn_norm_rows_gradient(backward, node, "groupnorm: no gradient without statistics kept for it");
}

static void count_flop(const struct pdnn_tensor *x, const struct pdnn_node *node, int64_t per_value,
                       int64_t per_group, struct pdnn_count *count) {
    pdnn_count_add(count, pdnn_tensor_elements(x), per_value, 1);
    pdnn_count_add(count, x->dim[0], node->attr[PDNN_GROUPNORM_GROUPS], per_group);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    count_flop(pdnn_node_in(graph, node, PDNN_GROUPNORM_X), node, PDNN_NORM_FLOP, PDNN_NORM_ROW_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    count_flop(pdnn_node_in(graph, node, PDNN_GROUPNORM_BACK_X), node, PDNN_NORM_BACK_FLOP,
               PDNN_NORM_BACK_ROW_FLOP, count);
}

/* Groups of one image and then of the next; L pixels, `channels` of a group. */
struct geometry {
    int64_t count, L, channels;
};

static struct geometry geometry_of(const struct pdnn_reference *r, int x) {
    const int64_t *dim = pdnn_node_in(r->graph, r->node, x)->dim,
                  groups = r->node->attr[PDNN_GROUPNORM_GROUPS];
    return (struct geometry){dim[0] * groups, dim[2] * dim[3], dim[1] / groups};
}

static void forward(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r, PDNN_GROUPNORM_X);
    const bool train = r->node->attr[PDNN_GROUPNORM_TRAIN];
    for (int64_t k = 0; k < g.count; k++) {
        const int64_t at = k * g.channels * g.L,
                      channel = k % r->node->attr[PDNN_GROUPNORM_GROUPS] * g.channels;
        pdnn_norm_row_forward(
            r, &(struct pdnn_norm_row){.x = pdnn_ref_in(r, PDNN_GROUPNORM_X) + at,
                                       .gamma = pdnn_ref_in(r, PDNN_GROUPNORM_GAMMA) + channel,
                                       .beta = pdnn_ref_in(r, PDNN_GROUPNORM_BETA) + channel,
                                       .y = pdnn_ref_out(r, PDNN_GROUPNORM_Y) + at,
                                       .mean = train ? pdnn_ref_out(r, PDNN_GROUPNORM_MEAN) + k : NULL,
                                       .inverse_std =
                                           train ? pdnn_ref_out(r, PDNN_GROUPNORM_INVERSE_STD) + k : NULL,
                                       .epsilon = r->node->coef[PDNN_GROUPNORM_EPSILON],
                                       .H = g.channels * g.L,
                                       .pixels = g.L});
    }
}

static void backward_data(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r, PDNN_GROUPNORM_BACK_X);
    const int64_t groups = r->node->attr[PDNN_GROUPNORM_GROUPS];
    const size_t bytes = (size_t)(groups * g.channels) * sizeof(double);
    memset(pdnn_ref_out(r, PDNN_GROUPNORM_BACK_DGAMMA), 0, bytes);
    memset(pdnn_ref_out(r, PDNN_GROUPNORM_BACK_DBETA), 0, bytes);
    for (int64_t k = 0; k < g.count; k++) {
        const int64_t at = k * g.channels * g.L, channel = k % groups * g.channels;
        pdnn_norm_row_backward(r, &(struct pdnn_norm_row_backward){
                                      .dy = pdnn_ref_in(r, PDNN_GROUPNORM_BACK_DY) + at,
                                      .x = pdnn_ref_in(r, PDNN_GROUPNORM_BACK_X) + at,
                                      .gamma = pdnn_ref_in(r, PDNN_GROUPNORM_BACK_GAMMA) + channel,
                                      .dx = pdnn_ref_out(r, PDNN_GROUPNORM_BACK_DX) + at,
                                      .dgamma = pdnn_ref_out(r, PDNN_GROUPNORM_BACK_DGAMMA) + channel,
                                      .dbeta = pdnn_ref_out(r, PDNN_GROUPNORM_BACK_DBETA) + channel,
                                      .mean = pdnn_ref_in(r, PDNN_GROUPNORM_BACK_MEAN)[k],
                                      .inverse_std = pdnn_ref_in(r, PDNN_GROUPNORM_BACK_INVERSE_STD)[k],
                                      .H = g.channels * g.L,
                                      .pixels = g.L});
    }
}

/* As PyTorch writes it: each group of channels is one, whose pixels are normalized. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *shape = pdnn_export_shape_in(onnx, PDNN_GROUPNORM_X);
    const int64_t *dim = shape->dim, groups = onnx->at->attr[PDNN_GROUPNORM_GROUPS],
                  by_channel[] = {dim[1], 1, 1};
    uint32_t y = pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_GROUPNORM_X), 3,
                                     (int64_t[]){dim[0], groups, dim[1] / groups * dim[2] * dim[3]});
    y = pdnn_export_op(onnx, "InstanceNormalization", 3,
                       (uint32_t[]){y, pdnn_export_same(onnx, groups, 1), pdnn_export_same(onnx, groups, 0)});
    pdnn_export_add_number(onnx, "epsilon", onnx->at->coef[PDNN_GROUPNORM_EPSILON]);
    y = pdnn_export_as_output(onnx, y);
    y = pdnn_export_op2(onnx, "Mul", y,
                        pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_GROUPNORM_GAMMA), 3, by_channel));
    return pdnn_export_op2(
        onnx, "Add", y, pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_GROUPNORM_BETA), 3, by_channel));
}

const struct pdnn_op_def pdnn_op_groupnorm = {
    .name = "groupnorm",
    .category = "normalization",
    .formula = "y = gamma*(x - mean)/sqrt(variance + epsilon) + beta, of groups of channels of each image",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"gamma", PDNN_OPERAND_WEIGHT, .shape = "x.channels", .fill = PDNN_FILL_NEAR_ONE,
                  .scale = 0.25},
                 {"beta", PDNN_OPERAND_WEIGHT, .shape = "x.channels", .fill = PDNN_FILL_UNIFORM,
                  .scale = 0.1}},
    .attributes = {{"groups", PDNN_GROUPNORM_GROUPS, .required = true},
                   {"train", PDNN_GROUPNORM_TRAIN, .derived = true, .fallback = "mode == train"},
                   {"epsilon", PDNN_GROUPNORM_EPSILON, .coefficient = true}},
    .coef = {[PDNN_GROUPNORM_EPSILON] = 1e-5},
    .outputs = {"y", "mean", "inverse_std"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_SAMPLE,
    .onnx.write = nodes,
};
