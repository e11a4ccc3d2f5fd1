/* Where the matrices of the op `matmul` lie: one per sequence and head, in a strided tensor. They are either
 * columns of rows that all heads share, tensor (B*rows, ld), or consecutive, tensor (B*h, rows, columns). B
 * sequences, h heads, d width of a head. */
#ifndef MODELS_HEADS_H
#define MODELS_HEADS_H

#include "models/graph.h"

/* Element (r, c) of matrix i of sequence b is at offset + b*sequence_stride + i*head_stride
 * + r*row_stride + c. There may be fewer matrices than heads, which then share them: head i has matrix
 * i * heads / h. */
struct pdnn_heads {
    int64_t heads;         /* matrices of a sequence; they divide h */
    int64_t rows, columns; /* of each matrix */
    int64_t offset, sequence_stride, head_stride, row_stride;
    bool transposed; /* it is an operand as (columns, rows) */
};

/* y (M, N) = op(a) (M, K) times op(b) (K, N), for every sequence and head; heads that share a matrix of y are
 * summed. With a window, y or a is scores, one matrix per head (n queries, m keys), of which query i sees the
 * keys from i + 1 + m - n - window to i + m - n. Elements of y that are not seen are 0, those of a are not
 * read. */
struct pdnn_heads_product {
    int64_t B, h, M, N, K;
    int64_t window;   /* 0: none */
    bool y_is_scores; /* with a window; else a is */
    struct pdnn_heads a, b, y;
};

/* For a node whose tensors have been checked, in either pass. */
struct pdnn_heads_product pdnn_heads_product_of(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Where the matrix of a head begins. */
static inline int64_t pdnn_heads_at(const struct pdnn_heads_product *product, const struct pdnn_heads *heads,
                                    int64_t sequence, int64_t head) {
    return heads->offset + sequence * heads->sequence_stride +
           head * heads->heads / product->h * heads->head_stride;
}

/* The number of elements in all matrices. */
int64_t pdnn_heads_elements(const struct pdnn_heads_product *product, const struct pdnn_heads *heads);

/* Of the scores of a head: those that are seen, all of them without a window. */
int64_t pdnn_heads_seen(const struct pdnn_heads_product *product, const struct pdnn_heads *scores);

/* The keys [begin, end) that query i of n sees among m; window is not 0. */
static inline void pdnn_heads_window(int64_t n, int64_t m, int64_t window, int64_t i, int64_t *begin,
                                     int64_t *end) {
    *end = i + 1 + m - n > 0 ? i + 1 + m - n : 0;
    *begin = *end > window ? *end - window : 0;
}

#endif
