#include "runtime/backends/onednn/dense/layouts.h"

#include "base/checked.h"
#include "runtime/backends/onednn/dense/tune.h"
#include "runtime/backends/onednn/tensor_layout.h"

/* Finds the format of weights that are already placed, and sets is_placed if it is one of the known ones. */
static enum pdnn_status describe_stored(const struct pdnn_onednn_compile *compile, uint32_t weights,
                                        struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err) {
    const struct pdnn_onednn_layout *stored = pdnn_onednn_tensor_layout(compile, weights), *layout;
    enum pdnn_status status = PDNN_OK;
    for (int format = 0; status == PDNN_OK && !shape->is_placed && format < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT;
         format++) {
        shape->stored = (enum pdnn_onednn_weights_format)format;
        status = pdnn_onednn_dense_weights_layout(compile->pool, shape, shape->stored, &layout, err);
        shape->is_placed = status == PDNN_OK && pdnn_onednn_layout_equal(layout, stored);
        status = status == PDNN_UNSUPPORTED ? PDNN_OK : status;
    }
    return status;
}

static enum pdnn_status place(struct pdnn_onednn_compile *compile, uint32_t weights,
                              struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err) {
    const struct pdnn_onednn_layout *layout;
    enum pdnn_status status = PDNN_OK;
    if (compile->program->like && !shape->pinned)
        status = describe_stored(compile, weights, shape, err);
    struct pdnn_onednn_dense_choice *choice = pdnn_arena_alloc(&compile->program->arena, 1, sizeof *choice);
    if (status == PDNN_OK)
        status = pdnn_onednn_dense_choose(compile, weights, shape, choice, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: dense for %s", pdnn_dtype_name(shape->dtype));
    compile->choice[weights] = choice;
    enum pdnn_onednn_weights_format stored = choice->stored;
    if (stored == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR || shape->pinned || compile->program->like)
        return PDNN_OK;
    status = pdnn_onednn_dense_weights_layout(compile->pool, shape, stored, &layout, err);
    if (status == PDNN_OK)
        pdnn_onednn_tensor_layout_set_weights(compile, weights, layout);
    return status;
}

/* Whether the library has any implementation of the pass. If it has no fast one, slow
 * ones must be allowed. */
static enum pdnn_status check_half(const struct pdnn_onednn_compile *compile,
                                   const struct pdnn_onednn_dense_shape *shape, const struct pdnn_node *node,
                                   bool *is_there, struct pdnn_err *err) {
    enum pdnn_onednn_dense_support support = PDNN_ONEDNN_DENSE_FAST;
    enum pdnn_status status = PDNN_OK;
    if (pdnn_dtype_is_half(shape->dtype))
        status = pdnn_onednn_dense_pass_support(compile->pool, shape, node->pass, &support, err);
    if (status == PDNN_OK && support != PDNN_ONEDNN_DENSE_FAST)
        status = pdnn_onednn_upcast_check(compile, node, err);
    *is_there = support != PDNN_ONEDNN_DENSE_NONE;
    return status;
}

/* Leaves out weights with a pass that the library does not have: all their passes run on f32 copies. */
static enum pdnn_status leave_out_upcast(struct pdnn_onednn_compile *compile,
                                         struct pdnn_onednn_dense_shape *shapes, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        uint32_t weights = pdnn_onednn_dense_weights_of(graph, &graph->nodes[i]);
        bool is_there = true;
        if (weights == PDNN_NONE || !shapes[weights].N)
            continue;
        status = check_half(compile, &shapes[weights], &graph->nodes[i], &is_there, err);
        compile->has_upcast = compile->has_upcast || !is_there;
        if (!is_there)
            shapes[weights].N = 0;
    }
    return status;
}

/* Rounded to a power of two, so that models that differ little share their measurements. */
static int64_t footprint_bytes(const struct pdnn_program *program) {
    uint64_t bytes = 0;
    int64_t rounded = 1;
    for (size_t i = 0; i < program->graph->n_tensors; i++) {
        if (!pdnn_add_u64(&bytes, pdnn_tensor_bytes(&program->graph->tensors[i])))
            return INT64_MAX;
    }
    while ((uint64_t)rounded < bytes && rounded <= INT64_MAX / 2)
        rounded *= 2;
    return rounded;
}

enum pdnn_status pdnn_onednn_dense_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_onednn_dense_shape *shapes =
        pdnn_arena_alloc(&compile->program->arena, graph->n_tensors + 1, sizeof *shapes);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        uint32_t weights = pdnn_onednn_dense_weights_of(graph, node);
        if (weights == PDNN_NONE)
            continue;
        status = pdnn_onednn_dense_shape_add(compile->program, node, &shapes[weights], err);
    }
    if (status == PDNN_OK)
        status = leave_out_upcast(compile, shapes, err);
    const int64_t bytes = footprint_bytes(compile->program);
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_tensors; i++) {
        if (!shapes[i].N)
            continue;
        shapes[i].pinned = pdnn_onednn_tensor_layout_is_pinned(compile->program, i);
        shapes[i].footprint_bytes = bytes;
        status = place(compile, i, &shapes[i], err);
    }
    return status;
}
