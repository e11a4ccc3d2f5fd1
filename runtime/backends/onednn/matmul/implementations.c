#include "runtime/backends/onednn/matmul/implementations.h"

#include <stdio.h>

enum { RANK = 5 };

/* A strided view of the heads in a plain tensor: (B, h, rows, columns), or (B, h, columns, rows) if it is
 * read transposed. Where heads share matrices of b, it is (B, g, h / g, ...), and (B, g, 1, ...) of b. */
static const struct pdnn_onednn_layout *layout_of(struct pdnn_onednn_pool *pool,
                                                  const struct pdnn_heads_product *product,
                                                  const struct pdnn_heads *heads, enum pdnn_dtype dtype) {
    int64_t shared = product->h / product->b.heads, turns = heads->heads == product->h ? shared : 1;
    int64_t dim[RANK] = {product->B, product->b.heads, turns, heads->rows, heads->columns};
    int64_t stride[RANK] = {heads->sequence_stride, heads->head_stride * turns, heads->head_stride,
                            heads->row_stride, 1};
    if (heads->transposed) {
        dim[RANK - 2] = heads->columns;
        dim[RANK - 1] = heads->rows;
        stride[RANK - 2] = 1;
        stride[RANK - 1] = heads->row_stride;
    }
    if (shared > 1)
        return pdnn_onednn_layout_strided(pool, dtype, RANK, dim, stride);
    for (int i = 2; i + 1 < RANK; i++) {
        dim[i] = dim[i + 1];
        stride[i] = stride[i + 1];
    }
    return pdnn_onednn_layout_strided(pool, dtype, RANK - 1, dim, stride);
}

struct matmul {
    struct pdnn_onednn_primitive *primitive;
    struct pdnn_heads_product product;
    struct pdnn_onednn_matmul_dtypes dtypes;
};

static void bind_argument(const struct matmul *matmul, enum pdnn_onednn_arg arg, void *tensor,
                          const struct pdnn_heads *heads) {
    enum pdnn_dtype dtype = arg == PDNN_ONEDNN_DST ? matmul->dtypes.out : matmul->dtypes.in;
    pdnn_onednn_primitive_bind(matmul->primitive, arg,
                               (char *)tensor + (uint64_t)heads->offset * pdnn_dtype_bytes(dtype));
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
                                       const struct pdnn_heads_product *product,
                                       struct pdnn_onednn_matmul_dtypes dtypes, struct pdnn_matmul_work *work,
                                       struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_MATMUL, .pass = PDNN_FORWARD};
    if (product->window || product->y.heads < product->h)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "the library has no windows and no sums of heads");
    struct matmul *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    *made = (struct matmul){.product = *product, .dtypes = dtypes};
    request.layout[PDNN_ONEDNN_SRC] = layout_of(pool, product, &product->a, dtypes.in);
    request.layout[PDNN_ONEDNN_WEIGHTS] = layout_of(pool, product, &product->b, dtypes.in);
    request.layout[PDNN_ONEDNN_DST] = layout_of(pool, product, &product->y, dtypes.out);
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
    if (work->is_reference && dtypes.in == PDNN_F32) {
        destroy(made);
        return pdnn_fail(err, PDNN_UNSUPPORTED, "the library has no matmul for these strides");
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_matmul_work(struct pdnn_onednn_pool *pool, struct pdnn_arena *arena,
                                         const struct pdnn_heads_product *product,
                                         struct pdnn_onednn_matmul_dtypes dtypes,
                                         enum pdnn_onednn_matmul_way way, int64_t threads,
                                         struct pdnn_matmul_work *work, struct pdnn_err *err) {
    const struct pdnn_matmul_job job = {.product = *product,
                                        .dtype = dtypes.in,
                                        .threads = threads,
                                        .sgemm = way == PDNN_ONEDNN_MATMUL_SGEMM ? pdnn_onednn_sgemm : NULL};
    if (way == PDNN_ONEDNN_MATMUL_PRIMITIVE)
        return make_primitive(pool, arena, product, dtypes, work, err);
    if (dtypes.in != dtypes.out || (job.sgemm && (dtypes.in != PDNN_F32 || product->window)))
        return pdnn_fail(err, PDNN_UNSUPPORTED, "products of single heads are f32, and whole");
    *work = pdnn_matmul_work_of(arena, &job);
    if (job.sgemm)
        snprintf(work->name, sizeof work->name, "onednn:sgemm");
    else
        pdnn_matmul_name_own(work->name);
    return PDNN_OK;
}
