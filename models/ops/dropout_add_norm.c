/* dropout_add_norm: dropout, residual sum and layernorm in one pass:
 *   z = x * mask / (1 - percent/100) + residual;  y = layernorm(z) as in models/ops/layernorm.c
 * R rows (tokens), H width. Inputs: x, residual, gamma, beta and, in training with a percentage, the
 * counter of models/ops/dropout.c, whose mask is used. Outputs: y; z, unless y_only says that nobody
 * reads it (in inference only); in training mean and inverse_std of the rows of z, and the counter.
 * Backward is one node:
 *   dresidual = layernorm's gradient + gradients of z from other readers,
 *   dx = dresidual * mask / (1 - percent/100), dgamma and dbeta.
 * FLOP: models/ops/norm_rows.h, plus per value 1 for dropout and 1 for each sum; 1 for the counter. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/norm_rows.h"

#include <string.h>

static bool drops(const struct pdnn_node *node) {
    return node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN] && node->attr[PDNN_DROPOUT_ADD_NORM_PERCENT] > 0;
}

static bool has_dz(const struct pdnn_node *node) {
    return node->n_inputs - drops(node) > PDNN_DROPOUT_ADD_NORM_BACK_DZ;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_X),
                             *residual = pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_RESIDUAL);
    int64_t percent = node->attr[PDNN_DROPOUT_ADD_NORM_PERCENT];
    bool train = node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN], y_only = node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY];
    if (node->n_inputs != PDNN_DROPOUT_ADD_NORM_COUNTER + drops(node) || percent < 0 ||
        percent > PDNN_DROPOUT_PERCENT_MAX ||
        !pdnn_norm_rows_fit(x, pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_GAMMA),
                            pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_BETA)) ||
        residual->rank != x->rank || memcmp(residual->dim, x->dim, sizeof x->dim) != 0 || (train && y_only) ||
        (drops(node) && !pdnn_is_dropout_counter(pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_COUNTER))))
        return pdnn_fail(err, PDNN_INVALID,
                         "dropout_add_norm: expected input and residual (R, H), gamma (H), beta (H), in "
                         "training a counter (1) for 1 to %d percent, and both results",
                         PDNN_DROPOUT_PERCENT_MAX);
    for (int k = PDNN_DROPOUT_ADD_NORM_Y; k <= (y_only ? PDNN_DROPOUT_ADD_NORM_Y : PDNN_DROPOUT_ADD_NORM_Z);
         k++) {
        outputs[k].rank = x->rank;
        memcpy(outputs[k].dim, x->dim, sizeof x->dim);
    }
    if (train)
        pdnn_norm_rows_statistics(x, outputs + PDNN_DROPOUT_ADD_NORM_MEAN, 2);
    if (drops(node)) {
        outputs[PDNN_DROPOUT_ADD_NORM_NEW_COUNTER].rank = 1;
        outputs[PDNN_DROPOUT_ADD_NORM_NEW_COUNTER].dim[0] = 1;
    }
    return PDNN_OK;
}

/* If nothing is dropped, dx is dresidual. */
static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    const struct pdnn_graph *graph = pdnn_backward_graph(backward);
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_DROPOUT_ADD_NORM_Y]),
             dz = pdnn_backward_of(backward, node->output[PDNN_DROPOUT_ADD_NORM_Z]);
    if (!node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN] || dy == PDNN_NONE) {
        pdnn_backward_refuse(backward, "dropout_add_norm: no gradient but in training, of a y that is used");
        return;
    }
    const uint32_t targets[] = {
        [PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL] = node->input[PDNN_DROPOUT_ADD_NORM_RESIDUAL],
        [PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA] = node->input[PDNN_DROPOUT_ADD_NORM_GAMMA],
        [PDNN_DROPOUT_ADD_NORM_BACK_DBETA] = node->input[PDNN_DROPOUT_ADD_NORM_BETA],
        [PDNN_DROPOUT_ADD_NORM_BACK_DX] = drops(node) ? node->input[PDNN_DROPOUT_ADD_NORM_X] : PDNN_NONE,
        PDNN_NONE};
    uint32_t inputs[PDNN_DROPOUT_ADD_NORM_BACK_INPUTS + 1] = {
        [PDNN_DROPOUT_ADD_NORM_BACK_DY] = dy,
        [PDNN_DROPOUT_ADD_NORM_BACK_Z] = node->output[PDNN_DROPOUT_ADD_NORM_Z],
        [PDNN_DROPOUT_ADD_NORM_BACK_GAMMA] = node->input[PDNN_DROPOUT_ADD_NORM_GAMMA],
        [PDNN_DROPOUT_ADD_NORM_BACK_MEAN] = node->output[PDNN_DROPOUT_ADD_NORM_MEAN],
        [PDNN_DROPOUT_ADD_NORM_BACK_INVERSE_STD] = node->output[PDNN_DROPOUT_ADD_NORM_INVERSE_STD]};
    int n = PDNN_DROPOUT_ADD_NORM_BACK_DZ;
    if (dz != PDNN_NONE)
        inputs[n++] = dz;
    if (drops(node))
        inputs[n++] = node->input[PDNN_DROPOUT_ADD_NORM_COUNTER];
    inputs[n] = PDNN_NONE;
    size_t at = graph->n_nodes;
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
    if (!drops(node) && graph->n_nodes > at &&
        pdnn_backward_wants(backward, node->input[PDNN_DROPOUT_ADD_NORM_X]))
        pdnn_backward_pass_on(backward, node->input[PDNN_DROPOUT_ADD_NORM_X],
                              graph->nodes[at].output[PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL]);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_X);
    pdnn_norm_rows_flop(x, 1 + drops(node) + PDNN_NORM_FLOP, PDNN_NORM_ROW_FLOP, count);
    pdnn_count_add(count, pdnn_dropout_counts(node, PDNN_DROPOUT_ADD_NORM_NEW_COUNTER), 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    const struct pdnn_tensor *z = pdnn_node_in(graph, node, PDNN_DROPOUT_ADD_NORM_BACK_Z);
    pdnn_norm_rows_flop(z, PDNN_NORM_BACK_FLOP + has_dz(node) + drops(node), PDNN_NORM_BACK_ROW_FLOP, count);
}

/* y = x * mask; y may be x. */
static void drop(struct pdnn_reference *r, int counter, const double *x, double *y, int64_t n) {
    struct pdnn_dropout_mask mask =
        pdnn_dropout_mask_of(r, counter, r->node->attr[PDNN_DROPOUT_ADD_NORM_PERCENT]);
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] * pdnn_dropout_mask_at(&mask, i);
        r->flop += 1;
    }
}

/* y += x. */
static void add(struct pdnn_reference *r, const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        y[i] += x[i];
        r->flop += 1;
    }
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, PDNN_DROPOUT_ADD_NORM_X);
    bool train = r->node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN];
    bool y_only = r->node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY];
    int64_t R = x->dim[0], H = x->dim[1];
    double *z = pdnn_ref_out(r, y_only ? PDNN_DROPOUT_ADD_NORM_Y : PDNN_DROPOUT_ADD_NORM_Z);
    if (drops(r->node)) {
        pdnn_dropout_count(r, PDNN_DROPOUT_ADD_NORM_COUNTER, PDNN_DROPOUT_ADD_NORM_NEW_COUNTER);
        drop(r, PDNN_DROPOUT_ADD_NORM_COUNTER, pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_X), z, R * H);
    } else {
        /* y may be in place of x, and z is y if y_only. */
        memmove(z, pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_X), (size_t)(R * H) * sizeof *z);
    }
    add(r, pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_RESIDUAL), z, R * H);
    for (int64_t row = 0; row < R; row++)
        pdnn_norm_row_forward(
            r, &(struct pdnn_norm_row){
                   .x = z + row * H,
                   .gamma = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_GAMMA),
                   .beta = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BETA),
                   .y = pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_Y) + row * H,
                   .mean = train ? pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_MEAN) + row : NULL,
                   .inverse_std = train ? pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_INVERSE_STD) + row : NULL,
                   .epsilon = r->node->coef[PDNN_DROPOUT_ADD_NORM_EPSILON],
                   .H = H});
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *z = pdnn_node_in(r->graph, r->node, PDNN_DROPOUT_ADD_NORM_BACK_Z);
    int64_t R = z->dim[0], H = z->dim[1];
    double *dresidual = pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL);
    memset(pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA), 0, (size_t)H * sizeof(double));
    memset(pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DBETA), 0, (size_t)H * sizeof(double));
    for (int64_t row = 0; row < R; row++)
        pdnn_norm_row_backward(r,
                               &(struct pdnn_norm_row_backward){
                                   .dy = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_DY) + row * H,
                                   .x = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_Z) + row * H,
                                   .gamma = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_GAMMA),
                                   .dx = dresidual + row * H,
                                   .dgamma = pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA),
                                   .dbeta = pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DBETA),
                                   .mean = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_MEAN)[row],
                                   .inverse_std = pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_INVERSE_STD)[row],
                                   .H = H,
                               });
    if (has_dz(r->node))
        add(r, pdnn_ref_in(r, PDNN_DROPOUT_ADD_NORM_BACK_DZ), dresidual, R * H);
    if (drops(r->node))
        drop(r, r->node->n_inputs - 1, dresidual, pdnn_ref_out(r, PDNN_DROPOUT_ADD_NORM_BACK_DX), R * H);
}

const struct pdnn_op_def pdnn_op_dropout_add_norm = {
    .name = "dropout_add_norm",
    .formula = "z = dropout(x) + residual; y = layernorm(z)",
    .attributes = {{"percent", PDNN_DROPOUT_ADD_NORM_PERCENT},
                   {"train", PDNN_DROPOUT_ADD_NORM_TRAIN},
                   {"y_only", PDNN_DROPOUT_ADD_NORM_Y_ONLY},
                   {"epsilon", PDNN_DROPOUT_ADD_NORM_EPSILON, .coefficient = true}},
    .coef = {[PDNN_DROPOUT_ADD_NORM_EPSILON] = 1e-5},
    .outputs = {"y", "z", "mean", "inverse_std", "new_counter"},
    .updates = {[PDNN_DROPOUT_ADD_NORM_NEW_COUNTER] = 1 + PDNN_DROPOUT_ADD_NORM_COUNTER},
    .infer = infer,
    .gradient = gradient,
    PDNN_NORM_ROWS(forward_flop, forward, backward_flop, backward_data),
};
