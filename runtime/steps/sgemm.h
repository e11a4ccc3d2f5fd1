/* One product of matrices as a library's sgemm takes it, and what a backend says of that library. */
#ifndef RUNTIME_STEPS_SGEMM_H
#define RUNTIME_STEPS_SGEMM_H

#include <stdbool.h>
#include <stdint.h>

/* c (m, n) = op(a) op(b), or with `accumulate` added to c; row-major, k is the length of the sums. */
struct pdnn_sgemm {
    bool a_transposed, b_transposed, accumulate;
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t a_stride, b_stride, c_stride;
};

struct pdnn_sgemm_library {
    const char *name;                            /* "openblas" */
    int (*sgemm)(const struct pdnn_sgemm *gemm); /* 0, or the library's error code */
    const char *title;                           /* "OpenBLAS" */
    int64_t most;                                /* the largest dimension or stride it takes */
};

#endif
