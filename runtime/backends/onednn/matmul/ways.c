#include "runtime/backends/onednn/matmul/ways.h"

#include "models/op.h"
#include "runtime/backends/onednn/onednn.h"
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>

enum { RANK = 4 }; /* (B, h, rows, columns) */

static enum pdnn_status make_layout(const struct pdnn_heads_product *product, const struct pdnn_heads *heads,
                                    enum pdnn_dtype dtype, struct pdnn_onednn_layout **layout,
                                    struct pdnn_err *err) {
    int64_t dim[RANK] = {product->B, product->h, heads->rows, heads->columns};
    int64_t stride[RANK] = {heads->sequence_stride, heads->head_stride, heads->row_stride, 1};
    if (heads->transposed) {
        dim[2] = heads->columns;
        dim[3] = heads->rows;
        stride[2] = 1;
        stride[3] = heads->row_stride;
    }
    return pdnn_onednn_layout_strided(dtype, RANK, dim, stride, layout, err);
}

static enum pdnn_status make_primitive(struct pdnn_onednn_library *library,
                                       const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                       struct pdnn_onednn_primitive **primitive, struct pdnn_err *err) {
    struct pdnn_onednn_layout *a = NULL, *b = NULL, *y = NULL;
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_MATMUL, .pass = PDNN_FORWARD};
    enum pdnn_status status = make_layout(product, &product->a, dtype, &a, err);
    if (status == PDNN_OK)
        status = make_layout(product, &product->b, dtype, &b, err);
    if (status == PDNN_OK)
        status = make_layout(product, &product->y, dtype, &y, err);
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

enum pdnn_status pdnn_heads_create(struct pdnn_onednn_library *library,
                                   const struct pdnn_heads_product *product, enum pdnn_dtype dtype,
                                   enum pdnn_heads_way way, int64_t threads, struct pdnn_heads_made *made,
                                   struct pdnn_err *err) {
    struct pdnn_heads_made result = {.way = way,
                                     .element_bytes = pdnn_dtype_bytes(dtype),
                                     .multiply = {.product = *product, .threads = threads}};
    if (way == PDNN_HEADS_PRIMITIVE) {
        enum pdnn_status status = make_primitive(library, product, dtype, &result.primitive, err);
        if (status != PDNN_OK)
            return status;
        if (pdnn_onednn_primitive_is_reference(result.primitive) && dtype == PDNN_F32) {
            pdnn_heads_destroy(&result);
            return pdnn_fail(err, PDNN_UNSUPPORTED, "the library has no matmul for these strides");
        }
    } else if (dtype != PDNN_F32) {
        return pdnn_fail(err, PDNN_UNSUPPORTED, "products of single heads are f32");
    }
    result.multiply.sgemm = way == PDNN_HEADS_SGEMM ? pdnn_onednn_sgemm : NULL;
    *made = result;
    return PDNN_OK;
}

void pdnn_heads_destroy(struct pdnn_heads_made *made) {
    pdnn_onednn_primitive_destroy(made->primitive);
    made->primitive = NULL;
}

static enum pdnn_status bind_argument(const struct pdnn_heads_made *made, enum pdnn_onednn_arg arg,
                                      void *tensor, const struct pdnn_heads *heads, struct pdnn_err *err) {
    return pdnn_onednn_primitive_bind(made->primitive, arg,
                                      (char *)tensor + (uint64_t)heads->offset * made->element_bytes, err);
}

static enum pdnn_status bind(void *state, const struct pdnn_matmul_memory *memory, struct pdnn_err *err) {
    struct pdnn_heads_made *made = state;
    const struct pdnn_heads_product *product = &made->multiply.product;
    made->multiply.memory = *memory;
    if (!made->primitive)
        return PDNN_OK;
    enum pdnn_status status = bind_argument(made, PDNN_ONEDNN_SRC, memory->a, &product->a, err);
    if (status == PDNN_OK)
        status = bind_argument(made, PDNN_ONEDNN_WEIGHTS, memory->b, &product->b, err);
    if (status == PDNN_OK)
        status = bind_argument(made, PDNN_ONEDNN_DST, memory->y, &product->y, err);
    if (status == PDNN_OK && pdnn_onednn_primitive_scratchpad_bytes(made->primitive))
        status = pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCRATCHPAD, memory->scratch, err);
    return status;
}

static int run(const void *state) {
    const struct pdnn_heads_made *made = state;
    return made->primitive ? pdnn_onednn_primitive_run(made->primitive)
                           : pdnn_matmul_multiply(&made->multiply);
}

static void destroy(void *state) {
    pdnn_heads_destroy(state);
}

struct pdnn_matmul_work pdnn_heads_work_of(struct pdnn_heads_made *made) {
    uint64_t scratch_bytes = made->primitive ? pdnn_onednn_primitive_scratchpad_bytes(made->primitive)
                                             : pdnn_matmul_scratch_bytes(&made->multiply);
    bool is_slow = made->primitive && pdnn_onednn_primitive_is_reference(made->primitive);
    return (struct pdnn_matmul_work){made, scratch_bytes, bind, run, destroy, is_slow};
}

const char *pdnn_heads_name(const struct pdnn_heads_made *made, char buffer[PDNN_HEADS_TEXT]) {
    if (made->primitive)
        snprintf(buffer, PDNN_HEADS_TEXT, "%.30s matmul", pdnn_onednn_primitive_name(made->primitive));
    else if (made->multiply.sgemm)
        snprintf(buffer, PDNN_HEADS_TEXT, "onednn:sgemm");
    else
        snprintf(buffer, PDNN_HEADS_TEXT, "own:matmul %s", pdnn_level_name());
    return buffer;
}

enum pdnn_status pdnn_onednn_compile_heads(struct pdnn_onednn_compile *compile, uint32_t node,
                                           struct pdnn_err *err) {
    struct pdnn_program *program = compile->program;
    struct pdnn_onednn *onednn = compile->onednn;
    const struct pdnn_node *n = &program->graph->nodes[node];
    const struct pdnn_heads_product product = pdnn_heads_product_of(program->graph, n);
    enum pdnn_dtype dtype = pdnn_node_in(program->graph, n, 0)->dtype;
    enum pdnn_heads_way way;
    char name[PDNN_HEADS_TEXT];
    struct pdnn_heads_made *made = pdnn_arena_alloc(&program->arena, 1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
    enum pdnn_status status =
        pdnn_heads_choose(&onednn->heads, onednn->library, &product, dtype, onednn->own.threads, &way, err);
    if (status == PDNN_OK)
        status = pdnn_heads_create(onednn->library, &product, dtype, way, onednn->own.threads, made, err);
    if (status == PDNN_UNSUPPORTED && pdnn_dtype_is_half(dtype))
        return pdnn_onednn_compile_slow(compile, node, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: matmul for %s", pdnn_dtype_name(dtype));
    const struct pdnn_matmul_work work = pdnn_heads_work_of(made);
    if (work.is_slow)
        status = pdnn_onednn_check_slow(compile, n, err);
    if (status == PDNN_OK)
        status =
            pdnn_matmul_append(program, node, &work, pdnn_heads_name(made, name), onednn->own.threads, err);
    if (status != PDNN_OK)
        pdnn_heads_destroy(made);
    return status;
}
