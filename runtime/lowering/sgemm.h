/* One matrix product in the form a library's sgemm takes, and a backend's description of that library. */
#ifndef RUNTIME_LOWERING_SGEMM_H
#define RUNTIME_LOWERING_SGEMM_H

#include <stdbool.h>
#include <stdint.h>

/* c (m, n) = op(a) op(b), or c += op(a) op(b) with `accumulate`. Row-major; k is the reduction length. */
struct pdnn_sgemm {
    bool a_transposed, b_transposed, accumulate;
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t a_stride, b_stride, c_stride;
};

struct pdnn_sgemm_library {
    const char *name;                            /* "openblas" */
    int (*sgemm)(const struct pdnn_sgemm *gemm); /* returns 0, or the library's error code */
    char *(*core)(void);                         /* "SkylakeX": which of its kernels run */
    const char *title;                           /* "OpenBLAS" */
    int64_t most;                                /* largest dimension or stride it accepts */
};

#endif
