#include "runtime/backends/onednn/dense/small_batch.h"

#include "runtime/lowering/call.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>

static const enum pdnn_elementwise functions[PDNN_ONEDNN_SUM] = {
    [PDNN_ONEDNN_RELU] = PDNN_RELU_FORWARD,           [PDNN_ONEDNN_SIGMOID] = PDNN_SIGMOID_FORWARD,
    [PDNN_ONEDNN_TANH] = PDNN_TANH_FORWARD,           [PDNN_ONEDNN_GELU] = PDNN_GELU_FORWARD,
    [PDNN_ONEDNN_GELU_TANH] = PDNN_GELU_TANH_FORWARD,
};
_Static_assert((int)PDNN_DENSE_FEW_FUNCTIONS >= (int)PDNN_NODE_POSTS, "room for all posts of a node");

enum pdnn_status pdnn_onednn_dense_small_batch_describe(const struct pdnn_onednn_dense_shape *shape,
                                                        enum pdnn_pass pass,
                                                        enum pdnn_onednn_weights_format format,
                                                        struct pdnn_dense_few_job *job,
                                                        struct pdnn_err *err) {
    struct pdnn_dense_few_job made = {
        .N = shape->N, .I = shape->I, .O = shape->O, .n_functions = shape->n_post_ops};
    bool fits = pass == PDNN_FORWARD && format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR && shape->dtype == PDNN_F32 &&
                shape->N <= PDNN_DENSE_FEW_ROWS;
    for (int i = 0; fits && i < shape->n_post_ops; i++) {
        fits = shape->post_op[i] < PDNN_ONEDNN_SUM;
        made.function[i] = fits ? functions[shape->post_op[i]] : PDNN_ADD;
    }
    if (!fits)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "our own dense is forward, in f32, on row-major weights, for %d rows at most",
                         PDNN_DENSE_FEW_ROWS);
    *job = made;
    return PDNN_OK;
}

struct small_batch_call {
    struct pdnn_dense_few_job job;
    struct pdnn_onednn_dense_small_batch_slots slots;
    int64_t threads;
};

static void bind(void *state, void *const *memory) {
    struct small_batch_call *batch = state;
    batch->job.x = memory[batch->slots.x];
    batch->job.w = memory[batch->slots.w];
    batch->job.b = batch->slots.b == PDNN_NONE ? NULL : memory[batch->slots.b];
    batch->job.y = memory[batch->slots.y];
}

static int run(void *state) {
    const struct small_batch_call *batch = state;
    pdnn_dense_few_run(&batch->job, batch->threads);
    return 0;
}

void pdnn_onednn_dense_small_batch_append(struct pdnn_program *program, struct pdnn_call *call,
                                          const struct pdnn_dense_few_job *job,
                                          const struct pdnn_onednn_dense_small_batch_slots *slots,
                                          int64_t threads) {
    struct small_batch_call *batch = pdnn_arena_alloc(&program->arena, 1, sizeof *batch);
    *batch = (struct small_batch_call){*job, *slots, threads};
    pdnn_call_use(call, slots->x);
    pdnn_call_use(call, slots->w);
    pdnn_call_use(call, slots->y);
    if (slots->b != PDNN_NONE)
        pdnn_call_use(call, slots->b);
    snprintf(call->implementation, sizeof call->implementation, "paradnn:dense %s", pdnn_level_name());
    call->work = (struct pdnn_work){batch, bind, run, NULL};
    pdnn_program_call(program, call);
}
