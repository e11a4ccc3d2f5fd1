/* A dense op's forward pass on our own kernel for small batches (runtime/kernels/gemm/dense_few.h),
 * as an alternative to the library's: it reads row-major weights at full memory bandwidth, which
 * the library does not. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_SMALL_BATCH_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_SMALL_BATCH_H

#include "runtime/backends/onednn/dense/shape.h"
#include "runtime/backend/backend.h"
#include "runtime/kernels/gemm/dense_few.h"

/* The post-op as a function of rows; false: it is a sum. */
bool pdnn_onednn_dense_function_of(const struct pdnn_onednn_post_op *post,
                                   struct pdnn_dense_few_function *function);

/* Fills in job, except its addresses. PDNN_UNSUPPORTED for other passes, formats and
 * dtypes, and for more rows. */
enum pdnn_status pdnn_onednn_dense_small_batch_describe(const struct pdnn_onednn_dense_shape *shape,
                                                        enum pdnn_pass pass,
                                                        enum pdnn_onednn_weights_format format,
                                                        struct pdnn_dense_few_job *job, struct pdnn_err *err);

/* Appends a call that runs the job on these slots. */
void pdnn_onednn_dense_small_batch_append(struct pdnn_program *program, struct pdnn_call *call,
                                          const struct pdnn_dense_few_job *job,
                                          const struct pdnn_onednn_dense_slots *slots, int64_t threads);

#endif
