#include "runtime/backends/onednn/matmul/implementations.h"

#include "runtime/kernels/simd/level.h"

#include <stdio.h>

enum { RANK = 4 };

/* A strided view of the heads in a plain tensor: (B, h, rows, columns), or (B, h, columns, rows) if it is
 * read transposed. */
static const struct pdnn_onednn_layout *layout_of(struct pdnn_onednn_pool *pool,
                                                  const struct pdnn_heads_product *product,
                                                  const struct pdnn_heads *heads, enum pdnn_dtype dtype) {
    int64_t dim[RANK] = {product->B, product->h, heads->rows, heads->columns};
    int64_t stride[RANK] = {heads->sequence_stride, heads->head_stride, heads->row_stride, 1};
    if (heads->transposed) {
        dim[2] = heads->columns;
        dim[3] = heads->rows;
        stride[2] = 1;
        stride[3] = heads->row_stride;
    }
    return pdnn_onednn_layout_strided(pool, dtype, RANK, dim, stride);
}

struct matmul {
    struct pdnn_onednn_primitive *primitive;
    struct pdnn_heads_product product;
    uint64_t element_bytes;
};

static void bind_argument(const struct matmul *matmul, enum pdnn_onednn_arg arg, void *tensor,
                          const struct pdnn_heads *heads) {
    pdnn_onednn_primitive_bind(matmul->primitive, arg,
                               (char *)tensor + (uint64_t)heads->offset * matmul->element_bytes);
}

static void bind(void *state, const struct pdnn_matmul_memory *memory) {
    const struct matmul *matmul = state;
    bind_argument(matmul, PDNN_ONEDNN_SRC, memory->a, &matmul->product.a);
    bind_argument(matmul, PDNN_ONEDNN_WEIGHTS, memory->b, &matmul->product.b);
    bind_argument(matmul, PDNN_ONEDNN_DST, memory->y, &matmul->product.y);
    if (memory->scratch)
        pdnn_onednn_primitive_bind(matmul->primitive, PDNN_ONEDNN_SCRATCHPAD, memory->scratch);
}

static int run(const void *state) {
    return pdnn_onednn_primitive_run(((const struct matmul *)state)->primitive);
}

static void destroy(void *state) {
    pdnn_onednn_primitive_destroy(((struct matmul *)state)->primitive);
}

static enum pdnn_status make_primitive(struct pdnn_onednn_pool *pool, struct pdnn_arena *arena,
                                       const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                       struct pdnn_matmul_work *work, struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_MATMUL, .pass = PDNN_FORWARD};
    struct matmul *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    *made = (struct matmul){.product = *product, .element_bytes = pdnn_dtype_bytes(dtype)};
    request.layout[PDNN_ONEDNN_SRC] = layout_of(pool, product, &product->a, dtype);
    request.layout[PDNN_ONEDNN_WEIGHTS] = layout_of(pool, product, &product->b, dtype);
    request.layout[PDNN_ONEDNN_DST] = layout_of(pool, product, &product->y, dtype);
    enum pdnn_status status = pdnn_onednn_primitive_create(pool, &request, &made->primitive, err);
    if (status != PDNN_OK)
        return status;
    *work = (struct pdnn_matmul_work){
        .state = made,
        .scratch_bytes = pdnn_onednn_primitive_bytes(made->primitive, PDNN_ONEDNN_SCRATCHPAD),
        .bind = bind,
        .run = run,
        .destroy = destroy,
        .is_reference = pdnn_onednn_primitive_is_reference(made->primitive)};
    snprintf(work->name, sizeof work->name, "%.37s matmul", pdnn_onednn_primitive_name(made->primitive));
    if (work->is_reference && dtype == PDNN_F32) {
        destroy(made);
        return pdnn_fail(err, PDNN_UNSUPPORTED, "the library has no matmul for these strides");
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_matmul_work(struct pdnn_onednn_pool *pool, struct pdnn_arena *arena,
                                         const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                         enum pdnn_onednn_matmul_way way, int64_t threads,
                                         struct pdnn_matmul_work *work, struct pdnn_err *err) {
    const struct pdnn_matmul_job job = {.product = *product,
                                        .threads = threads,
                                        .sgemm = way == PDNN_ONEDNN_MATMUL_SGEMM ? pdnn_onednn_sgemm : NULL};
    if (way == PDNN_ONEDNN_MATMUL_PRIMITIVE)
        return make_primitive(pool, arena, product, dtype, work, err);
    if (dtype != PDNN_F32)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "products of single heads are f32");
    *work = pdnn_matmul_work_of(arena, &job);
    if (job.sgemm)
        snprintf(work->name, sizeof work->name, "onednn:sgemm");
    else
        snprintf(work->name, sizeof work->name, "paradnn:matmul %s", pdnn_level_name());
    return PDNN_OK;
}
