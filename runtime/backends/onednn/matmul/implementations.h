/* What can run a batched product of heads (models/heads.h), op `matmul`: the library's matmul on strided
 * tensors, its sgemm head by head, or our own kernel. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_IMPLEMENTATIONS_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_IMPLEMENTATIONS_H

#include "runtime/lowering/matmul_heads.h"
#include "runtime/backends/onednn/library/primitive.h"

enum pdnn_onednn_matmul_way {
    PDNN_ONEDNN_MATMUL_PRIMITIVE,
    PDNN_ONEDNN_MATMUL_SGEMM,
    PDNN_ONEDNN_MATMUL_KERNEL,
    PDNN_ONEDNN_MATMUL_WAY_COUNT
};

/* Of both operands, and of the result. */
struct pdnn_onednn_matmul_dtypes {
    enum pdnn_dtype in, out;
};

/* What multiplies in this way; its state is in the arena. PDNN_UNSUPPORTED if there is no such way, or if the
 * library has only a reference implementation where other ways exist. */
enum pdnn_status pdnn_onednn_matmul_work(struct pdnn_onednn_pool *pool, struct pdnn_arena *arena,
                                         const struct pdnn_heads_product *product,
                                         struct pdnn_onednn_matmul_dtypes dtypes,
                                         enum pdnn_onednn_matmul_way way, int64_t threads,
                                         struct pdnn_matmul_work *work, struct pdnn_err *err);

#endif
