/* Table lookup, sums of rows of a table, and the gradient of the table, in f32; sums also of 16 bit. R ids, V
 * rows of the table, E columns; ids are in [0, V). */
#ifndef RUNTIME_KERNELS_SEQUENCE_EMBEDDING_H
#define RUNTIME_KERNELS_SEQUENCE_EMBEDDING_H

#include "runtime/kernels/simd/half.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_embedding {
    const int32_t *ids; /* (R) */
    const float *from;  /* forward: the table (V, E); backward: dy (R, E) */
    const float *gate;  /* backward: what each row of dy is multiplied by (R); NULL: 1 */
    const float *rest;  /* backward: initial value of the sums (V, E), may be `to`; NULL: 0 */
    float *to;          /* forward: y (R, E); backward: the table's gradient (V, E); 16-byte aligned */
    int64_t R, V, E;
    int64_t bag;      /* backward: rows of dy have this many ids each, one after the other; 0: 1 */
    bool bypass;      /* streaming stores: for results larger than the caches */
    int64_t *scratch; /* backward: pdnn_embedding_scratch integers */
};

int64_t pdnn_embedding_scratch(int64_t R, int64_t V);

/* y[r] = table[ids[r]]. */
void pdnn_embedding_forward(const struct pdnn_embedding *job, int64_t threads);

/* y[n] = the sum of table[ids[n * bag + p]] over p < bag. */
struct pdnn_embedding_bag {
    const int32_t *ids; /* (N, bag) */
    const void *from;   /* the table (V, E), f32 or 16-bit */
    void *to;           /* y (N, E), of the same type */
    int64_t N, bag, E;
    enum pdnn_half type; /* PDNN_HALF_COUNT: f32 */
};
void pdnn_embedding_bag_forward(const struct pdnn_embedding_bag *job, int64_t threads);

/* Row v = row v of rest + sum of gate[r] dy[r] with ids[r] = v, or of dy[r / bag]; bitwise the same for any
 * number of threads. */
void pdnn_embedding_backward(const struct pdnn_embedding *job, int64_t threads);

#endif
