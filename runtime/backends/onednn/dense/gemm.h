/* A pass of a dense op as one product by the library's sgemm, which is compiled for no shape. Where the
 * primitives have code of another kind, on AVX2 since oneDNN 3, it is the faster one of large products. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_GEMM_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_GEMM_H

#include "runtime/backends/onednn/dense/shape.h"
#include "runtime/backend/backend.h"
#include "runtime/kernels/gemm/dense_few.h"
#include "runtime/lowering/sgemm.h"

struct pdnn_onednn_dense_gemm {
    struct pdnn_sgemm product; /* without addresses */
    enum pdnn_pass pass;
    bool is_transposed; /* w, or dw, is stored as (I, O) */
    /* On the rows (m, n) of a forward pass, once its product is there. */
    int n_functions;
    struct pdnn_dense_few_function function[PDNN_DENSE_FEW_FUNCTIONS];
};

/* f32, on row-major or column-major weights, for more rows than the kernel for few has. PDNN_UNSUPPORTED
 * otherwise, and for sums and gradients of the bias. */
enum pdnn_status pdnn_onednn_dense_gemm_describe(const struct pdnn_onednn_dense_shape *shape,
                                                 enum pdnn_pass pass, enum pdnn_onednn_weights_format format,
                                                 struct pdnn_onednn_dense_gemm *gemm, struct pdnn_err *err);

/* Appends a call that runs it on these slots. */
void pdnn_onednn_dense_gemm_append(struct pdnn_program *program, struct pdnn_call *call,
                                   const struct pdnn_onednn_dense_gemm *gemm,
                                   const struct pdnn_onednn_dense_slots *slots, int64_t threads);

#endif
