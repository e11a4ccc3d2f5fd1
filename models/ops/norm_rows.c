#include "models/ops/norm_rows.h"

#include "models/attributes.h"
#include "models/transform/backward.h"

#include <math.h>
#include <string.h>

bool pdnn_norm_rows_fit(const struct pdnn_tensor *x, const struct pdnn_tensor *gamma,
                        const struct pdnn_tensor *beta) {
    return x->rank == 2 && gamma->rank == 1 && gamma->dim[0] == x->dim[1] &&
           (!beta || (beta->rank == 1 && beta->dim[0] == x->dim[1]));
}

void pdnn_norm_rows_statistics(const struct pdnn_tensor *x, struct pdnn_tensor *outputs, int count) {
    for (int k = 0; k < count; k++) {
        outputs[k].dtype = PDNN_F32;
        outputs[k].rank = 1;
        outputs[k].dim[0] = x->dim[0];
    }
}

void pdnn_norm_rows_flop(const struct pdnn_tensor *x, int64_t per_value, int64_t per_row,
                         struct pdnn_count *count) {
    pdnn_count_add(count, x->dim[0], x->dim[1], per_value);
    pdnn_count_add(count, x->dim[0], per_row, 1);
}

void pdnn_norm_rows_gradient(struct pdnn_backward *backward, const struct pdnn_node *node,
                             const char *refusal) {
    if (node->n_outputs == 1) {
        pdnn_backward_refuse(backward, refusal);
        return;
    }
    uint32_t targets[PDNN_LAYERNORM_INPUTS + 1],
        inputs[3 + PDNN_OUTPUTS] = {pdnn_backward_of(backward, node->output[0]), node->input[0],
                                    node->n_inputs > 1 ? node->input[1] : PDNN_NONE};
    const int read = node->n_inputs > 1 ? 3 : 2;
    memcpy(targets, node->input, (size_t)node->n_inputs * sizeof *targets);
    memcpy(inputs + read, node->output + 1, (size_t)(node->n_outputs - 1) * sizeof *inputs);
    targets[node->n_inputs] = inputs[read + node->n_outputs - 1] = PDNN_NONE;
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

void pdnn_norm_row_forward(struct pdnn_reference *r, const struct pdnn_norm_row *row) {
    double sum = 0, squares = 0, H = (double)row->H;
    for (int64_t i = 0; i < row->H; i++) {
        sum += row->x[i];
        r->flop += 1;
    }
    double mean = sum / H;
    for (int64_t i = 0; i < row->H; i++) {
        double off = row->x[i] - mean;
        squares += off * off;
        r->flop += 3;
    }
    const int64_t pixels = row->pixels ? row->pixels : 1;
    double inverse_std = 1 / sqrt(squares / H + row->epsilon);
    r->flop += 5;
    for (int64_t i = 0; i < row->H; i++) {
        row->y[i] = (row->x[i] - mean) * inverse_std;
        r->flop += 2;
        if (row->gamma) {
            row->y[i] = row->y[i] * row->gamma[i / pixels] + row->beta[i / pixels];
            r->flop += 2;
        }
    }
    if (row->mean) {
        *row->mean = mean;
        *row->inverse_std = inverse_std;
    }
}

void pdnn_norm_row_backward(struct pdnn_reference *r, const struct pdnn_norm_row_backward *row) {
    const int64_t pixels = row->pixels ? row->pixels : 1;
    double sum = 0, product = 0, H = (double)row->H;
    for (int64_t i = 0; i < row->H; i++) {
        double xhat = (row->x[i] - row->mean) * row->inverse_std, dxhat = row->dy[i];
        if (row->gamma) {
            row->dbeta[i / pixels] += row->dy[i];
            row->dgamma[i / pixels] += row->dy[i] * xhat;
            dxhat *= row->gamma[i / pixels];
            r->flop += 4;
        }
        sum += dxhat;
        product += dxhat * xhat;
        r->flop += 5;
    }
    sum /= H;
    product /= H;
    r->flop += 2;
    for (int64_t i = 0; i < row->H; i++) {
        /* Recomputed; counted in the loop above. */
        double xhat = (row->x[i] - row->mean) * row->inverse_std;
        double dxhat = row->gamma ? row->dy[i] * row->gamma[i / pixels] : row->dy[i];
        row->dx[i] = row->inverse_std * (dxhat - sum - xhat * product);
        r->flop += 4;
    }
}
