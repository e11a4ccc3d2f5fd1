#include "runtime/backends/onednn/experts/layouts.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/library/primitive.h"
#include "runtime/backends/onednn/tensor_layout.h"
#include "runtime/kernels/gemm/dense_few.h"
#include "runtime/lowering/experts_runs.h"

#include <stdio.h>

/* Outputs of the largest block that the library has. */
enum { BLOCK = 64 };

/* y (n, O) = x (n, I) w^T with w (O, I) in the layout, or in the library's own if that is NULL. */
static enum pdnn_status describe(struct pdnn_onednn_pool *pool, enum pdnn_dtype dtype, int64_t n, int64_t O,
                                 int64_t I, const struct pdnn_onednn_layout *w,
                                 struct pdnn_onednn_primitive **primitive, struct pdnn_err *err) {
    const int64_t x_dim[] = {n, I}, w_dim[] = {O, I}, y_dim[] = {n, O};
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_INNER_PRODUCT, .pass = PDNN_FORWARD};
    request.layout[PDNN_ONEDNN_SRC] = pdnn_onednn_layout_create(pool, dtype, 2, x_dim, PDNN_ONEDNN_ROW_MAJOR);
    request.layout[PDNN_ONEDNN_DST] = pdnn_onednn_layout_create(pool, dtype, 2, y_dim, PDNN_ONEDNN_ROW_MAJOR);
    request.layout[PDNN_ONEDNN_WEIGHTS] =
        w ? w : pdnn_onednn_layout_create(pool, dtype, 2, w_dim, PDNN_ONEDNN_ANY);
    return pdnn_onednn_primitive_describe(pool, &request, primitive, err);
}

/* The library's layout of so many outputs; NULL: it has no fast product. */
static const struct pdnn_onednn_layout *blocks_of(struct pdnn_onednn_pool *pool, enum pdnn_dtype dtype,
                                                  int64_t n, int64_t O, int64_t I) {
    struct pdnn_onednn_primitive *primitive;
    const struct pdnn_onednn_layout *layout = NULL;
    if (describe(pool, dtype, n, O, I, NULL, &primitive, NULL) != PDNN_OK)
        return NULL;
    if (!pdnn_onednn_primitive_is_reference(primitive))
        layout = pdnn_onednn_primitive_layout(primitive, PDNN_ONEDNN_WEIGHTS);
    pdnn_onednn_primitive_destroy(primitive);
    return layout;
}

/* Whether so many rows can be multiplied with these blocks. */
static bool takes(struct pdnn_onednn_pool *pool, enum pdnn_dtype dtype, int64_t n, const int64_t *dim,
                  const struct pdnn_onednn_layout *blocks) {
    struct pdnn_onednn_primitive *primitive;
    if (describe(pool, dtype, n, dim[1], dim[2], blocks, &primitive, NULL) != PDNN_OK)
        return false;
    bool is_fast = !pdnn_onednn_primitive_is_reference(primitive);
    pdnn_onednn_primitive_destroy(primitive);
    return is_fast;
}

/* Only forward products of experts read the weights, and of many rows each. */
static bool is_candidate(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node) {
    const struct pdnn_program *program = compile->program;
    const struct pdnn_graph *graph = program->graph;
    uint32_t w = node->input[PDNN_EXPERTS_W];
    if (node->op != &pdnn_op_experts || node->pass != PDNN_FORWARD ||
        !pdnn_dtype_is_half(graph->tensors[w].dtype) || graph->tensors[w].role != PDNN_ROLE_WEIGHT ||
        program->like || program->opens_weights)
        return false;
    const struct pdnn_user_list tensors = pdnn_users_tensors(&program->users, w),
                                nodes = pdnn_users_nodes(&program->users, w);
    bool is_alone = tensors.begin == tensors.end;
    for (const uint32_t *user = nodes.begin; user < nodes.end; user++)
        is_alone = is_alone && graph->nodes[*user].op == &pdnn_op_experts;
    return is_alone;
}

/* One expert's weights in the blocks of all; NULL where they are no part of them: rows of blocks must be
 * outermost, and nothing be padded. */
static const struct pdnn_onednn_layout *
part_of(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_layout *all, const struct pdnn_tensor *w) {
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    uint64_t bytes = pdnn_tensor_bytes(w);
    if (!pdnn_onednn_layout_is_open(all) || pdnn_onednn_layout_bytes(all) != bytes ||
        pdnn_onednn_layout_format(all, format)[0] != 'A' || w->dim[1] % BLOCK != 0)
        return NULL;
    const struct pdnn_onednn_layout *one = pdnn_onednn_layout_part(pool, all, w->dim + 1);
    return pdnn_onednn_layout_bytes(one) == bytes / (uint64_t)w->dim[0] ? one : NULL;
}

enum pdnn_status pdnn_onednn_experts_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (!is_candidate(compile, node))
            continue;
        const struct pdnn_tensor *w = pdnn_node_in(graph, node, PDNN_EXPERTS_W);
        const int64_t *dim = w->dim;
        const struct pdnn_experts_runs runs = pdnn_experts_runs_of(&compile->program->arena, graph, node);
        int64_t n = runs.product[0].M;
        if (n <= PDNN_DENSE_FEW_ROWS)
            continue;
        const struct pdnn_onednn_layout *all = blocks_of(compile->pool, w->dtype, n, dim[0] * dim[1], dim[2]);
        const struct pdnn_onednn_layout *one = all ? part_of(compile->pool, all, w) : NULL;
        if (one && takes(compile->pool, w->dtype, n, dim, one) && takes(compile->pool, w->dtype, 1, dim, one))
            pdnn_onednn_tensor_layout_set(compile, node->input[PDNN_EXPERTS_W], all);
    }
    return pdnn_onednn_pool_check(compile->pool, err);
}

struct blocked {
    struct pdnn_onednn_primitive *primitive;
    struct pdnn_heads_product run;
    uint64_t element_bytes;
    char *x, *w, *y; /* of the first expert */
};

static char *begin_of(const struct blocked *blocked, void *tensor, const struct pdnn_heads *heads) {
    return (char *)tensor + (uint64_t)heads->offset * blocked->element_bytes;
}

static void bind(void *state, const struct pdnn_matmul_memory *memory) {
    struct blocked *blocked = state;
    blocked->x = begin_of(blocked, memory->a, &blocked->run.a);
    blocked->w = begin_of(blocked, memory->b, &blocked->run.b);
    blocked->y = begin_of(blocked, memory->y, &blocked->run.y);
    if (memory->scratch)
        pdnn_onednn_primitive_bind(blocked->primitive, PDNN_ONEDNN_SCRATCHPAD, memory->scratch);
}

static int run(const void *state) {
    const struct blocked *blocked = state;
    const struct pdnn_heads_product *p = &blocked->run;
    int code = 0;
    for (int64_t i = 0; i < p->B && !code; i++) {
        uint64_t expert = (uint64_t)i * blocked->element_bytes;
        pdnn_onednn_primitive_bind(blocked->primitive, PDNN_ONEDNN_SRC,
                                   blocked->x + expert * (uint64_t)p->a.sequence_stride);
        pdnn_onednn_primitive_bind(blocked->primitive, PDNN_ONEDNN_WEIGHTS,
                                   blocked->w + expert * (uint64_t)p->b.sequence_stride);
        pdnn_onednn_primitive_bind(blocked->primitive, PDNN_ONEDNN_DST,
                                   blocked->y + expert * (uint64_t)p->y.sequence_stride);
        code = pdnn_onednn_primitive_run(blocked->primitive);
    }
    return code;
}

static void destroy(void *state) {
    pdnn_onednn_primitive_destroy(((struct blocked *)state)->primitive);
}

enum pdnn_status pdnn_onednn_experts_blocked(struct pdnn_onednn_compile *compile,
                                             const struct pdnn_node *node,
                                             const struct pdnn_heads_product *run_of,
                                             struct pdnn_matmul_work *work, struct pdnn_err *err) {
    const struct pdnn_tensor *w = pdnn_node_in(compile->program->graph, node, PDNN_EXPERTS_W);
    struct blocked *made = pdnn_arena_alloc(&compile->program->arena, 1, sizeof *made);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    *made = (struct blocked){.run = *run_of, .element_bytes = pdnn_dtype_bytes(w->dtype)};
    const struct pdnn_onednn_layout *one =
        pdnn_onednn_layout_part(compile->pool, compile->layout[node->input[PDNN_EXPERTS_W]], w->dim + 1);
    enum pdnn_status status =
        describe(compile->pool, w->dtype, run_of->M, run_of->N, run_of->K, one, &made->primitive, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_build(made->primitive, err);
    if (status != PDNN_OK) {
        pdnn_onednn_primitive_destroy(made->primitive);
        return status;
    }
    *work = (struct pdnn_matmul_work){
        .state = made,
        .scratch_bytes = pdnn_onednn_primitive_bytes(made->primitive, PDNN_ONEDNN_SCRATCHPAD),
        .bind = bind,
        .run = run,
        .destroy = destroy};
    snprintf(work->name, sizeof work->name, "%.31s inner_product %.16s",
             pdnn_onednn_primitive_name(made->primitive), pdnn_onednn_layout_format(one, format));
    return PDNN_OK;
}
