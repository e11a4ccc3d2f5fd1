/* Root mean square normalization of rows, and its gradients, computed in f32. Formula: models/ops/rmsnorm.c.
 * A row is reduced, then scaled. Of R rows of ld floats, `heads` parts of H side by side from `column` on are
 * normalized, each as a row of its own, and the rest is copied; arrays are (R, ld) unless stated. */
#ifndef RUNTIME_KERNELS_ROWS_RMSNORM_H
#define RUNTIME_KERNELS_ROWS_RMSNORM_H

#include "runtime/kernels/rows/layernorm.h"

/* Forward reads x and gamma; backward also dy and inverse_rms. */
struct pdnn_rmsnorm {
    int64_t R, H;
    int64_t heads, column, ld;
    enum pdnn_stored stored; /* of x, y, dy and dx; the others are f32 */
    const void *x, *dy;      /* dy: backward */
    const float *gamma;      /* (H) */
    struct pdnn_layernorm_result y, dx;
    float *dgamma;      /* (H) */
    float *scratch;     /* backward: pdnn_rmsnorm_backward_scratch floats */
    float *inverse_rms; /* (R * heads); forward may be NULL */
    float epsilon;
};

void pdnn_rmsnorm_forward(const struct pdnn_rmsnorm *job, int64_t threads);

int64_t pdnn_rmsnorm_backward_scratch(int64_t R, int64_t H);

/* dgamma is summed per block of rows, then over the blocks: the same for any number of threads. */
void pdnn_rmsnorm_backward(const struct pdnn_rmsnorm *job, int64_t threads);

#endif
