/* The matrix products of one instance by their shapes, from the rows of dense and matmul in ops.csv. M x N x
 * K is in the BLAS convention with column-major matrices: M output units, N rows (tokens), K is summed over.
 * For backward-weights, M x N is the shape of the weights and K the number of rows. */
#ifndef RESULTS_QUERY_GEMMS_H
#define RESULTS_QUERY_GEMMS_H

#include "base/arena.h"
#include "results/table/table.h"
#include "results/store/results.h"
#include "results/query/shares.h"

struct pdnn_gemm_shape {
    int64_t m, n, k;
    int64_t batch; /* products of this shape in one call of the op */
};

/* False if the op is not a matrix product, or if its shape is not one that this program writes. */
bool pdnn_gemm_parse(const struct pdnn_op_record *op, struct pdnn_gemm_shape *shape);

/* 2 M N K times the executions of the row, without what is fused into it; PDNN_ABSENT if it does not fit. */
uint64_t pdnn_gemm_flop(const struct pdnn_gemm_shape *shape, uint64_t count);

/* The columns of `breakdown --gemms`. */
enum pdnn_gemm_column {
#define GEMM_COLUMN(word, ...) PDNN_GEMM_##word,
#include "results/query/columns/gemms.inc"
#undef GEMM_COLUMN
    PDNN_GEMM_COLUMNS
};
extern const struct pdnn_table_def pdnn_gemms_def;

/* Adds a row for each shape of a step, the slowest first. The arena is for what it needs. */
void pdnn_gemms(const struct pdnn_op_rows *rows, struct pdnn_arena *arena, struct pdnn_table *table);

#endif
