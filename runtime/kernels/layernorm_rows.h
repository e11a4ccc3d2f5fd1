/* What layernorm.c and layernorm_backward.c have in common: loops over the columns of a row, in steps of
 * several vectors and then, for what is left, one vector or a part of it at a time. */
#ifndef RUNTIME_KERNELS_LAYERNORM_ROWS_H
#define RUNTIME_KERNELS_LAYERNORM_ROWS_H

#include "runtime/kernels/dropout_mask.h"

/* STEP floats are as many vectors as sums have chains, since an addition takes 3 or 4 cycles. LINE floats are
 * a cache line. What lies AHEAD is fetched, in whole rows. Streaming stores need rows of whole VECTORs. */
enum {
    PDNN_ROWS_CHAINS = 4,
    PDNN_ROWS_STEP = PDNN_ROWS_CHAINS * PDNN_LANES8,
    PDNN_ROWS_LINE = 16,
    PDNN_ROWS_AHEAD = 1024,
    PDNN_ROWS_VECTOR = 4,
};

static inline int64_t pdnn_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t pdnn_whole_lines(int64_t floats) {
    return (floats + PDNN_ROWS_LINE - 1) / PDNN_ROWS_LINE * PDNN_ROWS_LINE;
}

/* Where the row to fetch begins while `row` is worked on, of those before end. */
static inline int64_t pdnn_row_ahead(int64_t row, int64_t end, int64_t H) {
    return pdnn_least(row + (PDNN_ROWS_AHEAD + H - 1) / H, end - 1) * H;
}

/* A row is read twice, and each time half of the row ahead is fetched on the way, so that memory is busy all
 * the time: a line at every step. `half` is 0 or 1, i the column, of H. Into the second cache: the first one
 * is full of this row. */
PDNN_INLINE void pdnn_fetch(const float *array, int64_t ahead, int half, int64_t i, int64_t H) {
    __builtin_prefetch(array + ahead + half * (pdnn_whole_lines(H) / 2) + i / 2, 0, 2);
}

/* The first n floats, `rest` in the other lanes. */
PDNN_INLINE void pdnn_load_some(pdnn_floats8 *v, const float *from, int64_t n, float rest) {
    if (n == PDNN_LANES8) {
        pdnn_load8(v, from);
        return;
    }
    float lanes[PDNN_LANES8] = {rest, rest, rest, rest, rest, rest, rest, rest};
    __builtin_memcpy(lanes, from, (uint64_t)n * sizeof *from);
    pdnn_load8(v, lanes);
}

/* bypass: past the caches, where n is a whole vector. */
PDNN_INLINE void pdnn_store_some(float *to, const pdnn_floats8 *v, int64_t n, bool bypass) {
    if (n == PDNN_LANES8)
        pdnn_store8(to, v, bypass);
    else
        __builtin_memcpy(to, v, (uint64_t)n * sizeof *to);
}

PDNN_INLINE float pdnn_chains_total(const pdnn_floats8 *chain) {
    pdnn_floats8 v = (chain[0] + chain[1]) + (chain[2] + chain[3]);
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

#endif
