/* Where the matrices of the op `matmul` lie: one per sequence and head, in a strided tensor. They are either
 * columns of rows that all heads share, tensor (B*rows, ld), or consecutive, tensor (B*h, rows, columns). B
 * sequences, h heads, d width of a head. */
#ifndef MODELS_HEADS_H
#define MODELS_HEADS_H

#include "models/graph.h"

/* Element (r, c) of head i of sequence b is at offset + b*sequence_stride + i*head_stride
 * + r*row_stride + c. */
struct pdnn_heads {
    int64_t rows, columns; /* of each matrix */
    int64_t offset, sequence_stride, head_stride, row_stride;
    bool transposed; /* it is an operand as (columns, rows) */
};

/* y (M, N) = op(a) (M, K) times op(b) (K, N), for every sequence and head. */
struct pdnn_heads_product {
    int64_t B, h, M, N, K;
    struct pdnn_heads a, b, y;
};

/* For a node whose tensors have been checked, in either pass. */
struct pdnn_heads_product pdnn_heads_product_of(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* The number of elements in all matrices. */
int64_t pdnn_heads_elements(const struct pdnn_heads_product *product, const struct pdnn_heads *heads);

#endif
