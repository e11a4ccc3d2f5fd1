/* scatter_add: y[t] = sum of x[r] over the rows r with plan[r] = t, the reverse of a gather. With gates (T,
 * X), of the experts that rows were dealt to (models/cost/deal.h), each row is weighted: gates[t][expert of
 * r] x[r]. dx[r] = dy[plan[r]], times the gate; dgates[t][e] = sum of dy[t] x[r] over the rows r of expert e
 * with plan[r] = t, and 0 where there is none: one node, because both come from one reading of dy. R rows of
 * x, T of y, C columns, X experts. FLOP: an addition for each value, and a multiplication with gates;
 * backward, with gates, 1 for dx and 2 for dgates. */
#include "models/attributes.h"
#include "models/cost/deal.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <string.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_SCATTER_ADD_X);
    const struct pdnn_tensor *plan = pdnn_node_in(graph, node, PDNN_SCATTER_ADD_PLAN);
    const struct pdnn_tensor *gates =
        node->n_inputs == PDNN_SCATTER_ADD_INPUTS ? pdnn_node_in(graph, node, PDNN_SCATTER_ADD_GATES) : NULL;
    int64_t T = node->attr[PDNN_SCATTER_ADD_ROWS];
    bool fits =
        x->rank == 2 && plan->rank == 1 && plan->dtype == PDNN_S32 && plan->dim[0] == x->dim[0] && T >= 1;
    if (fits && gates)
        fits = gates->rank == 2 && gates->dim[0] == T && gates->dtype == x->dtype && x->dim[0] % T == 0;
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "scatter_add: expected rows (R, C), a plan (R), and at most gates (rows, experts)");
    if (gates && pdnn_deal_check("scatter_add", x->dim[0], x->dim[0] / T, gates->dim[1],
                                 node->attr[PDNN_SCATTER_ADD_SKEW], err) != PDNN_OK)
        return err->status;
    outputs[PDNN_SCATTER_ADD_Y].rank = 2;
    outputs[PDNN_SCATTER_ADD_Y].dim[0] = T;
    outputs[PDNN_SCATTER_ADD_Y].dim[1] = x->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    const uint32_t *in = node->input;
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_SCATTER_ADD_Y]);
    bool has_gates = node->n_inputs == PDNN_SCATTER_ADD_INPUTS;
    if (has_gates)
        pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA,
                               (uint32_t[]){in[PDNN_SCATTER_ADD_X], in[PDNN_SCATTER_ADD_GATES], PDNN_NONE},
                               (uint32_t[]){[PDNN_SCATTER_ADD_BACK_DY] = dy,
                                            [PDNN_SCATTER_ADD_BACK_PLAN] = in[PDNN_SCATTER_ADD_PLAN],
                                            [PDNN_SCATTER_ADD_BACK_X] = in[PDNN_SCATTER_ADD_X],
                                            [PDNN_SCATTER_ADD_BACK_GATES] = in[PDNN_SCATTER_ADD_GATES],
                                            PDNN_NONE});
    else if (pdnn_backward_wants(backward, in[PDNN_SCATTER_ADD_X]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, in[PDNN_SCATTER_ADD_X],
                           (uint32_t[]){[PDNN_SCATTER_ADD_BACK_DY] = dy,
                                        [PDNN_SCATTER_ADD_BACK_PLAN] = in[PDNN_SCATTER_ADD_PLAN],
                                        PDNN_NONE});
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    bool has_gates = node->n_inputs == PDNN_SCATTER_ADD_INPUTS;
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_SCATTER_ADD_X)),
                   has_gates ? 2 : 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    bool has_gates = node->n_inputs == PDNN_SCATTER_ADD_BACK_INPUTS;
    pdnn_count_add(count, pdnn_tensor_elements(pdnn_node_out(graph, node, PDNN_SCATTER_ADD_BACK_DX)),
                   has_gates ? 3 : 0, 1);
}

/* Of the gates, one for each row is read; the gradient is written whole. */
static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    bool is_forward = node->pass == PDNN_FORWARD;
    int plan = is_forward ? PDNN_SCATTER_ADD_PLAN : PDNN_SCATTER_ADD_BACK_PLAN;
    int gates = is_forward ? PDNN_SCATTER_ADD_GATES : PDNN_SCATTER_ADD_BACK_GATES;
    if (node->n_inputs > gates)
        bytes[gates] = (uint64_t)pdnn_node_in(graph, node, plan)->dim[0] *
                       pdnn_dtype_bytes(pdnn_node_in(graph, node, gates)->dtype);
}

static void forward(struct pdnn_reference *r) {
    const int64_t *dim = pdnn_node_in(r->graph, r->node, PDNN_SCATTER_ADD_X)->dim, C = dim[1];
    const double *x = pdnn_ref_in(r, PDNN_SCATTER_ADD_X), *plan = pdnn_ref_in(r, PDNN_SCATTER_ADD_PLAN);
    bool has_gates = r->node->n_inputs == PDNN_SCATTER_ADD_INPUTS;
    const double *gates = has_gates ? pdnn_ref_in(r, PDNN_SCATTER_ADD_GATES) : NULL;
    double *y = pdnn_ref_out(r, PDNN_SCATTER_ADD_Y);
    memset(y, 0, (size_t)(r->node->attr[PDNN_SCATTER_ADD_ROWS] * C) * sizeof *y);
    for (struct pdnn_deal deal = pdnn_deal_of_scatter_add(r->graph, r->node); pdnn_deal_next(&deal);) {
        for (int64_t i = deal.first * C; i < (deal.first + deal.count) * C; i++) {
            int64_t t = (int64_t)plan[i / C];
            y[t * C + i % C] += has_gates ? gates[t * deal.experts + deal.expert] * x[i] : x[i];
            r->flop += has_gates ? 2 : 1;
        }
    }
}

static void backward_data(struct pdnn_reference *r) {
    const int64_t *dim = pdnn_node_out(r->graph, r->node, PDNN_SCATTER_ADD_BACK_DX)->dim, C = dim[1];
    const double *dy = pdnn_ref_in(r, PDNN_SCATTER_ADD_BACK_DY);
    const double *plan = pdnn_ref_in(r, PDNN_SCATTER_ADD_BACK_PLAN);
    bool has_gates = r->node->n_inputs == PDNN_SCATTER_ADD_BACK_INPUTS;
    struct pdnn_deal deal = pdnn_deal_of_scatter_add(r->graph, r->node);
    double *dx = pdnn_ref_out(r, PDNN_SCATTER_ADD_BACK_DX), *dgates = NULL;
    if (has_gates) {
        dgates = pdnn_ref_out(r, PDNN_SCATTER_ADD_BACK_DGATES);
        memset(dgates, 0, (size_t)(deal.tokens * deal.experts) * sizeof *dgates);
    }
    while (pdnn_deal_next(&deal)) {
        for (int64_t i = deal.first * C; i < (deal.first + deal.count) * C; i++) {
            int64_t t = (int64_t)plan[i / C], gate = t * deal.experts + deal.expert;
            double of = dy[t * C + i % C];
            if (!has_gates) {
                dx[i] = of;
                continue;
            }
            dx[i] = of * pdnn_ref_in(r, PDNN_SCATTER_ADD_BACK_GATES)[gate];
            dgates[gate] += of * pdnn_ref_in(r, PDNN_SCATTER_ADD_BACK_X)[i];
            r->flop += 3;
        }
    }
}

/* The gate of each row: gates[t][expert]. */
static uint32_t gates_of_rows(struct pdnn_export *onnx, uint32_t plan) {
    const struct pdnn_tensor *gates = pdnn_export_shape_in(onnx, PDNN_SCATTER_ADD_GATES);
    const int64_t R = pdnn_export_shape_in(onnx, PDNN_SCATTER_ADD_X)->dim[0], X = gates->dim[1],
                  T = gates->dim[0];
    int64_t *expert = pdnn_arena_room(onnx->arena, (size_t)R, sizeof *expert);
    for (struct pdnn_deal deal = pdnn_deal_of_scatter_add(onnx->graph, onnx->at); pdnn_deal_next(&deal);) {
        for (int64_t r = deal.first; r < deal.first + deal.count; r++)
            expert[r] = deal.expert;
    }
    uint32_t at = pdnn_export_op2(onnx, "Mul", plan, pdnn_export_wholes(onnx, 1, &X));
    at = pdnn_export_op2(onnx, "Add", at, pdnn_export_wholes(onnx, R, expert));
    const uint32_t flat =
        pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_SCATTER_ADD_GATES), 1, (int64_t[]){T * X});
    return pdnn_export_reshape(onnx, pdnn_export_op2(onnx, "Gather", flat, at), 2, (int64_t[]){R, 1});
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *y = pdnn_export_shape_out(onnx);
    const int64_t R = pdnn_export_shape_in(onnx, PDNN_SCATTER_ADD_X)->dim[0];
    uint32_t x = pdnn_export_in(onnx, PDNN_SCATTER_ADD_X),
             plan = pdnn_export_op1(onnx, "Cast", pdnn_export_in(onnx, PDNN_SCATTER_ADD_PLAN));
    pdnn_export_add_whole(onnx, "to", PDNN_EXPORT_S64);
    if (onnx->at->n_inputs == PDNN_SCATTER_ADD_INPUTS)
        x = pdnn_export_op2(onnx, "Mul", x, gates_of_rows(onnx, plan));
    plan = pdnn_export_reshape(onnx, plan, 2, (int64_t[]){R, 1});
    const uint32_t result =
        pdnn_export_op(onnx, "ScatterND", 3, (uint32_t[]){pdnn_export_spread(onnx, 2, y->dim, 0), plan, x});
    pdnn_export_add_text(onnx, "reduction", "add");
    return result;
}

const struct pdnn_op_def pdnn_op_scatter_add = {
    .name = "scatter_add",
    .category = "embedding",
    .formula = "y[t] = sum of gate x[r] over the rows r with plan[r] = t",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"plan", PDNN_OPERAND_IDS},
                 {"gates", PDNN_OPERAND_DATA, .optional = true}},
    .attributes = {{"rows", PDNN_SCATTER_ADD_ROWS, .required = true}, {"skew", PDNN_SCATTER_ADD_SKEW}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .bytes = bytes},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .bytes = bytes}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_ROW,
    .onnx.write = nodes,
};
