/* How a tensor lies in memory: shape, type and order of elements. The order is one of the few below or what
 * a primitive asked for. N minibatch, C channels, H W height and width; recurrent layers: I inputs, G
 * gates, H hidden units. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_LAYOUT_H

#include "base/err.h"
#include "models/dtype.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_onednn_library;
struct pdnn_onednn_layout;

enum pdnn_onednn_order {
    PDNN_ONEDNN_ROW_MAJOR,
    PDNN_ONEDNN_COLUMN_MAJOR,  /* matrices: stored transposed */
    PDNN_ONEDNN_CHANNELS_LAST, /* images (N, C, H, W): stored as (N, H, W, C) */
    PDNN_ONEDNN_BLOCKED_8,     /* images: stored as (N, C/8, H, W, 8), channels padded with zeros */
    PDNN_ONEDNN_BLOCKED_16,    /* images: stored as (N, C/16, H, W, 16) */
    PDNN_ONEDNN_GATES_FIRST,   /* weights (1, 1, I, G, H): stored as (G, H, I), as tensors have them */
    PDNN_ONEDNN_ANY,           /* requests only: the primitive chooses */
    PDNN_ONEDNN_ANY_GATES,     /* the same for weights (1, 1, I, G, H) */
    PDNN_ONEDNN_ORDER_COUNT
};

/* Layouts that are freed together, which those of one program are. Making one always gives a layout; what the
 * library does not accept or has no memory for is told by pdnn_onednn_pool_check and by every primitive that
 * is described in the pool. */
struct pdnn_onednn_pool {
    struct pdnn_onednn_library *library; /* borrowed */
    struct pdnn_onednn_layout *last;
    int failure; /* the library's first status other than success */
};

void pdnn_onednn_pool_finish(struct pdnn_onednn_pool *pool);
/* An empty layout, for the files of this directory to set. */
struct pdnn_onednn_layout *pdnn_onednn_pool_add(struct pdnn_onednn_pool *pool);
enum pdnn_status pdnn_onednn_pool_check(const struct pdnn_onednn_pool *pool, struct pdnn_err *err);

const struct pdnn_onednn_layout *pdnn_onednn_layout_create(struct pdnn_onednn_pool *pool,
                                                           enum pdnn_dtype dtype, int rank,
                                                           const int64_t *dim, enum pdnn_onednn_order order);
/* A layout with the given strides, in elements. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_strided(struct pdnn_onednn_pool *pool,
                                                            enum pdnn_dtype dtype, int rank,
                                                            const int64_t *dim, const int64_t *stride);
/* For a layout of another pool. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_copy(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout);
/* The layout of the first `dim` of each dimension, in the same memory. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_part(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout,
                                                         const int64_t *dim);
/* The layout of the transposed matrix in the same memory. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_transpose(struct pdnn_onednn_pool *pool,
                                                              const struct pdnn_onednn_layout *layout);
/* The layout with the last two dimensions exchanged, in the same memory. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_turn(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout);
/* The layout with the same dimensions in which a tensor's plain array has the values: row-major, or gates
 * first if the layout was made, or asked for, as that of recurrent weights. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_plain(struct pdnn_onednn_pool *pool,
                                                          const struct pdnn_onednn_layout *layout);
/* The same for values of another type. */
const struct pdnn_onednn_layout *pdnn_onednn_layout_plain_of(struct pdnn_onednn_pool *pool,
                                                             const struct pdnn_onednn_layout *layout,
                                                             enum pdnn_dtype dtype);
bool pdnn_onednn_layout_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b);
uint64_t pdnn_onednn_layout_bytes(const struct pdnn_onednn_layout *layout); /* padding included */
/* Whether the layout says where each element lies; the library keeps some layouts opaque. */
bool pdnn_onednn_layout_is_open(const struct pdnn_onednn_layout *layout);

/* "ab", "ba", "AB16b64a": outer dimensions by decreasing stride (capital: blocked), then the inner
 * blocks. Returns buffer. */
enum { PDNN_ONEDNN_LAYOUT_TEXT = 32 };
const char *pdnn_onednn_layout_format(const struct pdnn_onednn_layout *layout,
                                      char buffer[PDNN_ONEDNN_LAYOUT_TEXT]);

#endif
