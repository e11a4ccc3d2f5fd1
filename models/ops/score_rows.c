#include "models/ops/score_rows.h"

#include <math.h>
#include <string.h>

struct pdnn_score_rows pdnn_score_rows_of(const struct pdnn_tensor *scores, int64_t sequences, bool is_causal,
                                          int64_t window) {
    return (struct pdnn_score_rows){
        scores->dim[0], scores->dim[0] / sequences, scores->dim[1], scores->dim[2], is_causal, window};
}

enum pdnn_status pdnn_score_rows_infer(const struct pdnn_node *node, const struct pdnn_tensor *scores,
                                       const struct pdnn_tensor *bias, int64_t sequences,
                                       struct pdnn_tensor *output, struct pdnn_err *err) {
    bool fits = scores->rank == 3 && sequences >= 1 && scores->dim[0] % sequences == 0;
    if (fits && bias && bias->rank == 3)
        fits = bias->dtype == PDNN_F32 && sequences % bias->dim[0] == 0 && bias->dim[1] == scores->dim[1] &&
               bias->dim[2] == scores->dim[2];
    else if (fits && bias)
        fits = bias->rank == 2 && bias->dtype == PDNN_F32 && bias->dim[0] == sequences &&
               bias->dim[1] == scores->dim[2];
    if (!fits)
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s: expected scores (B*h, n, m) and at most a bias in f32, (B, m), or (W, n, m) for W "
            "sequences in turn",
            node->op->name);
    output->rank = scores->rank;
    memcpy(output->dim, scores->dim, sizeof output->dim);
    return PDNN_OK;
}

int64_t pdnn_score_rows_bias(const struct pdnn_tensor *bias, int64_t sequence, int64_t i) {
    if (bias->rank == 2)
        return sequence * bias->dim[1];
    return (sequence % bias->dim[0] * bias->dim[1] + i) * bias->dim[2];
}

/* The end of what row i sees. */
static int64_t end_of(const struct pdnn_score_rows *rows, int64_t i) {
    int64_t end = rows->is_causal ? i + 1 + rows->m - rows->n : rows->m;
    return end > 0 ? end : 0;
}

int64_t pdnn_score_rows_first(const struct pdnn_score_rows *rows, int64_t i) {
    int64_t end = end_of(rows, i);
    return rows->window && end > rows->window ? end - rows->window : 0;
}

int64_t pdnn_score_rows_seen(const struct pdnn_score_rows *rows, int64_t i) {
    return end_of(rows, i) - pdnn_score_rows_first(rows, i);
}

int64_t pdnn_score_rows_count(const struct pdnn_score_rows *rows) {
    return rows->is_causal && rows->m < rows->n ? rows->m : rows->n;
}

/* Causal: the last row sees `last` columns, each row before it one fewer. */
static int64_t triangle(const struct pdnn_score_rows *rows, int64_t last) {
    int64_t count = last < rows->n ? last : rows->n;
    return count > 0 ? count * last - count * (count - 1) / 2 : 0;
}

int64_t pdnn_score_rows_elements(const struct pdnn_score_rows *rows) {
    if (!rows->is_causal)
        return rows->n * rows->m;
    return triangle(rows, rows->m) - (rows->window ? triangle(rows, rows->m - rows->window) : 0);
}

uint64_t pdnn_score_rows_bytes(const struct pdnn_score_rows *rows, enum pdnn_dtype dtype) {
    return (uint64_t)(rows->matrices * pdnn_score_rows_elements(rows)) * pdnn_dtype_bytes(dtype);
}

void pdnn_softmax_row(struct pdnn_reference *r, const double *x, double *y, int64_t k) {
    double max = x[0], sum = 0;
    for (int64_t j = 1; j < k; j++) {
        max = x[j] > max ? x[j] : max;
        r->flop += 1;
    }
    for (int64_t j = 0; j < k; j++) {
        y[j] = x[j] == -INFINITY ? 0 : exp(x[j] - max);
        sum += y[j];
        r->flop += 3;
    }
    for (int64_t j = 0; j < k; j++) {
        y[j] = sum == 0 ? 0 : y[j] / sum;
        r->flop += 1;
    }
}

void pdnn_softmax_row_backward(struct pdnn_reference *r, const double *dy, const double *y, double *dx,
                               int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j < k; j++) {
        sum += dy[j] * y[j];
        r->flop += 2;
    }
    for (int64_t j = 0; j < k; j++) {
        dx[j] = y[j] * (dy[j] - sum);
        r->flop += 2;
    }
}
