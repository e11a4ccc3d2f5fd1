/* Table lookup and the gradient of the table, in f32. R ids, V rows of the table, E columns; ids are
 * in [0, V). */
#ifndef RUNTIME_KERNELS_SEQUENCE_EMBEDDING_H
#define RUNTIME_KERNELS_SEQUENCE_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_embedding {
    const int32_t *ids; /* (R) */
    const float *from;  /* forward: the table (V, E); backward: dy (R, E) */
    const float *rest;  /* backward: initial value of the sums (V, E), may be `to`; NULL: 0 */
    float *to;          /* forward: y (R, E); backward: the table's gradient (V, E); 16-byte aligned */
    int64_t R, V, E;
    bool bypass;      /* streaming stores: for results larger than the caches */
    int64_t *scratch; /* backward: pdnn_embedding_scratch integers */
};

int64_t pdnn_embedding_scratch(int64_t R, int64_t V);

/* y[r] = table[ids[r]]. */
void pdnn_embedding_forward(const struct pdnn_embedding *job, int64_t threads);

/* Row v = row v of rest + sum of dy[r] with ids[r] = v; bitwise the same for any number of threads. */
void pdnn_embedding_backward(const struct pdnn_embedding *job, int64_t threads);

#endif
