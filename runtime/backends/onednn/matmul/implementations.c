#include "runtime/backends/onednn/matmul/implementations.h"

#include "runtime/backends/onednn/matmul/layouts.h"
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>

static enum pdnn_status make_primitive(struct pdnn_onednn_library *library,
                                       const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                       struct pdnn_onednn_primitive **primitive, struct pdnn_err *err) {
    struct pdnn_onednn_layout *a = NULL, *b = NULL, *y = NULL;
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_MATMUL, .pass = PDNN_FORWARD};
    enum pdnn_status status = pdnn_onednn_matmul_layout(product, &product->a, dtype, &a, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_matmul_layout(product, &product->b, dtype, &b, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_matmul_layout(product, &product->y, dtype, &y, err);
    request.layout[PDNN_ONEDNN_SRC] = a;
    request.layout[PDNN_ONEDNN_WEIGHTS] = b;
    request.layout[PDNN_ONEDNN_DST] = y;
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_create(library, &request, primitive, err);
    pdnn_onednn_layout_destroy(a);
    pdnn_onednn_layout_destroy(b);
    pdnn_onednn_layout_destroy(y);
    return status;
}

enum pdnn_status pdnn_onednn_matmul_create(struct pdnn_onednn_library *library,
                                           const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                           enum pdnn_onednn_matmul_way way, int64_t threads,
                                           struct pdnn_onednn_matmul *made, struct pdnn_err *err) {
    struct pdnn_onednn_matmul result = {.way = way,
                                        .element_bytes = pdnn_dtype_bytes(dtype),
                                        .multiply = {.product = *product, .threads = threads}};
    if (way == PDNN_ONEDNN_MATMUL_PRIMITIVE) {
        enum pdnn_status status = make_primitive(library, product, dtype, &result.primitive, err);
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
