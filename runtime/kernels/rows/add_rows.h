/* Sums over the rows of a matrix in f32, whose rounding grows with PDNN_SUM_ROWS and not with their number.
 * Inline, for kernels that cut the columns themselves. */
#ifndef RUNTIME_KERNELS_ROWS_ADD_ROWS_H
#define RUNTIME_KERNELS_ROWS_ADD_ROWS_H

#include "runtime/kernels/simd/blocks.h"
#include "runtime/kernels/simd/team.h"

#include <stdint.h>
#include <string.h>

/* PDNN_SUM_COLUMNS sums stay in L1 while their rows stream by. */
enum { PDNN_SUM_COLUMNS = 1024, PDNN_SUM_ROWS = 1024 };

PDNN_INLINE const float *pdnn_sum_row(const float *x, int64_t stride, const int64_t *order, int64_t k) {
    return x + (order ? order[k] : k) * stride;
}

PDNN_INLINE void pdnn_add_few_rows(const float *x, int64_t stride, const int64_t *order, int64_t count,
                                   float *restrict sums, int64_t n) {
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const float *x0 = pdnn_sum_row(x, stride, order, k), *x1 = pdnn_sum_row(x, stride, order, k + 1);
        const float *x2 = pdnn_sum_row(x, stride, order, k + 2), *x3 = pdnn_sum_row(x, stride, order, k + 3);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += (x0[i] + x1[i]) + (x2[i] + x3[i]);
    }
    for (; k < count; k++) {
        const float *x0 = pdnn_sum_row(x, stride, order, k);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += x0[i];
    }
}

/* Adds to n sums the columns of `count` rows of x: those listed in `order`, or the first ones if it is NULL.
 * n is at most PDNN_SUM_COLUMNS if count is more than PDNN_SUM_ROWS. */
PDNN_INLINE void pdnn_add_rows(const float *x, int64_t stride, const int64_t *order, int64_t count,
                               float *restrict sums, int64_t n) {
    float part[PDNN_SUM_COLUMNS];
    if (count <= PDNN_SUM_ROWS) {
        pdnn_add_few_rows(x, stride, order, count, sums, n);
        return;
    }
    for (int64_t k = 0; k < count; k += PDNN_SUM_ROWS) {
        int64_t rows = count - k < PDNN_SUM_ROWS ? count - k : PDNN_SUM_ROWS;
        memset(part, 0, (size_t)n * sizeof *part);
        pdnn_add_few_rows(order ? x : x + k * stride, stride, order ? order + k : NULL, rows, part, n);
        pdnn_add_few_rows(part, 0, NULL, 1, sums, n);
    }
}

/* The same of the first rows of a matrix as it is stored: 16-bit ones are widened a few at a time. n is at
 * most PDNN_SUM_COLUMNS. */
static inline void pdnn_add_stored_rows(const void *x, int64_t stride, int64_t count, float *restrict sums,
                                        int64_t n, enum pdnn_stored in) {
    enum { ROWS = 4 };
    float block[ROWS * PDNN_SUM_COLUMNS], part[PDNN_SUM_COLUMNS];
    if (in == PDNN_STORED_F32) {
        pdnn_add_rows(x, stride, NULL, count, sums, n);
        return;
    }
    for (int64_t first = 0; first < count; first += PDNN_SUM_ROWS) {
        const int64_t end = pdnn_least(first + PDNN_SUM_ROWS, count);
        memset(part, 0, (size_t)n * sizeof *part);
        for (int64_t row = first; row < end; row += ROWS) {
            const int64_t rows = pdnn_least(ROWS, end - row);
            for (int64_t k = 0; k < rows; k++)
                pdnn_block_read_ahead(x, (row + k) * stride, n, block + k * n, in, ROWS * stride);
            pdnn_add_few_rows(block, n, NULL, rows, part, n);
        }
        pdnn_add_few_rows(part, 0, NULL, 1, sums, n);
    }
}

#endif
