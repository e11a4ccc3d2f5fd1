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

struct pdnn_onednn_matmul {
    enum pdnn_onednn_matmul_way way;
    struct pdnn_onednn_primitive *primitive; /* for the library's matmul */
    uint64_t element_bytes;
    struct pdnn_matmul_job multiply; /* for the other ways; its product is always set */
};

/* PDNN_UNSUPPORTED if this way does not exist, or if the library has only a reference implementation
 * where other ways exist. */
enum pdnn_status pdnn_onednn_matmul_create(struct pdnn_onednn_pool *pool,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way way, int64_t threads,
                                           struct pdnn_onednn_matmul *made, struct pdnn_err *err);
void pdnn_onednn_matmul_destroy(struct pdnn_onednn_matmul *made);

/* What the way needs and does, for pdnn_matmul_append. It refers to *made, which must outlive it. */
struct pdnn_matmul_work pdnn_onednn_matmul_work_of(struct pdnn_onednn_matmul *made);

/* "onednn:x64:gemm:jit matmul". Returns buffer. */
enum { PDNN_ONEDNN_MATMUL_TEXT = 48 };
const char *pdnn_onednn_matmul_name(const struct pdnn_onednn_matmul *made,
                                    char buffer[PDNN_ONEDNN_MATMUL_TEXT]);

#endif
