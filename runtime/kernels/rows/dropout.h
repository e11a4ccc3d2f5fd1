/* Dropout in f32: the mask of models/ops/dropout.c, bit by bit. */
#ifndef RUNTIME_KERNELS_ROWS_DROPOUT_H
#define RUNTIME_KERNELS_ROWS_DROPOUT_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_dropout {
    const float *x;
    float *y; /* may be x; 64-byte aligned for bypass */
    int64_t elements;
    uint64_t seed; /* of the step's mask */
    int64_t percent;
    bool bypass; /* streaming stores: for results that no cache holds and that are not x */
};

/* y[i] = x[i] / (1 - percent/100), or 0 where the mask says so. */
void pdnn_dropout_run(const struct pdnn_dropout *job, int64_t threads);

#endif
