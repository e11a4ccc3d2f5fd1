/* Rotary positions. Formula: models/ops/rope.c. Of R rows of ld elements, `heads` heads of `width` from
 * `column` on are turned, and the rest is copied. */
#ifndef RUNTIME_KERNELS_ROWS_ROPE_H
#define RUNTIME_KERNELS_ROWS_ROPE_H

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_rope {
    int64_t R, ld, heads, width, column;
    int64_t rows;     /* of each sequence */
    int64_t position; /* of its first row */
    double theta;
    bool back; /* turns the other way */
    enum pdnn_stored stored;
    const void *x;
    void *y;        /* may be x */
    bool bypass;    /* streaming stores, for a y larger than the caches that is not x, 64-byte aligned */
    float *scratch; /* pdnn_rope_scratch floats, 64-byte aligned */
};

int64_t pdnn_rope_scratch(int64_t width, int64_t threads);

void pdnn_rope_run(const struct pdnn_rope *job, int64_t threads);

#endif
