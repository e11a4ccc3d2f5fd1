/* Means along the middle dimension of (outer, n, inner), and their gradient. */
#ifndef RUNTIME_KERNELS_ROWS_MEAN_H
#define RUNTIME_KERNELS_ROWS_MEAN_H

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

/* Backward: x is dx (outer, n, inner) and y is dy (outer, inner). */
struct pdnn_mean_job {
    void *x, *y;
    int64_t outer, n, inner;
    enum pdnn_stored stored; /* of x and y */
    bool bypass;             /* backward: streaming stores */
};

void pdnn_mean_forward(const struct pdnn_mean_job *job, int64_t threads);
void pdnn_mean_backward(const struct pdnn_mean_job *job, int64_t threads);

#endif
