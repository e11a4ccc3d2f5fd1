/* What a dense op does, as far as it decides how it runs. N minibatch, I inputs, O outputs; x (N, I), w (O,
 * I), y (N, O), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_SHAPE_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_SHAPE_H

#include "runtime/backends/onednn/library/request.h"
#include "runtime/core/backend.h"

/* Forward, backward-data, backward-weights: the first of enum pdnn_pass. */
enum { PDNN_ONEDNN_DENSE_PASSES = 3 };

enum pdnn_onednn_weights_format {
    PDNN_ONEDNN_WEIGHTS_ROW_MAJOR,    /* (O, I) */
    PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR, /* stored as (I, O) */
    PDNN_ONEDNN_WEIGHTS_PACKED,       /* what the pass's inner product asks for */
    PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT
};

/* What the passes of one dense op over one weight tensor have to do. */
struct pdnn_onednn_dense_shape {
    int64_t N, I, O;
    int64_t footprint_bytes;       /* of the whole step, to a power of two: tells how cold the weights are */
    enum pdnn_dtype dtype;         /* of x and y */
    enum pdnn_dtype weights_dtype; /* of w, or of dw, which is f32 where the others are 16 bit */
    int32_t n_post_ops;            /* functions fused into the forward pass */
    enum pdnn_onednn_post_op post_op[PDNN_NODE_POSTS];
    bool has_pass[PDNN_ONEDNN_DENSE_PASSES];
    bool bias;          /* fused into the forward pass */
    bool bias_gradient; /* fused into backward-weights */
    /* For int8, whose x is stored as u8: */
    bool is_shifted; /* 128 above the values */
    bool is_scaled;  /* the products of scales are a further argument, and y is f32; else y is s32 */
    bool pinned;     /* the weights must stay row-major: others than dense ops and updates use them */
    bool is_placed;  /* not pinned: they are stored in a format already */
    enum pdnn_onednn_weights_format stored;
};

struct pdnn_onednn_dense_dtypes {
    enum pdnn_dtype x, w, b, y;
};
struct pdnn_onednn_dense_dtypes pdnn_onednn_dense_dtypes_of(const struct pdnn_onednn_dense_shape *shape);

/* The tensors of a node of any pass, or their gradients. */
struct pdnn_onednn_dense_tensors {
    uint32_t x, w, y;
};
struct pdnn_onednn_dense_tensors pdnn_onednn_dense_tensors_of(const struct pdnn_node *node);

/* The weight tensor that a node works on, or PDNN_NONE where it is not a dense node. */
uint32_t pdnn_onednn_dense_weights_of(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* What a single node does, without has_pass. PDNN_UNSUPPORTED where its posts cannot be fused. */
enum pdnn_status pdnn_onednn_dense_shape_of(const struct pdnn_program *program, const struct pdnn_node *node,
                                            struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err);
/* Adds a node to the shape of its weights, which begins as zero. */
enum pdnn_status pdnn_onednn_dense_shape_add(const struct pdnn_program *program, const struct pdnn_node *node,
                                             struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err);

#endif
