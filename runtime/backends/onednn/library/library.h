/* What this backend needs of oneDNN, without its versions: what differs between major versions of the library
 * is behind version.h, in v2.c and v3.c. One engine and one in-order stream;
 * primitives have a fixed set of arguments and get their addresses once. Shapes: N minibatch, I inputs, O
 * outputs or output channels, C input channels, H W input height and width, R S kernel height and width, P Q
 * output height and width. Of recurrent layers: T steps, I input and H hidden units, G gates, B vectors of
 * bias.
 */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_LIBRARY_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_LIBRARY_H

#include "base/err.h"
#include "models/cell.h"
#include "models/dtype.h"
#include "models/graph.h"
#include "models/isa.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_onednn_library;
struct pdnn_onednn_layout;
struct pdnn_onednn_primitive;

/* "oneDNN 2.6.3 (avx2)"; static. */
const char *pdnn_onednn_version(void);
/* "avx2": what the library makes use of. */
const char *pdnn_onednn_isa_name(void);

/* As limit_isa of struct pdnn_backend_def. */
enum pdnn_status pdnn_onednn_limit_isa(enum pdnn_isa isa, struct pdnn_err *err);

enum pdnn_status pdnn_onednn_library_create(struct pdnn_onednn_library **library, struct pdnn_err *err);
void pdnn_onednn_library_destroy(struct pdnn_onednn_library *library);

/* How a tensor lies in memory: shape, type, and one of these or what a primitive asked for. */
enum pdnn_onednn_order {
    PDNN_ONEDNN_ROW_MAJOR,
    PDNN_ONEDNN_COLUMN_MAJOR,  /* of a matrix: stored transposed */
    PDNN_ONEDNN_CHANNELS_LAST, /* of images (N, C, H, W): stored as (N, H, W, C) */
    PDNN_ONEDNN_BLOCKED_8,     /* of images: as (N, C/8, H, W, 8), channels padded with zeros */
    PDNN_ONEDNN_BLOCKED_16,    /* of images: as (N, C/16, H, W, 16) */
    PDNN_ONEDNN_GATES_FIRST,   /* of weights (1, 1, I, G, H): stored as (G, H, I), as tensors have them */
    PDNN_ONEDNN_ANY,           /* in a request: the primitive chooses */
    PDNN_ONEDNN_ORDER_COUNT
};

enum pdnn_status pdnn_onednn_layout_create(enum pdnn_dtype dtype, int rank, const int64_t *dim,
                                           enum pdnn_onednn_order order, struct pdnn_onednn_layout **layout,
                                           struct pdnn_err *err);
/* With strides of its own, in elements. */
enum pdnn_status pdnn_onednn_layout_strided(enum pdnn_dtype dtype, int rank, const int64_t *dim,
                                            const int64_t *stride, struct pdnn_onednn_layout **layout,
                                            struct pdnn_err *err);
enum pdnn_status pdnn_onednn_layout_copy(const struct pdnn_onednn_layout *layout,
                                         struct pdnn_onednn_layout **copy, struct pdnn_err *err);
/* The same memory seen as the transposed matrix. */
enum pdnn_status pdnn_onednn_layout_transpose(struct pdnn_onednn_layout *layout, struct pdnn_err *err);
/* The plain layout of the same dimensions: row-major as a tensor has them, so of weights (1, 1, I, G, H) with
 * their gates first. */
enum pdnn_status pdnn_onednn_layout_plain(const struct pdnn_onednn_layout *layout,
                                          struct pdnn_onednn_layout **plain, struct pdnn_err *err);
int pdnn_onednn_layout_rank(const struct pdnn_onednn_layout *layout);
void pdnn_onednn_layout_destroy(struct pdnn_onednn_layout *layout);
bool pdnn_onednn_layout_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b);
uint64_t pdnn_onednn_layout_bytes(const struct pdnn_onednn_layout *layout); /* padding included */
/* Whether it says where each element lies; the library keeps some to itself. */
bool pdnn_onednn_layout_is_open(const struct pdnn_onednn_layout *layout);

/* "ab", "ba", "AB16b64a": outer dimensions by falling stride (capital: blocked), then the inner blocks.
 * Returns buffer. */
enum { PDNN_ONEDNN_LAYOUT_TEXT = 32 };
const char *pdnn_onednn_layout_format(const struct pdnn_onednn_layout *layout,
                                      char buffer[PDNN_ONEDNN_LAYOUT_TEXT]);

enum pdnn_onednn_kind {
    PDNN_ONEDNN_INNER_PRODUCT, /* SRC x (N, I), WEIGHTS w (O, I), BIAS b (O), DST y (N, O), or their
                                  gradients: the pass says which argument is computed */
    PDNN_ONEDNN_CONVOLUTION,   /* the same with SRC x (N, C, H, W), WEIGHTS w (O, C, R, S), DST y (N, O, P, Q)
                                */
    PDNN_ONEDNN_MATMUL,        /* DST = SRC WEIGHTS + BIAS, of each matrix; forward only */
    PDNN_ONEDNN_REORDER,       /* SRC -> DST; forward only */
    /* One recurrent layer in one direction: SRC x (T, N, I), WEIGHTS and RECURRENT (1, 1, I, G, H) and (1, 1,
     * H, G, H), BIAS (1, 1, B, H), DST y (T, N, H), STATE and of lstm STATE_C (1, 1, N, H) before the first
     * step, 0 where there are none. Backward-data reads all of these and DIFF_DST, and computes the gradients
     * of the others. WORKSPACE is what training forward leaves for it. oneDNN 2.6 gives a wrong
     * DIFF_RECURRENT where there is no STATE: as if each step began with its own result. */
    PDNN_ONEDNN_RNN,
    PDNN_ONEDNN_KIND_COUNT
};

enum pdnn_onednn_arg {
    PDNN_ONEDNN_SRC,
    PDNN_ONEDNN_WEIGHTS,
    PDNN_ONEDNN_BIAS,
    PDNN_ONEDNN_DST,
    PDNN_ONEDNN_SCRATCHPAD,
    /* Of recurrent layers: */
    PDNN_ONEDNN_RECURRENT,
    PDNN_ONEDNN_WORKSPACE, /* has no layout in a request */
    PDNN_ONEDNN_DIFF_SRC,
    PDNN_ONEDNN_DIFF_WEIGHTS,
    PDNN_ONEDNN_DIFF_RECURRENT,
    PDNN_ONEDNN_DIFF_BIAS,
    PDNN_ONEDNN_DIFF_DST,
    PDNN_ONEDNN_STATE,
    PDNN_ONEDNN_STATE_C,
    PDNN_ONEDNN_DIFF_STATE,
    PDNN_ONEDNN_DIFF_STATE_C,
    /* Of products of int8: what the sums, BIAS included, are multiplied with before any post. f32 of DST's
     * rank, O long in its second dimension. */
    PDNN_ONEDNN_SCALE,
    PDNN_ONEDNN_ARG_COUNT
};

/* What a forward pass does to its result before it stores it: a function, or a sum with what DST holds. */
enum pdnn_onednn_post {
    PDNN_ONEDNN_RELU,
    PDNN_ONEDNN_SIGMOID,
    PDNN_ONEDNN_TANH,
    PDNN_ONEDNN_GELU,
    PDNN_ONEDNN_GELU_TANH,
    PDNN_ONEDNN_SUM,
    PDNN_ONEDNN_POST_COUNT
};

struct pdnn_onednn_request {
    enum pdnn_onednn_kind kind;
    enum pdnn_pass pass;
    const struct pdnn_onednn_layout *layout[PDNN_ONEDNN_ARG_COUNT]; /* NULL: no such argument */
    int n_posts;                                                    /* forward: in this order */
    enum pdnn_onednn_post post[PDNN_NODE_POSTS];
    /* Convolution: vertical, horizontal; zero padding on either side. */
    int64_t stride[2], padding[2];
    enum pdnn_algorithm algorithm;
    enum pdnn_cell cell;
    bool is_reverse; /* of recurrent layers */
    /* A forward pass beside backward ones: no layout that only it understands; of recurrent layers it has a
     * WORKSPACE. */
    bool trains;
    int32_t zero_point; /* what u8 in SRC lies above the values meant; matmul only */
};

/* What the library would run: the first of its implementations that does the request by its algorithm. Name,
 * layouts and scratchpad can be asked for; to be bound and run it must be built. PDNN_UNSUPPORTED with the
 * library's answer when it has no implementation. */
enum pdnn_status pdnn_onednn_primitive_describe(struct pdnn_onednn_library *library,
                                                const struct pdnn_onednn_request *request,
                                                struct pdnn_onednn_primitive **primitive,
                                                struct pdnn_err *err);
/* Generates its code, once. */
enum pdnn_status pdnn_onednn_primitive_build(struct pdnn_onednn_primitive *primitive, struct pdnn_err *err);
/* Both. */
enum pdnn_status pdnn_onednn_primitive_create(struct pdnn_onednn_library *library,
                                              const struct pdnn_onednn_request *request,
                                              struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);
void pdnn_onednn_primitive_destroy(struct pdnn_onednn_primitive *primitive);

/* The library's name of the implementation: "x64:gemm:jit". */
const char *pdnn_onednn_primitive_name(const struct pdnn_onednn_primitive *primitive);
/* Whether that is the library's plain C; of recurrent layers the name does not tell. */
bool pdnn_onednn_primitive_is_reference(const struct pdnn_onednn_primitive *primitive);
/* A layout as the primitive has it, to be destroyed by the caller; of an argument that it has. */
enum pdnn_status pdnn_onednn_primitive_layout(const struct pdnn_onednn_primitive *primitive,
                                              enum pdnn_onednn_arg arg, struct pdnn_onednn_layout **layout,
                                              struct pdnn_err *err);
/* Bytes of memory to bind as the argument; 0: there is none. */
uint64_t pdnn_onednn_primitive_bytes(const struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg);
/* Bytes of scratch memory to bind as PDNN_ONEDNN_SCRATCHPAD; 0: none. */
uint64_t pdnn_onednn_primitive_scratchpad_bytes(const struct pdnn_onednn_primitive *primitive);
/* Sets an argument's address, before the first run and for every argument. What is read must have zeroes in
 * its padding; what is written gets them. */
enum pdnn_status pdnn_onednn_primitive_bind(struct pdnn_onednn_primitive *primitive, enum pdnn_onednn_arg arg,
                                            void *address, struct pdnn_err *err);
/* c = op(a) op(b), or added to c. 0, or the library's status. */
struct pdnn_sgemm;
int pdnn_onednn_sgemm(const struct pdnn_sgemm *gemm);

/* 0, or the library's status. The result is there on return: the CPU's stream runs on the calling thread and
 * its pool. */
int pdnn_onednn_primitive_run(const struct pdnn_onednn_primitive *primitive);

#endif
