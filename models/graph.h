/* The graph of one step: tensors, and nodes in the order they run. A node is one pass of one registered
 * op. Families append forward nodes, models/transform/backward the rest, models/transform/fuse merges.
 * Deterministic, with nothing about layouts or buffers. Errors stick: builders always return a usable id, and
 * pdnn_graph_status returns the first error. */
#ifndef MODELS_GRAPH_H
#define MODELS_GRAPH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "models/dtype.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_op_def;

enum {
    PDNN_RANK_MAX = 6,
    PDNN_NODE_INPUTS = 27,
    PDNN_NODE_OUTPUTS = 27,
    PDNN_NODE_ATTRS = 12,
    PDNN_NODE_COEFS = 6,
    PDNN_NODE_POSTS = 4,
    PDNN_NODE_ACCESSES = PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS + PDNN_NODE_POSTS,
};

#define PDNN_NONE UINT32_MAX /* no tensor, no node */

enum pdnn_role {
    PDNN_ROLE_INPUT,           /* data of the step; word ids are s32 */
    PDNN_ROLE_LABEL,           /* class ids, s32; negative: none */
    PDNN_ROLE_WEIGHT,          /* trained parameter: counted in params */
    PDNN_ROLE_WEIGHT_COPY,     /* a weight in the type that the step computes in, recreated in every step */
    PDNN_ROLE_ACTIVATION,      /* forward result */
    PDNN_ROLE_GRADIENT,        /* gradient of an activation */
    PDNN_ROLE_WEIGHT_GRADIENT, /* gradient of a weight */
    /* Kept between steps besides the weights: optimizer state, running statistics, scales of int8 weights. */
    PDNN_ROLE_STATE,
    PDNN_ROLE_COUNT
};

enum pdnn_pass { PDNN_FORWARD, PDNN_BACKWARD_DATA, PDNN_BACKWARD_WEIGHTS, PDNN_UPDATE, PDNN_PASS_COUNT };

/* How a tensor that no node computes gets its values; seeded, never denormal. */
enum pdnn_fill_kind {
    PDNN_FILL_ZERO,
    PDNN_FILL_CONSTANT, /* scale everywhere */
    PDNN_FILL_UNIFORM,  /* in [-scale, scale) */
    PDNN_FILL_NEAR_ONE, /* 1 + uniform in [-scale, scale) */
    PDNN_FILL_CLASS,    /* whole numbers in [0, scale) */
    PDNN_FILL_ZIPF,     /* the same, but k with probability log((k + 2) / (k + 1)) / log(scale + 1) */
    /* (T, N): for each of N sequences, whole numbers in [0, scale) in its first steps, as many as its length
     * drawn from 1 to T, and -1 in the others. */
    PDNN_FILL_SEQUENCE_CLASS,
    /* (N, T): for each of N sequences, 0 in its first steps, as many as its length drawn from 1 to T, and
     * scale in the others. */
    PDNN_FILL_SEQUENCE_MASK,
    PDNN_FILL_POSITION, /* element i is i mod scale: positions in consecutive sequences */
    PDNN_FILL_STRIDE,   /* element i is i * scale: the first row of each */
    /* (B, P): for each of B sequences of `scale` rows, P different rows in ascending order; row t of sequence
     * b is b * scale + t. All choices are equally likely. */
    PDNN_FILL_MASKED,
    /* (W, n, n): for each of W windows of n positions, both squares, of an image that was rolled by half a
     * window: 0 between positions that were neighbours before (pdnn_window_mask_hides), else scale. */
    PDNN_FILL_WINDOW_MASK,
    /* (O), f32: the scale of each row of the int8 weights `of` (models/transform/quantize.h). */
    PDNN_FILL_WEIGHT_SCALE,
    PDNN_FILL_COUNT
};

struct pdnn_fill {
    enum pdnn_fill_kind kind;
    double scale;
};

/* A multiple of scale * 2^-24 in (-scale, scale), never 0. */
static inline float pdnn_fill_uniform_at(uint64_t stream, int64_t i, float scale) {
    int32_t bits = (int32_t)(pdnn_rng_at(stream, (uint64_t)i) >> 39); /* 25 bits */
    return scale * ((float)(bits - (1 << 24)) + 0.5F) * 0x1p-24F;
}

/* Element i before it is folded or rounded; stream: pdnn_rng_at(seed, tensor). */
static inline float pdnn_fill_at(const struct pdnn_fill *fill, uint64_t stream, int64_t i) {
    switch (fill->kind) {
    case PDNN_FILL_UNIFORM:
        return pdnn_fill_uniform_at(stream, i, (float)fill->scale);
    case PDNN_FILL_NEAR_ONE:
        return 1 + pdnn_fill_uniform_at(stream, i, (float)fill->scale);
    case PDNN_FILL_CONSTANT:
        return (float)fill->scale;
    default: /* the graph refuses other kinds */
        assert(fill->kind == PDNN_FILL_ZERO);
        return 0;
    }
}

/* A normalization folded into constants before the first step: with factor[c] = gamma[c] / sqrt(variance[c] +
 * epsilon), weights w[c][...] become w * factor[c], and a shift s[c] becomes s + (bias[c] - mean[c]) *
 * factor[c]; that in the mean's own tensor, where there is no s, (bias[c] - mean[c]) * factor[c]. The tensors
 * (C) enter with their initial values. */
struct pdnn_fold {
    uint32_t gamma; /* or PDNN_NONE */
    uint32_t mean, variance;
    uint32_t bias; /* of a shift: what was added before the normalization, or PDNN_NONE */
    double epsilon;
    bool is_shift; /* else the weights */
};

struct pdnn_tensor {
    enum pdnn_role role;
    enum pdnn_dtype dtype;
    int rank;
    int64_t dim[PDNN_RANK_MAX]; /* logically row-major; a backend may store it differently */
    struct pdnn_fill fill;
    /* Gradient or state: the tensor it belongs to. Copy of a weight: the weight. Recomputed activation: its
     * original. Otherwise PDNN_NONE. */
    uint32_t of;
    const struct pdnn_fold *fold; /* what its fill is folded with afterwards, or NULL; in the arena */
};

/* How convolutions are computed. */
enum pdnn_algorithm {
    PDNN_ALGORITHM_AUTO, /* as the library chooses */
    PDNN_ALGORITHM_DIRECT,
    PDNN_ALGORITHM_WINOGRAD,
    PDNN_ALGORITHM_GEMM, /* a matrix product, over unrolled patches if the kernel is larger than 1x1 */
    PDNN_ALGORITHM_COUNT
};

/* How recurrent layers run. */
enum pdnn_recurrence {
    PDNN_RECURRENCE_AUTO,     /* the faster one, measured */
    PDNN_RECURRENCE_FUSED,    /* the library's own primitive */
    PDNN_RECURRENCE_UNROLLED, /* matrix products, and kernels for the cells between them */
    PDNN_RECURRENCE_COUNT
};

/* "hidden" 3 prints as hidden3, "norm1" 3 as norm1.3; index 0 prints the stem alone. */
struct pdnn_layer {
    const char *stem; /* static text */
    int64_t index;
    /* Which of the family's repeats over its depth the layer is in, and in which round, from 1; 0: in none. A
     * stem may begin several times in a round, so that its index does not tell. */
    int32_t stack, round;
};

/* An op absorbed into a host node. Forward: it works in place on the host's result, with inputs of its own.
 * Backward-data: before the host runs, it works on the host's first input, which nothing else reads.
 * Backward-weights: it adds an output computed from inputs that the host reads anyway. */
struct pdnn_post {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    uint32_t input;               /* the extra input, or PDNN_NONE */
    uint32_t output;              /* the extra output, or PDNN_NONE */
    double coef[PDNN_NODE_COEFS]; /* meaning: its coefficients */
};

struct pdnn_node {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    int n_inputs, n_outputs, n_posts;
    /* Tensors, at most PDNN_NODE_INPUTS and PDNN_NODE_OUTPUTS. A graph's nodes have them in its arena; a copy
     * of a node shares them. */
    uint32_t *input, *output;
    int64_t attr[PDNN_NODE_ATTRS]; /* meaning: the op's attributes */
    double coef[PDNN_NODE_COEFS];  /* meaning: its coefficients */
    struct pdnn_layer layer;
    uint32_t segment;        /* forward: the segment it belongs to, from 1; 0: none */
    bool recompute;          /* a forward node repeated before its segment's backward pass */
    struct pdnn_post *posts; /* PDNN_NODE_POSTS of them once there is one */
};

struct pdnn_graph {
    struct pdnn_arena *arena; /* borrowed; holds everything in the graph */
    enum pdnn_dtype dtype;    /* what the model computes in, from the instance; f32 initially, and for int8 */
    bool has_masters;         /* 16-bit training: weights are f32, ops read copies in dtype */
    int64_t algorithm;        /* enum pdnn_algorithm: of every convolution, from the instance */
    int64_t rnn;              /* enum pdnn_recurrence: of every recurrent layer, from the instance */
    bool updates_apart;       /* Adam's update as separate ops instead of one; from the instance */
    bool stems_apart;         /* nodes with different stems are never grouped; from the family */
    struct pdnn_tensor *tensors;
    struct pdnn_node *nodes;
    size_t n_tensors, n_nodes, tensor_room, node_room;
    uint32_t *operands; /* room for inputs and outputs of the next nodes */
    size_t operand_room;
    /* Why no backend can run it although it has costs; static text, or NULL. */
    const char *unsupported;
    uint32_t loss;     /* what training differentiates, or PDNN_NONE */
    uint32_t result;   /* what inference returns, or PDNN_NONE */
    uint32_t *results; /* the same with those of networks that have several; in the arena */
    size_t n_results;
    struct pdnn_layer layer; /* what the next nodes belong to */
    uint32_t segment;        /* of the next nodes, or 0 */
    uint32_t n_segments;     /* begun so far */
    bool replays;            /* weights and states are reused, in order */
    uint32_t next_replayed;  /* where the search for the next one begins */
    /* Which ops of the family, in the order of their making, and then which weights that it names, serve
     * nothing here; the first micro-step finds out. NULL: all are needed. In the arena. */
    const bool *unneeded;
    size_t n_unneeded; /* ops */
    struct pdnn_err err;
};

/* An empty graph in the arena. */
void pdnn_graph_init(struct pdnn_graph *graph, struct pdnn_arena *arena);

/* PDNN_OK, or the first error, copied into err. */
enum pdnn_status pdnn_graph_status(const struct pdnn_graph *graph, struct pdnn_err *err);

/* Appends a copy of the tensor and returns its id; elements and bytes must fit in 63 bits, and there must be
 * values of its dtype for its kind of fill. */
uint32_t pdnn_graph_tensor(struct pdnn_graph *graph, const struct pdnn_tensor *tensor);

/* Another tensor with everything that this one has. */
uint32_t pdnn_graph_copy(struct pdnn_graph *graph, uint32_t tensor);

/* A tensor with the shape and dtype of another one, except that state is f32: it accumulates what a short
 * type would round away. */
uint32_t pdnn_graph_like(struct pdnn_graph *graph, uint32_t tensor, enum pdnn_role role);

/* Appends the node with copies of its inputs and outputs, and with the graph's layer unless it has one;
 * returns its index. */
uint32_t pdnn_graph_node(struct pdnn_graph *graph, const struct pdnn_node *node);

/* Output k of the last node appended. */
uint32_t pdnn_graph_last_output(const struct pdnn_graph *graph, int k);

/* Whether an element of a PDNN_FILL_WINDOW_MASK (W, n, n) is of positions that came together by the roll. */
bool pdnn_window_mask_hides(const struct pdnn_tensor *mask, int64_t element);

/* Nodes between begin and end form one segment. With `checkpoint: layer`, its results are dropped after the
 * forward pass, except those that nodes outside read, and recomputed before the segment's backward pass.
 * Segments do not nest. A family that has them says so in its row (`has_segments`); without that setting
 * they have no effect. */
void pdnn_graph_segment_begin(struct pdnn_graph *graph);
void pdnn_graph_segment_end(struct pdnn_graph *graph);

/* Weights and their copies. */
static inline bool pdnn_role_is_weight(enum pdnn_role role) {
    return role == PDNN_ROLE_WEIGHT || role == PDNN_ROLE_WEIGHT_COPY;
}

/* Whether rank and dims are equal. */
static inline bool pdnn_tensor_same_shape(const struct pdnn_tensor *a, const struct pdnn_tensor *b) {
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

/* A tensor as (outer, n, inner), where n is its dimension `dim`. */
struct pdnn_view {
    int64_t outer, n, inner;
};
static inline struct pdnn_view pdnn_view_of(const struct pdnn_tensor *tensor, int dim) {
    struct pdnn_view view = {1, tensor->dim[dim], 1};
    for (int i = 0; i < tensor->rank; i++)
        *(i < dim ? &view.outer : &view.inner) *= i == dim ? 1 : tensor->dim[i];
    return view;
}

/* How the second operand b of an element-wise op repeats over the first, a. With a as (outer, again, inner,
 * last) and b as (outer, inner), element (i, j, k, l) of a meets element (i, k) of b. b is equal to a; or (C)
 * over the columns of rows (R, C) or the channels of images (N, C, H, W); (B, C) over B groups of rows (B n,
 * C); (R, 1) over the rows' columns; (N, C, 1, 1) or (N, C) over the pixels of images. */
struct pdnn_broadcast {
    int64_t outer, again, inner, last;
};

/* False if b fits a in none of these ways. Equal tensors are (1, 1, elements, 1). */
bool pdnn_broadcast_of(const struct pdnn_tensor *a, const struct pdnn_tensor *b,
                       struct pdnn_broadcast *broadcast);

/* The element of b for element i of a. */
static inline int64_t pdnn_broadcast_at(const struct pdnn_broadcast *broadcast, int64_t i) {
    const int64_t group = broadcast->again * broadcast->inner * broadcast->last;
    return i / group * broadcast->inner + i / broadcast->last % broadcast->inner;
}

/* "512x256", in a buffer that is returned. */
enum { PDNN_SHAPE_TEXT = 128 };
const char *pdnn_tensor_shape(const struct pdnn_tensor *tensor, char buffer[PDNN_SHAPE_TEXT]);

/* The product of the dims, and that times the dtype's size. */
static inline int64_t pdnn_tensor_elements(const struct pdnn_tensor *tensor) {
    int64_t elements = 1;
    for (int i = 0; i < tensor->rank; i++)
        elements *= tensor->dim[i];
    return elements;
}
static inline uint64_t pdnn_tensor_bytes(const struct pdnn_tensor *tensor) {
    return (uint64_t)pdnn_tensor_elements(tensor) * pdnn_dtype_bytes(tensor->dtype);
}

const char *
pdnn_pass_name(enum pdnn_pass pass); /* "forward", "backward-data", "backward-weights", "update" */
const char *pdnn_node_pass_name(const struct pdnn_node *node); /* the same, or "recompute" */

struct pdnn_access {
    uint32_t tensor;
    bool is_written;
};

/* What a node reads and writes, in this order: inputs, outputs, and what its posts need beside them. Returns
 * how many. */
int pdnn_node_accesses(const struct pdnn_node *node, struct pdnn_access access[PDNN_NODE_ACCESSES]);

/* How often a node reads the tensor. */
int pdnn_node_readings(const struct pdnn_node *node, uint32_t tensor);
const char *pdnn_role_name(enum pdnn_role role);

/* "hidden3". Returns buffer. */
enum { PDNN_LAYER_TEXT = 48 };
const char *pdnn_layer_format(struct pdnn_layer layer, char buffer[PDNN_LAYER_TEXT]);

/* Whether that text, or the first of a range "norm1.3..norm1.24", is a layer with the stem. */
bool pdnn_layer_has_stem(const char *text, const char *stem);

#endif
