/* Shared by the ops on attention scores: which columns a row sees, and reference kernels for the softmax of a
 * row and its gradient. Scores are (B*h, n, m): B sequences of h heads, n queries, m keys. The last n of the
 * m positions are those of the queries, so causal row i sees columns j <= i + m - n, and with a window only
 * the last so many of them. */
#ifndef MODELS_OPS_SCORE_ROWS_H
#define MODELS_OPS_SCORE_ROWS_H

#include "models/op.h"

struct pdnn_score_rows {
    int64_t matrices; /* B*h */
    int64_t heads, n, m;
    bool is_causal;
    int64_t window; /* 0: none */
};

/* Describes a tensor of scores or of their gradients. */
struct pdnn_score_rows pdnn_score_rows_of(const struct pdnn_tensor *scores, int64_t sequences, bool is_causal,
                                          int64_t window);

/* Checks for scores (B*h, n, m) of this number of sequences, and unless bias is NULL for an f32 bias (B, m),
 * or (W, n, m) for W sequences in turn. Describes an output of the same shape. */
enum pdnn_status pdnn_score_rows_infer(const struct pdnn_node *node, const struct pdnn_tensor *scores,
                                       const struct pdnn_tensor *bias, int64_t sequences,
                                       struct pdnn_tensor *output, struct pdnn_err *err);

/* The element of such a bias that is added to column 0 of row i of a sequence's matrices. */
int64_t pdnn_score_rows_bias(const struct pdnn_tensor *bias, int64_t sequence, int64_t i);

/* The first column that row i of a matrix sees, and how many it sees. */
int64_t pdnn_score_rows_first(const struct pdnn_score_rows *rows, int64_t i);
int64_t pdnn_score_rows_seen(const struct pdnn_score_rows *rows, int64_t i);

/* Per matrix: the number of visible elements, and of rows that see any. */
int64_t pdnn_score_rows_elements(const struct pdnn_score_rows *rows);
int64_t pdnn_score_rows_count(const struct pdnn_score_rows *rows);

/* Bytes of the visible elements of all matrices. */
uint64_t pdnn_score_rows_bytes(const struct pdnn_score_rows *rows, enum pdnn_dtype dtype);

/* y = softmax(x), k > 0 values; y may be x. All 0 if every x is -infinity, as in a row that sees nothing.
 * FLOP: k-1 comparisons; k each of subtract, exp, add, divide. */
enum { PDNN_SOFTMAX_FLOP = 4 }; /* per value, without the comparisons */
void pdnn_softmax_row(struct pdnn_reference *r, const double *x, double *y, int64_t k);

/* dx = y (dy - sum(dy y)); dx may be dy.
 * FLOP: k multiply-adds, k each of subtract and multiply. */
enum { PDNN_SOFTMAX_BACKWARD_FLOP = 4 };
void pdnn_softmax_row_backward(struct pdnn_reference *r, const double *dy, const double *y, double *dx,
                               int64_t k);

#endif
