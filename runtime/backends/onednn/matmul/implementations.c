#include "runtime/backends/onednn/matmul/implementations.h"

#include "runtime/kernels/gemm/batched.h"
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

enum pdnn_status pdnn_onednn_matmul_create(struct pdnn_onednn_pool *pool,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way way, int64_t threads,
                                           struct pdnn_onednn_matmul *made, struct pdnn_err *err) {
    struct pdnn_onednn_matmul result = {.way = way,
                                        .element_bytes = pdnn_dtype_bytes(dtype),
                                        .multiply = {.product = *product, .threads = threads}};
    if (way == PDNN_ONEDNN_MATMUL_PRIMITIVE) {
        struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_MATMUL, .pass = PDNN_FORWARD};
        request.layout[PDNN_ONEDNN_SRC] = layout_of(pool, product, &product->a, dtype);
        request.layout[PDNN_ONEDNN_WEIGHTS] = layout_of(pool, product, &product->b, dtype);
        request.layout[PDNN_ONEDNN_DST] = layout_of(pool, product, &product->y, dtype);
        enum pdnn_status status = pdnn_onednn_primitive_create(pool, &request, &result.primitive, err);
        if (status != PDNN_OK)
            return status;
        if (pdnn_onednn_primitive_is_reference(result.primitive) && dtype == PDNN_F32) {
            pdnn_onednn_matmul_destroy(&result);
            return pdnn_fail(err, PDNN_UNSUPPORTED, "the library has no matmul for these strides");
        }
    } else if (dtype != PDNN_F32) {
        return pdnn_fail(err, PDNN_UNSUPPORTED, "products of single heads are f32");
    }
    result.multiply.sgemm = way == PDNN_ONEDNN_MATMUL_SGEMM ? pdnn_onednn_sgemm : NULL;
    *made = result;
    return PDNN_OK;
}

void pdnn_onednn_matmul_destroy(struct pdnn_onednn_matmul *made) {
    pdnn_onednn_primitive_destroy(made->primitive);
    made->primitive = NULL;
}

static void bind_argument(const struct pdnn_onednn_matmul *made, enum pdnn_onednn_arg arg, void *tensor,
                          const struct pdnn_heads *heads) {
    pdnn_onednn_primitive_bind(made->primitive, arg,
                               (char *)tensor + (uint64_t)heads->offset * made->element_bytes);
}

static void bind(void *state, const struct pdnn_matmul_memory *memory) {
    struct pdnn_onednn_matmul *made = state;
    const struct pdnn_heads_product *product = &made->multiply.product;
    made->multiply.memory = *memory;
    if (!made->primitive)
        return;
    bind_argument(made, PDNN_ONEDNN_SRC, memory->a, &product->a);
    bind_argument(made, PDNN_ONEDNN_WEIGHTS, memory->b, &product->b);
    bind_argument(made, PDNN_ONEDNN_DST, memory->y, &product->y);
    if (pdnn_onednn_primitive_scratchpad_bytes(made->primitive))
        pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCRATCHPAD, memory->scratch);
}

static int run(const void *state) {
    const struct pdnn_onednn_matmul *made = state;
    return made->primitive ? pdnn_onednn_primitive_run(made->primitive)
                           : pdnn_matmul_multiply(&made->multiply);
}

static void destroy(void *state) {
    pdnn_onednn_matmul_destroy(state);
}

struct pdnn_matmul_work pdnn_onednn_matmul_work_of(struct pdnn_onednn_matmul *made) {
    uint64_t scratch_bytes = made->primitive ? pdnn_onednn_primitive_scratchpad_bytes(made->primitive)
                                             : pdnn_matmul_scratch_bytes(&made->multiply);
    bool is_reference = made->primitive && pdnn_onednn_primitive_is_reference(made->primitive);
    return (struct pdnn_matmul_work){made, scratch_bytes, bind, run, destroy, is_reference};
}

const char *pdnn_onednn_matmul_name(const struct pdnn_onednn_matmul *made,
                                    char buffer[PDNN_ONEDNN_MATMUL_TEXT]) {
    if (made->primitive)
        snprintf(buffer, PDNN_ONEDNN_MATMUL_TEXT, "%.37s matmul",
                 pdnn_onednn_primitive_name(made->primitive));
    else if (made->multiply.sgemm)
        snprintf(buffer, PDNN_ONEDNN_MATMUL_TEXT, "onednn:sgemm");
    else
        snprintf(buffer, PDNN_ONEDNN_MATMUL_TEXT, "paradnn:matmul %s", pdnn_level_name());
    return buffer;
}
