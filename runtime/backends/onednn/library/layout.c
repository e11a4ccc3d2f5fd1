#include "runtime/backends/onednn/library/layout.h"

#include "base/memory.h"
#include "models/graph.h"
#include "runtime/backends/onednn/library/dnnl.h"
#include "runtime/backends/onednn/library/version.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const dnnl_data_type_t dtypes[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = dnnl_f32, [PDNN_BF16] = dnnl_bf16, [PDNN_F16] = dnnl_f16,
    [PDNN_INT8] = dnnl_s8, [PDNN_S32] = dnnl_s32,   [PDNN_U8] = dnnl_u8,
};

static dnnl_format_tag_t tag_of(int rank, enum pdnn_onednn_order order) {
    static const dnnl_format_tag_t row_major[] = {dnnl_a,    dnnl_ab,    dnnl_abc,
                                                  dnnl_abcd, dnnl_abcde, dnnl_abcdef};
    static const dnnl_format_tag_t others[PDNN_ONEDNN_ORDER_COUNT] = {
        [PDNN_ONEDNN_COLUMN_MAJOR] = dnnl_ba,          [PDNN_ONEDNN_CHANNELS_LAST] = dnnl_acdb,
        [PDNN_ONEDNN_BLOCKED_8] = dnnl_aBcd8b,         [PDNN_ONEDNN_BLOCKED_16] = dnnl_aBcd16b,
        [PDNN_ONEDNN_GATES_FIRST] = dnnl_ldgoi,        [PDNN_ONEDNN_ANY] = dnnl_format_tag_any,
        [PDNN_ONEDNN_ANY_GATES] = dnnl_format_tag_any,
    };
    return order == PDNN_ONEDNN_ROW_MAJOR ? row_major[rank - 1] : others[order];
}

/* The rank that an order applies to; 0: any. */
static int rank_of(enum pdnn_onednn_order order) {
    static const int ranks[PDNN_ONEDNN_ORDER_COUNT] = {
        [PDNN_ONEDNN_COLUMN_MAJOR] = 2, [PDNN_ONEDNN_CHANNELS_LAST] = 4, [PDNN_ONEDNN_BLOCKED_8] = 4,
        [PDNN_ONEDNN_BLOCKED_16] = 4,   [PDNN_ONEDNN_GATES_FIRST] = 5,   [PDNN_ONEDNN_ANY_GATES] = 5,
    };
    return ranks[order];
}

struct pdnn_onednn_layout *pdnn_onednn_pool_add(struct pdnn_onednn_pool *pool) {
    struct pdnn_onednn_layout *layout = pdnn_alloc(1, sizeof *layout);
    layout->before = pool->last;
    return pool->last = layout;
}

void pdnn_onednn_pool_finish(struct pdnn_onednn_pool *pool) {
    while (pool->last) {
        struct pdnn_onednn_layout *layout = pool->last;
        pool->last = layout->before;
        pdnn_onednn_desc_finish(layout);
        free(layout);
    }
}

enum pdnn_status pdnn_onednn_pool_check(const struct pdnn_onednn_pool *pool, struct pdnn_err *err) {
    return pool->failure ? pdnn_onednn_fail(err, (dnnl_status_t)pool->failure, "a layout") : PDNN_OK;
}

static void note(struct pdnn_onednn_pool *pool, dnnl_status_t made) {
    pool->failure = pool->failure ? pool->failure : (int)made;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_create(struct pdnn_onednn_pool *pool,
                                                           enum pdnn_dtype dtype, int rank,
                                                           const int64_t *dim, enum pdnn_onednn_order order) {
    struct pdnn_onednn_layout *layout = pdnn_onednn_pool_add(pool);
    assert(rank >= 1 && rank <= PDNN_RANK_MAX && (!rank_of(order) || rank == rank_of(order)));
    note(pool, pdnn_onednn_desc_init(rank, dim, dtypes[dtype], tag_of(rank, order), layout));
    layout->has_gates = order == PDNN_ONEDNN_GATES_FIRST || order == PDNN_ONEDNN_ANY_GATES;
    return layout;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_strided(struct pdnn_onednn_pool *pool,
                                                            enum pdnn_dtype dtype, int rank,
                                                            const int64_t *dim, const int64_t *stride) {
    struct pdnn_onednn_layout *layout = pdnn_onednn_pool_add(pool);
    note(pool, pdnn_onednn_desc_strided(rank, dim, dtypes[dtype], stride, layout));
    return layout;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_copy(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout) {
    struct pdnn_onednn_layout *copy = pdnn_onednn_pool_add(pool);
    note(pool, pdnn_onednn_desc_copy(layout, copy));
    copy->has_gates = layout->has_gates;
    return copy;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_part(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout,
                                                         const int64_t *dim) {
    struct pdnn_onednn_layout *part = pdnn_onednn_pool_add(pool);
    note(pool, pdnn_onednn_desc_part(layout, dim, part));
    return part;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_transpose(struct pdnn_onednn_pool *pool,
                                                              const struct pdnn_onednn_layout *layout) {
    struct pdnn_onednn_layout *transposed = pdnn_onednn_pool_add(pool);
    note(pool, dnnl_memory_desc_permute_axes(&transposed->desc, PDNN_DNNL_DESC(layout), (int[]){1, 0}));
    return transposed;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_turn(struct pdnn_onednn_pool *pool,
                                                         const struct pdnn_onednn_layout *layout) {
    struct pdnn_onednn_layout *turned = pdnn_onednn_pool_add(pool);
    int rank, order[DNNL_MAX_NDIMS];
    pdnn_onednn_desc_dims(layout, &rank);
    assert(rank >= 2);
    for (int i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    note(pool, dnnl_memory_desc_permute_axes(&turned->desc, PDNN_DNNL_DESC(layout), order));
    return turned;
}

static const struct pdnn_onednn_layout *
make_plain(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_layout *layout, dnnl_data_type_t type) {
    int rank;
    const dnnl_dim_t *dim = pdnn_onednn_desc_dims(layout, &rank);
    enum pdnn_onednn_order order = layout->has_gates ? PDNN_ONEDNN_GATES_FIRST : PDNN_ONEDNN_ROW_MAJOR;
    struct pdnn_onednn_layout *plain = pdnn_onednn_pool_add(pool);
    plain->has_gates = layout->has_gates;
    note(pool, pdnn_onednn_desc_init(rank, dim, type, tag_of(rank, order), plain));
    return plain;
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_plain(struct pdnn_onednn_pool *pool,
                                                          const struct pdnn_onednn_layout *layout) {
    return make_plain(pool, layout, pdnn_onednn_desc_type(layout));
}

const struct pdnn_onednn_layout *pdnn_onednn_layout_plain_of(struct pdnn_onednn_pool *pool,
                                                             const struct pdnn_onednn_layout *layout,
                                                             enum pdnn_dtype dtype) {
    return make_plain(pool, layout, dtypes[dtype]);
}

bool pdnn_onednn_layout_equal(const struct pdnn_onednn_layout *a, const struct pdnn_onednn_layout *b) {
    return dnnl_memory_desc_equal(PDNN_DNNL_DESC(a), PDNN_DNNL_DESC(b));
}

uint64_t pdnn_onednn_layout_bytes(const struct pdnn_onednn_layout *layout) {
    return pdnn_onednn_desc_bytes(layout);
}

bool pdnn_onednn_layout_is_open(const struct pdnn_onednn_layout *layout) {
    struct pdnn_onednn_blocking blocking;
    return pdnn_onednn_desc_blocking(layout, &blocking);
}

const char *pdnn_onednn_layout_format(const struct pdnn_onednn_layout *layout,
                                      char buffer[PDNN_ONEDNN_LAYOUT_TEXT]) {
    struct pdnn_onednn_blocking blocking;
    if (!pdnn_onednn_desc_blocking(layout, &blocking)) {
        snprintf(buffer, PDNN_ONEDNN_LAYOUT_TEXT, "packed");
        return buffer;
    }
    int order[DNNL_MAX_NDIMS];
    bool blocked[DNNL_MAX_NDIMS] = {false};
    for (int i = 0; i < blocking.n_blocks; i++)
        blocked[blocking.block_dims[i]] = true;
    for (int i = 0; i < blocking.rank; i++) {
        int at = i;
        for (; at > 0 && blocking.strides[order[at - 1]] < blocking.strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    size_t length = 0;
    for (int i = 0; i < blocking.rank; i++)
        buffer[length++] = (char)((blocked[order[i]] ? 'A' : 'a') + order[i]);
    buffer[length] = '\0';
    for (int i = 0; i < blocking.n_blocks && length < PDNN_ONEDNN_LAYOUT_TEXT; i++)
        length += (size_t)snprintf(buffer + length, PDNN_ONEDNN_LAYOUT_TEXT - length, "%" PRId64 "%c",
                                   blocking.block_sizes[i], (char)('a' + blocking.block_dims[i]));
    return buffer;
}
