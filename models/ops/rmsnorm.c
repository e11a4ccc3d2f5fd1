/* rmsnorm (Zhang, Sennrich, 2019), per row of x over its H values:
 *   y = gamma*xhat with xhat = x*inverse_rms and inverse_rms = 1/sqrt(mean(x^2) + epsilon).
 * R rows (tokens), H width. Training keeps inverse_rms (R) for backward. With dxhat = dy*gamma, per row
 *   dx = inverse_rms*(dxhat - xhat * mean of dxhat*xhat);
 * dgamma = sum dy*xhat over the rows. Backward is one node, because both come from one read of dy and x.
 * FLOP forward, per value: 2 for the squares, 2 to scale; per row: divide, add, square root,
 * divide. Backward, per value: 1 for xhat, 2 to sum dgamma, 1 for dxhat, 2 for the sum of
 * dxhat*xhat, 3 for dx; per row: divide. */
#include "models/attributes.h"
#include "models/ops/norm_rows.h"

#include <math.h>
#include <string.h>

enum { FLOP = 4, ROW_FLOP = 4, BACK_FLOP = 9, BACK_ROW_FLOP = 1 };

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RMSNORM_X);
    if (node->n_inputs != PDNN_RMSNORM_INPUTS ||
        !pdnn_norm_rows_fit(x, pdnn_node_in(graph, node, PDNN_RMSNORM_GAMMA), NULL))
        return pdnn_fail(err, PDNN_INVALID, "rmsnorm: expected input (R, H) and gamma (H)");
    outputs[PDNN_RMSNORM_Y].rank = 2;
    memcpy(outputs[PDNN_RMSNORM_Y].dim, x->dim, sizeof x->dim);
    if (node->attr[PDNN_RMSNORM_TRAIN])
        pdnn_norm_rows_statistics(x, outputs + PDNN_RMSNORM_INVERSE_RMS, 1);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    pdnn_norm_rows_gradient(backward, node, "rmsnorm: no gradient without what training keeps for it");
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    pdnn_norm_rows_flop(pdnn_node_in(graph, node, PDNN_RMSNORM_X), FLOP, ROW_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    pdnn_norm_rows_flop(pdnn_node_in(graph, node, PDNN_RMSNORM_BACK_X), BACK_FLOP, BACK_ROW_FLOP, count);
}

static void forward(struct pdnn_reference *r) {
    const int64_t *dim = pdnn_node_in(r->graph, r->node, PDNN_RMSNORM_X)->dim, R = dim[0], H = dim[1];
    const double *gamma = pdnn_ref_in(r, PDNN_RMSNORM_GAMMA);
    for (int64_t row = 0; row < R; row++) {
        const double *x = pdnn_ref_in(r, PDNN_RMSNORM_X) + row * H;
        double *y = pdnn_ref_out(r, PDNN_RMSNORM_Y) + row * H, squares = 0;
        for (int64_t i = 0; i < H; i++) {
            squares += x[i] * x[i];
            r->flop += 2;
        }
        double inverse_rms = 1 / sqrt(squares / (double)H + r->node->coef[PDNN_RMSNORM_EPSILON]);
        r->flop += 4;
        for (int64_t i = 0; i < H; i++) {
            y[i] = x[i] * inverse_rms * gamma[i];
            r->flop += 2;
        }
        if (r->node->attr[PDNN_RMSNORM_TRAIN])
            pdnn_ref_out(r, PDNN_RMSNORM_INVERSE_RMS)[row] = inverse_rms;
    }
}

/* One row, from dy to dx; dx may be dy. Adds to dgamma. */
static void backward_row(struct pdnn_reference *r, int64_t row, int64_t H) {
    const double *dy = pdnn_ref_in(r, PDNN_RMSNORM_BACK_DY) + row * H;
    const double *x = pdnn_ref_in(r, PDNN_RMSNORM_BACK_X) + row * H;
    const double *gamma = pdnn_ref_in(r, PDNN_RMSNORM_BACK_GAMMA);
    double inverse_rms = pdnn_ref_in(r, PDNN_RMSNORM_BACK_INVERSE_RMS)[row], product = 0;
    double *dx = pdnn_ref_out(r, PDNN_RMSNORM_BACK_DX) + row * H;
    double *dgamma = pdnn_ref_out(r, PDNN_RMSNORM_BACK_DGAMMA);
    for (int64_t i = 0; i < H; i++) {
        double xhat = x[i] * inverse_rms, dxhat = dy[i] * gamma[i];
        dgamma[i] += dy[i] * xhat;
        product += dxhat * xhat;
        r->flop += 6;
    }
    product /= (double)H;
    r->flop += 1;
    for (int64_t i = 0; i < H; i++) {
        double xhat = x[i] * inverse_rms, dxhat = dy[i] * gamma[i]; /* recomputed; counted above */
        dx[i] = inverse_rms * (dxhat - xhat * product);
        r->flop += 3;
    }
}

static void backward_data(struct pdnn_reference *r) {
    const int64_t *dim = pdnn_node_in(r->graph, r->node, PDNN_RMSNORM_BACK_X)->dim;
    memset(pdnn_ref_out(r, PDNN_RMSNORM_BACK_DGAMMA), 0, (size_t)dim[1] * sizeof(double));
    for (int64_t row = 0; row < dim[0]; row++)
        backward_row(r, row, dim[1]);
}

const struct pdnn_op_def pdnn_op_rmsnorm = {
    .name = "rmsnorm",
    .formula = "y = gamma*x/sqrt(mean(x^2) + epsilon), of each row",
    .attr_names = {[PDNN_RMSNORM_TRAIN] = "train"},
    .coef_names = {[PDNN_RMSNORM_EPSILON] = "epsilon"},
    .coef = {[PDNN_RMSNORM_EPSILON] = 1e-6},
    .n_outputs = 2,
    .infer = infer,
    .gradient = gradient,
    PDNN_NORM_ROWS(forward_flop, forward, backward_flop, backward_data),
};
