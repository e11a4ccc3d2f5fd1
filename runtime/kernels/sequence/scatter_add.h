/* What gated rows hand back, in f32: y[t] is the sum of gate[r] x[r] over the rows r with plan[r] = t
 * (pdnn_embedding_backward with gates). R rows of x, C columns. */
#ifndef RUNTIME_KERNELS_SEQUENCE_SCATTER_ADD_H
#define RUNTIME_KERNELS_SEQUENCE_SCATTER_ADD_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_scatter_add {
    const int32_t *plan;   /* (R) */
    const float *dy;       /* (T, C) */
    const float *x, *gate; /* (R, C), (R) */
    float *dx, *dgate;     /* (R, C), 16-byte aligned; (R) */
    int64_t R, C;
    bool bypass; /* streaming stores of dx: for results larger than the caches */
};

/* dx[r] = gate[r] dy[plan[r]], dgate[r] = the sum of dy[plan[r]] x[r]. */
void pdnn_scatter_add_backward(const struct pdnn_scatter_add *job, int64_t threads);

#endif
