/* The part of a dense op's description that decides how it runs. N minibatch, I inputs, O outputs; x (N, I),
 * w (O, I), y (N, O), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_SHAPE_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_SHAPE_H

#include "runtime/backends/onednn/library/request.h"
#include "runtime/backend/backend.h"

/* Forward, backward-data, backward-weights: the first passes in enum pdnn_pass. */
enum { PDNN_ONEDNN_DENSE_PASSES = 3 };

enum pdnn_onednn_weights_format {
    PDNN_ONEDNN_WEIGHTS_ROW_MAJOR,    /* (O, I) */
    PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR, /* stored as (I, O) */
    PDNN_ONEDNN_WEIGHTS_PACKED,       /* the format that the forward inner product asks for */
    PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT
};

/* The work of all passes of one dense op over one weight tensor. */
struct pdnn_onednn_dense_shape {
    int64_t N, I, O;
    /* of the whole step, rounded up to a power of two: tells how cold the weights are */
    int64_t footprint_bytes;
    enum pdnn_dtype dtype;         /* of x and y */
    enum pdnn_dtype weights_dtype; /* of w or dw; dw is f32 where the others are 16 bit */
    int32_t n_post_ops;            /* fused into the forward pass */
    struct pdnn_onednn_post_op post_op[PDNN_NODE_POSTS];
    bool has_pass[PDNN_ONEDNN_DENSE_PASSES];
    bool bias;          /* fused into the forward pass */
    bool bias_gradient; /* fused into backward-weights */
    /* int8 only (x is stored as u8): */
    bool is_shifted; /* x is stored 128 too high */
    bool is_scaled;  /* the products of the scales are an argument and y is f32; else y is s32 */
    bool pinned;     /* the weights must stay row-major, since ops other than dense and update use them */
    bool is_placed;  /* not pinned: the weights already have a format */
    enum pdnn_onednn_weights_format stored;
    /* by pass: a node of the graph that it describes; distinguishes nothing */
    const struct pdnn_node *node[PDNN_ONEDNN_DENSE_PASSES];
};

struct pdnn_onednn_dense_dtypes {
    enum pdnn_dtype x, w, b, y;
};
struct pdnn_onednn_dense_dtypes pdnn_onednn_dense_dtypes_of(const struct pdnn_onednn_dense_shape *shape);

/* The tensors, or their gradients, of a node in any pass. */
struct pdnn_onednn_dense_tensors {
    uint32_t x, w, y;
};
struct pdnn_onednn_dense_tensors pdnn_onednn_dense_tensors_of(const struct pdnn_node *node);

/* Where a call of our own finds these; b: of the bias, or PDNN_NONE. */
struct pdnn_onednn_dense_slots {
    uint32_t x, w, b, y;
};

/* The weight tensor that a node works on, or PDNN_NONE if it is not a dense node. */
uint32_t pdnn_onednn_dense_weights_of(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Describes a single node, without has_pass. PDNN_UNSUPPORTED if its posts cannot be fused. */
enum pdnn_status pdnn_onednn_dense_shape_of(const struct pdnn_program *program, const struct pdnn_node *node,
                                            struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err);
/* Adds a node to the shape of its weights, which must be zeroed before the first one. */
enum pdnn_status pdnn_onednn_dense_shape_add(const struct pdnn_program *program, const struct pdnn_node *node,
                                             struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err);

#endif
