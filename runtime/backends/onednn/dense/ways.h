/* The ways to do a pass of a dense op: which primitive of oneDNN or our own kernel, on weights in which
 * format. N minibatch, I inputs, O outputs; x (N, I), w (O, I), y (N, O), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_WAYS_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_WAYS_H

#include "runtime/backends/onednn/library/library.h"
#include "runtime/kernels/gemm/dense_few.h"

enum { PDNN_DENSE_PASSES = 3 }; /* forward, backward-data, backward-weights: the first of enum pdnn_pass */

enum pdnn_weights_format {
    PDNN_WEIGHTS_ROW_MAJOR,    /* (O, I) */
    PDNN_WEIGHTS_COLUMN_MAJOR, /* stored as (I, O) */
    PDNN_WEIGHTS_PACKED,       /* what the pass's inner product asks for */
    PDNN_WEIGHTS_FORMAT_COUNT
};

/* What the passes of one dense op over one weight tensor have to do. Compared byte by byte: zero it first. */
struct pdnn_dense_shape {
    int64_t N, I, O;
    int64_t footprint_bytes;       /* of the whole step, to a power of two: tells how cold the weights are */
    enum pdnn_dtype dtype;         /* of x and y */
    enum pdnn_dtype weights_dtype; /* of w, or of dw, which is f32 where the others are 16 bit */
    int32_t n_posts;               /* functions fused into the forward pass */
    enum pdnn_onednn_post post[PDNN_NODE_POSTS];
    bool has_pass[PDNN_DENSE_PASSES];
    bool bias;          /* fused into the forward pass */
    bool bias_gradient; /* fused into backward-weights */
    /* Of int8, whose x is stored as u8: */
    bool is_shifted; /* 128 above the values */
    bool is_scaled;  /* the products of scales are a further argument, and y is f32; else y is s32 */
    bool pinned;     /* the weights must stay row-major: others than dense ops and updates use them */
    bool has_home;   /* not pinned: they lie in the format `home` already */
    enum pdnn_weights_format home;
};

struct pdnn_dense_dtypes {
    enum pdnn_dtype x, w, b, y;
};
struct pdnn_dense_dtypes pdnn_dense_dtypes_of(const struct pdnn_dense_shape *shape);

enum pdnn_dense_way { PDNN_DENSE_INNER_PRODUCT, PDNN_DENSE_MATMUL, PDNN_DENSE_OWN, PDNN_DENSE_WAY_COUNT };

struct pdnn_dense_variant {
    enum pdnn_dense_way way;
    enum pdnn_weights_format format;
};

enum { PDNN_DENSE_VARIANTS = PDNN_DENSE_WAY_COUNT * PDNN_WEIGHTS_FORMAT_COUNT };

/* The i-th of all variants, inner products first. */
static inline struct pdnn_dense_variant pdnn_dense_variant_at(int i) {
    return (struct pdnn_dense_variant){(enum pdnn_dense_way)(i / PDNN_WEIGHTS_FORMAT_COUNT),
                                       (enum pdnn_weights_format)(i % PDNN_WEIGHTS_FORMAT_COUNT)};
}

/* A created pass. x, w, b, y say which argument of the primitive is which tensor. */
struct pdnn_dense_pass {
    struct pdnn_onednn_primitive *primitive; /* NULL: our own kernel */
    struct pdnn_dense_few_job own;           /* of that, without addresses */
    struct pdnn_onednn_layout *weights;      /* of w or dw as (O, I), as this pass has it */
    enum pdnn_onednn_arg x, w, b, y;         /* or their gradients */
};

/* PDNN_UNSUPPORTED when the library has no such thing. */
enum pdnn_status pdnn_dense_pass_create(struct pdnn_onednn_library *library,
                                        const struct pdnn_dense_shape *shape, enum pdnn_pass pass,
                                        struct pdnn_dense_variant variant, struct pdnn_dense_pass *made,
                                        struct pdnn_err *err);
void pdnn_dense_pass_destroy(struct pdnn_dense_pass *pass);

/* How well the library does a pass. */
enum pdnn_dense_support { PDNN_DENSE_NONE, PDNN_DENSE_REFERENCE, PDNN_DENSE_FAST };

/* The best of all ways. */
enum pdnn_status pdnn_dense_pass_support(struct pdnn_onednn_library *library,
                                         const struct pdnn_dense_shape *shape, enum pdnn_pass pass,
                                         enum pdnn_dense_support *support, struct pdnn_err *err);

/* The layout of weights in the format; PACKED: what the forward inner product asks for. */
enum pdnn_status pdnn_dense_weights_layout(struct pdnn_onednn_library *library,
                                           const struct pdnn_dense_shape *shape,
                                           enum pdnn_weights_format format,
                                           struct pdnn_onednn_layout **layout, struct pdnn_err *err);

#endif
