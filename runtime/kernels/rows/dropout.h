/* Dropout in f32, with exactly the mask of models/ops/dropout.c. */
#ifndef RUNTIME_KERNELS_ROWS_DROPOUT_H
#define RUNTIME_KERNELS_ROWS_DROPOUT_H

#include "runtime/kernels/images/channels.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_dropout {
    const float *x;
    float *y; /* may be x; 64-byte aligned for bypass */
    int64_t elements;
    /* Images in blocks of channels, whose mask goes by their place in (N, C, H, W); block 0: anything else.
     */
    struct pdnn_channels images;
    uint64_t seed; /* of this step's mask */
    int64_t percent;
    bool bypass; /* streaming stores: for results larger than the caches; y must not be x */
};

/* y[i] = x[i] / (1 - percent/100), or 0 where the mask drops it. */
void pdnn_dropout_run(const struct pdnn_dropout *job, int64_t threads);

#endif
