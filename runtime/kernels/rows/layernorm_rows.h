/* Common to layernorm.c and layernorm_backward.c. A row is read several times, once per stage. Stages run in
 * a pipeline on successive rows, a BLOCK of columns at a time, so that reads from memory and streaming
 * stores never pause. */
#ifndef RUNTIME_KERNELS_ROWS_LAYERNORM_ROWS_H
#define RUNTIME_KERNELS_ROWS_LAYERNORM_ROWS_H

#include "runtime/kernels/rows/dropout_mask.h"
#include "runtime/kernels/simd/blocks.h"
#include "runtime/kernels/simd/team.h"

/* LINE floats are a cache line. Prefetching runs AHEAD floats ahead, in whole rows. */
enum { PDNN_ROWS_BLOCK = PDNN_MASK_BLOCK, PDNN_ROWS_LINE = 16, PDNN_ROWS_AHEAD = 1024 };

static inline int64_t pdnn_whole_lines(int64_t floats) {
    return (floats + PDNN_ROWS_LINE - 1) / PDNN_ROWS_LINE * PDNN_ROWS_LINE;
}

/* Start of the row to prefetch while `row` is read; stays below row `end`. */
static inline int64_t pdnn_row_ahead(int64_t row, int64_t end, int64_t H) {
    return pdnn_least(row + (PDNN_ROWS_AHEAD + H - 1) / H, end - 1) * H;
}

/* Prefetches n floats of an array from `at`; the array may be NULL. What is widened is fetched then. */
PDNN_INLINE void pdnn_fetch(const void *array, int64_t at, int64_t n, enum pdnn_stored in) {
    for (int64_t k = 0; array && in == PDNN_STORED_F32 && k < n; k += PDNN_ROWS_LINE)
        __builtin_prefetch((const float *)array + at + k);
}

/* Independent accumulators, since an addition has a latency of 3 or 4 cycles; combined once per block. */
enum { PDNN_CHAINS = 4, PDNN_CHAINS_STEP = PDNN_CHAINS * PDNN_LANES };

PDNN_INLINE float pdnn_chains_total(const pdnn_floats *chain) {
    pdnn_floats v = (chain[0] + chain[1]) + (chain[2] + chain[3]);
    return pdnn_sum(&v);
}

#endif
