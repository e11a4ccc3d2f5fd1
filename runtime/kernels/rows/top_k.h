/* The k largest values of each row, in f32. R rows, C columns. */
#ifndef RUNTIME_KERNELS_ROWS_TOP_K_H
#define RUNTIME_KERNELS_ROWS_TOP_K_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_top_k {
    const float *x; /* (R, C) */
    float *y;       /* (R, C), may be x; 16-byte aligned */
    int64_t R, C, k;
    bool bypass; /* streaming stores: for results larger than the caches; y must not be x */
};

/* y = x where x is among the k largest of its row, else -infinity; of equal values the first count as larger.
 * NaN stays. */
void pdnn_top_k_run(const struct pdnn_top_k *job, int64_t threads);

#endif
