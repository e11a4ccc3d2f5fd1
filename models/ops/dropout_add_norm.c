/* dropout_add_norm: dropout, residual sum and layernorm in one pass:
 *   z = x * mask / (1 - percent/100) + residual;  y = layernorm(z) as in models/ops/layernorm.c
 * R rows (tokens), H width. Inputs: x, residual, gamma, beta, and in training with a percentage the counter
 * of models/ops/dropout.c, whose mask is used. Outputs: y and z, of which only y where y_only says that
 * nobody reads z (inference of post-norm nets); in training mean and inverse_std of the rows of z, and the
 * counter. Backward is one node: dresidual = layernorm's gradient + what else reached z, dx = dresidual *
 * mask / (1 - percent/100), dgamma and dbeta. FLOP: models/ops/norm_rows.h, and per value 1 each for dropout
 * and for every sum; 1 for the counter. */
#include "models/attributes.h"
#include "models/backward.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/norm_rows.h"

#include <string.h>

enum { X, RESIDUAL, GAMMA, BETA, COUNTER_IN };
enum { Y, Z, MEAN, INVERSE_STD, COUNTER_OUT };
/* What else reached z comes next where there is such a thing, the counter last. */
enum { BACK_DY, BACK_Z, BACK_GAMMA, BACK_MEAN, BACK_INVERSE_STD, BACK_DZ, BACK_COUNTER, BACK_INPUTS };
enum { DRESIDUAL, DGAMMA, DBETA, DX }; /* the last where values are dropped */

static bool drops(const struct pdnn_node *node) {
    return node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN] && node->attr[PDNN_DROPOUT_ADD_NORM_PERCENT] > 0;
}

static bool has_dz(const struct pdnn_node *node) {
    return node->n_inputs - drops(node) > BACK_DZ;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, X),
                             *residual = pdnn_node_in(graph, node, RESIDUAL);
    int64_t percent = node->attr[PDNN_DROPOUT_ADD_NORM_PERCENT];
    bool train = node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN], y_only = node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY];
    if (node->n_inputs != COUNTER_IN + drops(node) || percent < 0 || percent > PDNN_DROPOUT_PERCENT_MAX ||
        !pdnn_norm_rows_fit(x, pdnn_node_in(graph, node, GAMMA), pdnn_node_in(graph, node, BETA)) ||
        residual->rank != x->rank || memcmp(residual->dim, x->dim, sizeof x->dim) != 0 || (train && y_only) ||
        (drops(node) && !pdnn_is_dropout_counter(pdnn_node_in(graph, node, COUNTER_IN))))
        return pdnn_fail(err, PDNN_INVALID,
                         "dropout_add_norm: expected input and residual (R, H), gamma (H), beta (H), in "
                         "training a counter (1) for 1 to %d percent, and both results",
                         PDNN_DROPOUT_PERCENT_MAX);
    for (int k = Y; k <= (y_only ? Y : Z); k++) {
        outputs[k].rank = x->rank;
        memcpy(outputs[k].dim, x->dim, sizeof x->dim);
    }
    if (train)
        pdnn_norm_rows_statistics(x, outputs, MEAN);
    if (drops(node)) {
        outputs[COUNTER_OUT].rank = 1;
        outputs[COUNTER_OUT].dim[0] = 1;
    }
    return PDNN_OK;
}

/* Where nothing is dropped, dx is dresidual. */
static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    const struct pdnn_graph *graph = pdnn_backward_graph(backward);
    uint32_t dy = pdnn_backward_of(backward, node->output[Y]),
             dz = pdnn_backward_of(backward, node->output[Z]);
    if (!node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN] || dy == PDNN_NONE) {
        pdnn_backward_refuse(backward, "dropout_add_norm: no gradient but in training, of a y that is used");
        return;
    }
    const uint32_t targets[] = {[DRESIDUAL] = node->input[RESIDUAL],
                                [DGAMMA] = node->input[GAMMA],
                                [DBETA] = node->input[BETA],
                                [DX] = drops(node) ? node->input[X] : PDNN_NONE,
                                PDNN_NONE};
    uint32_t inputs[BACK_INPUTS + 1] = {[BACK_DY] = dy,
                                        [BACK_Z] = node->output[Z],
                                        [BACK_GAMMA] = node->input[GAMMA],
                                        [BACK_MEAN] = node->output[MEAN],
                                        [BACK_INVERSE_STD] = node->output[INVERSE_STD]};
    int n = BACK_DZ;
    if (dz != PDNN_NONE)
        inputs[n++] = dz;
    if (drops(node))
        inputs[n++] = node->input[COUNTER_IN];
    inputs[n] = PDNN_NONE;
    size_t at = graph->n_nodes;
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
    if (!drops(node) && graph->n_nodes > at && pdnn_backward_wants(backward, node->input[X]))
        pdnn_backward_pass_on(backward, node->input[X], graph->nodes[at].output[DRESIDUAL]);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, X);
    pdnn_count_add(count, x->dim[0], x->dim[1], 1 + drops(node) + PDNN_NORM_FLOP);
    pdnn_count_add(count, x->dim[0], PDNN_NORM_ROW_FLOP, 1);
    pdnn_count_add(count, pdnn_dropout_counts(node, COUNTER_OUT), 1, 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    const struct pdnn_tensor *z = pdnn_node_in(graph, node, BACK_Z);
    pdnn_count_add(count, z->dim[0], z->dim[1], PDNN_NORM_BACK_FLOP + has_dz(node) + drops(node));
    pdnn_count_add(count, z->dim[0], PDNN_NORM_BACK_ROW_FLOP, 1);
}

/* y = x * mask, of n elements from `first` on; y may be x. */
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
    const struct pdnn_tensor *x = pdnn_node_in(r->graph, r->node, X);
    bool train = r->node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN];
    bool y_only = r->node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY];
    int64_t R = x->dim[0], H = x->dim[1];
    double *z = pdnn_ref_out(r, y_only ? Y : Z);
    if (drops(r->node)) {
        pdnn_dropout_count(r, COUNTER_IN, COUNTER_OUT);
        drop(r, COUNTER_IN, pdnn_ref_in(r, X), z, R * H);
    } else {
        memmove(z, pdnn_ref_in(r, X), (size_t)(R * H) * sizeof *z); /* y may have taken the place of x */
    }
    add(r, pdnn_ref_in(r, RESIDUAL), z, R * H);
    for (int64_t row = 0; row < R; row++)
        pdnn_norm_row_forward(
            r, &(struct pdnn_norm_row){.x = z + row * H,
                                       .gamma = pdnn_ref_in(r, GAMMA),
                                       .beta = pdnn_ref_in(r, BETA),
                                       .y = pdnn_ref_out(r, Y) + row * H,
                                       .mean = train ? pdnn_ref_out(r, MEAN) + row : NULL,
                                       .inverse_std = train ? pdnn_ref_out(r, INVERSE_STD) + row : NULL,
                                       .epsilon = r->node->coef[PDNN_DROPOUT_ADD_NORM_EPSILON],
                                       .H = H});
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_tensor *z = pdnn_node_in(r->graph, r->node, BACK_Z);
    int64_t R = z->dim[0], H = z->dim[1];
    double *dresidual = pdnn_ref_out(r, DRESIDUAL);
    memset(pdnn_ref_out(r, DGAMMA), 0, (size_t)H * sizeof(double));
    memset(pdnn_ref_out(r, DBETA), 0, (size_t)H * sizeof(double));
    for (int64_t row = 0; row < R; row++)
        pdnn_norm_row_backward(r, &(struct pdnn_norm_row_backward){
                                      .dy = pdnn_ref_in(r, BACK_DY) + row * H,
                                      .x = pdnn_ref_in(r, BACK_Z) + row * H,
                                      .gamma = pdnn_ref_in(r, BACK_GAMMA),
                                      .dx = dresidual + row * H,
                                      .dgamma = pdnn_ref_out(r, DGAMMA),
                                      .dbeta = pdnn_ref_out(r, DBETA),
                                      .mean = pdnn_ref_in(r, BACK_MEAN)[row],
                                      .inverse_std = pdnn_ref_in(r, BACK_INVERSE_STD)[row],
                                      .H = H,
                                  });
    if (has_dz(r->node))
        add(r, pdnn_ref_in(r, BACK_DZ), dresidual, R * H);
    if (drops(r->node))
        drop(r, r->node->n_inputs - 1, dresidual, pdnn_ref_out(r, DX), R * H);
}

const struct pdnn_op_def pdnn_op_dropout_add_norm = {
    .name = "dropout_add_norm",
    .category = "normalization",
    .formula = "z = dropout(x) + residual; y = layernorm(z)",
    .attr_names = (const char *const[]){"percent", "train", "y_only", NULL},
    .coef_names = (const char *const[]){"epsilon", NULL},
    .coef = {[PDNN_DROPOUT_ADD_NORM_EPSILON] = 1e-5},
    .n_outputs = 5,
    .updates = {[COUNTER_OUT] = 1 + COUNTER_IN},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 2e-6,
};
