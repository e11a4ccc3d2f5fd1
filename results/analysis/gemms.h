/* The matrix products of one instance by their shapes, the property in which they differ most. M x N x K is
 * in the BLAS convention with column-major matrices: M output units, N rows (tokens), K is summed over. For
 * backward-weights, M x N is the shape of the weights and K the number of rows. Shapes come from the rows of
 * dense and matmul in ops.csv. */
#ifndef RESULTS_ANALYSIS_GEMMS_H
#define RESULTS_ANALYSIS_GEMMS_H

#include "base/arena.h"
#include "results/tables/columns.h"
#include "results/tables/record.h"
#include "results/analysis/work.h"

struct pdnn_gemm_shape {
    int64_t m, n, k;
    int64_t batch; /* products of this shape in one call of the op */
};

/* False if the op is not a matrix product, or if its shape is not one that this program writes. */
bool pdnn_gemm_parse(const struct pdnn_op_record *op, struct pdnn_gemm_shape *shape);

/* 2 M N K times the executions of the row, excluding what is fused into it.
 * PDNN_ABSENT if it does not fit. */
uint64_t pdnn_gemm_flop(const struct pdnn_gemm_shape *shape, uint64_t count);

enum { PDNN_GEMM_WORDS_TEXT = 128 };

/* All rows of one shape. */
struct pdnn_gemm {
    const char *id; /* borrowed from the rows */
    struct pdnn_gemm_shape shape;
    char groups[PDNN_GEMM_WORDS_TEXT], passes[PDNN_GEMM_WORDS_TEXT]; /* joined by ", " */
    struct pdnn_op_sum work;
};

extern const struct pdnn_columns pdnn_gemms_columns; /* rows: struct pdnn_gemm */

/* The shapes of a step, the slowest first, in the arena; empty if the step has no matrix product. */
void pdnn_gemms(const struct pdnn_op_rows *rows, struct pdnn_arena *arena, struct pdnn_gemm **gemms,
                size_t *n_gemms);

#endif
