/* What can run a pass of a dense op: a oneDNN primitive, its sgemm, or our own kernel, on weights in some
 * format. N minibatch, I inputs, O outputs; x (N, I), w (O, I), y (N, O), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_IMPLEMENTATIONS_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_IMPLEMENTATIONS_H

#include "runtime/backends/onednn/dense/gemm.h"
#include "runtime/backends/onednn/dense/shape.h"
#include "runtime/backends/onednn/library/primitive.h"
#include "runtime/kernels/gemm/dense_few.h"

enum pdnn_onednn_dense_way {
    PDNN_ONEDNN_DENSE_INNER_PRODUCT,
    PDNN_ONEDNN_DENSE_MATMUL,
    PDNN_ONEDNN_DENSE_SMALL_BATCH,
    PDNN_ONEDNN_DENSE_GEMM,
    PDNN_ONEDNN_DENSE_WAY_COUNT
};

struct pdnn_onednn_dense_variant {
    enum pdnn_onednn_dense_way way;
    enum pdnn_onednn_weights_format format;
};

enum { PDNN_ONEDNN_DENSE_VARIANTS = PDNN_ONEDNN_DENSE_WAY_COUNT * PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT };

/* The i-th variant; inner products come first. */
static inline struct pdnn_onednn_dense_variant pdnn_onednn_dense_variant_at(int i) {
    return (struct pdnn_onednn_dense_variant){
        (enum pdnn_onednn_dense_way)(i / PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT),
        (enum pdnn_onednn_weights_format)(i % PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT)};
}

/* A pass, ready to be bound. x, w, b, y say which argument of the primitive each tensor is. */
struct pdnn_onednn_dense_pass {
    enum pdnn_onednn_dense_way way;
    struct pdnn_onednn_primitive *primitive; /* NULL: none in this way, but one of these two */
    union {
        struct pdnn_dense_few_job small_batch; /* without addresses */
        struct pdnn_onednn_dense_gemm gemm;
    };
    const struct pdnn_onednn_layout *weights; /* layout of w or dw in this pass, as (O, I) */
    enum pdnn_onednn_arg x, w, b, y;          /* or their gradients */
};

/* The caller gets the primitive, which is NULL on failure. PDNN_UNSUPPORTED if the library does not have it.
 */
enum pdnn_status pdnn_onednn_dense_pass_create(struct pdnn_onednn_pool *pool,
                                               const struct pdnn_onednn_dense_shape *shape,
                                               enum pdnn_pass pass, struct pdnn_onednn_dense_variant variant,
                                               struct pdnn_onednn_dense_pass *made, struct pdnn_err *err);

/* How well the library supports a pass. */
enum pdnn_onednn_dense_support {
    PDNN_ONEDNN_DENSE_NONE,
    PDNN_ONEDNN_DENSE_REFERENCE,
    PDNN_ONEDNN_DENSE_FAST
};

/* The best support over all ways. */
enum pdnn_status pdnn_onednn_dense_pass_support(struct pdnn_onednn_pool *pool,
                                                const struct pdnn_onednn_dense_shape *shape,
                                                enum pdnn_pass pass, enum pdnn_onednn_dense_support *support,
                                                struct pdnn_err *err);

/* The layout of weights in the format; PACKED: as the forward inner product asks for it. */
enum pdnn_status pdnn_onednn_dense_weights_layout(struct pdnn_onednn_pool *pool,
                                                  const struct pdnn_onednn_dense_shape *shape,
                                                  enum pdnn_onednn_weights_format format,
                                                  const struct pdnn_onednn_layout **layout,
                                                  struct pdnn_err *err);

#endif
