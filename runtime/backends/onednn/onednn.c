#include "base/memory.h"
#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/conv2d/implementations.h"
#include "runtime/backends/onednn/conv2d/layouts.h"
#include "runtime/backends/onednn/dense/layouts.h"
#include "runtime/backends/onednn/experts/layouts.h"
#include "runtime/backends/onednn/library/primitive.h"
#include "runtime/backends/onednn/rnn/layouts.h"
#include "runtime/backends/onednn/rows.h"
#include "runtime/backends/onednn/tensor_layout.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The ops that oneDNN runs well; the rest run on our own kernels. */
static const struct pdnn_lowering *const rows[] = {&pdnn_onednn_dense_row,
                                                   &pdnn_onednn_conv2d_row,
                                                   &pdnn_onednn_conv_transpose2d_row,
                                                   &pdnn_onednn_matmul_row,
                                                   &pdnn_onednn_rnn_row,
                                                   &pdnn_onednn_cast_row,
                                                   &pdnn_onednn_experts_row,
                                                   NULL};

static enum pdnn_status open_onednn(const struct pdnn_call_options *options, void **state,
                                    struct pdnn_err *err) {
    struct pdnn_onednn *onednn = pdnn_alloc(1, sizeof *onednn);
    omp_set_num_threads((int)options->threads);
    onednn->options = *options;
    onednn->tune.threads = pdnn_core_share_threads(options->threads);
    enum pdnn_status status = pdnn_onednn_library_create(&onednn->library, err);
    if (status != PDNN_OK) {
        free(onednn);
        return status;
    }
    *state = onednn;
    return PDNN_OK;
}

static void close_onednn(void *state) {
    struct pdnn_onednn *onednn = state;
    if (!onednn)
        return;
    pdnn_tune_finish(&onednn->tune);
    pdnn_onednn_library_destroy(onednn->library);
    free(onednn);
}

static void release(void *state) {
    struct pdnn_onednn_layouts *layouts = state;
    pdnn_onednn_pool_finish(&layouts->pool);
}

/* If values may be negative, they are stored 128 higher, which fits an unsigned byte. */
static void place_quantized(struct pdnn_program *program) {
    const int32_t offset = 128;
    for (size_t i = 0; i < program->graph->n_nodes; i++) {
        const struct pdnn_node *node = &program->graph->nodes[i];
        if (node->op == &pdnn_op_quantize && !node->attr[PDNN_QUANTIZE_NON_NEGATIVE])
            program->slots[node->output[PDNN_QUANTIZE_Q]].zero_point = offset;
    }
}

static enum pdnn_status compile(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err) {
    struct pdnn_onednn *onednn = state;
    struct pdnn_onednn_layouts *layouts = pdnn_arena_alloc(&program->arena, 1, sizeof *layouts);
    struct pdnn_onednn_compile compile = {.onednn = onednn, .program = program, .pool = &layouts->pool};
    compile.layout =
        pdnn_arena_alloc(&program->arena, graph->n_tensors + 1, sizeof(struct pdnn_onednn_layout *));
    compile.choice = pdnn_arena_alloc(&program->arena, graph->n_tensors + 1,
                                      sizeof(const struct pdnn_onednn_dense_choice *));
    compile.layer = pdnn_arena_alloc(&program->arena, graph->n_tensors + 1, sizeof *compile.layer);
    compile.convolution =
        pdnn_arena_alloc(&program->arena, graph->n_nodes + 1, sizeof(struct pdnn_onednn_conv2d *));
    *layouts = (struct pdnn_onednn_layouts){{.library = onednn->library}, compile.layout, compile.layer};
    program->layouts = layouts;
    program->release = release;
    compile.calls = (struct pdnn_calls){.backend = &pdnn_backend_onednn,
                                        .state = state,
                                        .program = program,
                                        .options = &onednn->options,
                                        .rows = rows,
                                        .compilation = &compile};
    const uint64_t outer_bytes = onednn->trial_bytes; /* of the compilation that measures this program */
    const bool is_outer_untried = onednn->tune.is_untried;
    onednn->trial_bytes = program->trial_bytes;
    onednn->tune.is_untried = false;
    place_quantized(program);
    pdnn_onednn_tensor_layout_adopt(&compile);
    enum pdnn_status status = pdnn_onednn_rnn_place(&compile, err);
    if (!onednn->is_trial)
        pdnn_tune_begin(&onednn->tune);
    if (status == PDNN_OK)
        status = pdnn_onednn_dense_place(&compile, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_conv2d_place(&compile, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_experts_place(&compile, err);
    if (status == PDNN_OK)
        status = pdnn_calls_compile(&compile.calls, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_pool_check(compile.pool, err);
    pdnn_onednn_conv2d_finish(&compile);
    program->is_untried = program->is_untried || onednn->tune.is_untried;
    onednn->trial_bytes = outer_bytes;
    onednn->tune.is_untried = is_outer_untried;
    return status;
}

static struct pdnn_tune *tune_of(void *state) {
    return &((struct pdnn_onednn *)state)->tune;
}

/* Runs a reorder once. The library does not take const addresses, but does not write to the source. */
static enum pdnn_status convert(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_layout *from,
                                void *source, const struct pdnn_onednn_layout *to, void *target,
                                struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
    struct pdnn_onednn_primitive *reorder;
    request.layout[PDNN_ONEDNN_SRC] = from;
    request.layout[PDNN_ONEDNN_DST] = to;
    enum pdnn_status status = pdnn_onednn_primitive_create(pool, &request, &reorder, err);
    if (status != PDNN_OK)
        return status;
    const uint64_t scratch_bytes = pdnn_onednn_primitive_bytes(reorder, PDNN_ONEDNN_SCRATCHPAD);
    void *scratch = pdnn_ask(scratch_bytes, "for a reorder", err);
    pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_SRC, source);
    pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_DST, target);
    if (scratch_bytes)
        pdnn_onednn_primitive_bind(reorder, PDNN_ONEDNN_SCRATCHPAD, scratch);
    if (!scratch)
        status = PDNN_NO_MEMORY;
    else if (pdnn_onednn_primitive_run(reorder) != 0)
        status = pdnn_fail(err, PDNN_INTERNAL, "onednn: a reorder failed");
    pdnn_onednn_primitive_destroy(reorder);
    free(scratch);
    return status;
}

static void *without_const(const void *address) {
    union {
        const void *in;
        void *out;
    } cast = {address};
    return cast.out;
}

/* Converts between values and their stored form. Works in both directions, since 128
 * added twice wraps around. */
static void shift(void *values, uint64_t bytes, int32_t zero_point) {
    uint8_t *value = values;
    for (uint64_t i = 0; zero_point && i < bytes; i++)
        value[i] = (uint8_t)(value[i] + zero_point);
}

/* Copies between a plain array and the slot; `put` says in which direction. */
static enum pdnn_status move(void *state, const struct pdnn_program *program, uint32_t tensor,
                             const void *from, void *to, bool put, struct pdnn_err *err) {
    const struct pdnn_onednn_layouts *layouts = program->layouts;
    const struct pdnn_tensor *t = &program->graph->tensors[tensor];
    const struct pdnn_onednn_layout *stored = layouts->layout[tensor];
    struct pdnn_onednn *onednn = state;
    struct pdnn_onednn_pool pool = {.library = onednn->library};
    if (pdnn_onednn_tensor_layout_is_plain(program, tensor)) {
        memcpy(to, from, pdnn_tensor_bytes(t));
        shift(to, pdnn_tensor_bytes(t), program->slots[tensor].zero_point);
        return PDNN_OK;
    }
    const struct pdnn_onednn_layout *plain = pdnn_onednn_layout_plain(&pool, stored),
                                    *source = put ? plain : stored, *target = put ? stored : plain;
    enum pdnn_status status = convert(&pool, source, without_const(from), target, to, err);
    if (status == PDNN_OK)
        shift(to, pdnn_onednn_layout_bytes(target), program->slots[tensor].zero_point);
    pdnn_onednn_pool_finish(&pool);
    return status;
}

static enum pdnn_status put(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *plain, void *memory, struct pdnn_err *err) {
    return move(state, program, tensor, plain, memory, true, err);
}

static enum pdnn_status get(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *memory, void *plain, struct pdnn_err *err) {
    return move(state, program, tensor, memory, plain, false, err);
}

const struct pdnn_backend_def pdnn_backend_onednn = {
    .name = "onednn",
    .help = "oneDNN primitives, and our own kernels for all but dense layers and convolutions",
    .version = pdnn_onednn_version,
    .path = pdnn_onednn_path,
    .effective_isa = pdnn_onednn_isa_name,
    .isa_variable = NULL, /* the library has a function for this */
    .limit_isa = pdnn_onednn_limit_isa,
    .ignores = pdnn_onednn_ignores,
    .open = open_onednn,
    .close = close_onednn,
    .tune = tune_of,
    .compile = compile,
    .put = put,
    .get = get,
    .is_plain = pdnn_onednn_tensor_layout_is_plain,
};
