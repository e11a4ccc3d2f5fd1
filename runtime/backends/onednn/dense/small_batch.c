#include "runtime/backends/onednn/dense/small_batch.h"

#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>

_Static_assert((int)PDNN_DENSE_FEW_FUNCTIONS >= (int)PDNN_NODE_POSTS, "room for all posts of a node");

bool pdnn_onednn_dense_function_of(const struct pdnn_onednn_post_op *post,
                                   struct pdnn_dense_few_function *function) {
    if (post->activation)
        *function = (struct pdnn_dense_few_function){post->activation->forward, {post->alpha, post->beta}};
    return post->activation != NULL;
}

enum pdnn_status pdnn_onednn_dense_small_batch_describe(const struct pdnn_onednn_dense_shape *shape,
                                                        enum pdnn_pass pass,
                                                        enum pdnn_onednn_weights_format format,
                                                        struct pdnn_dense_few_job *job,
                                                        struct pdnn_err *err) {
    struct pdnn_dense_few_job made = {
        .N = shape->N, .I = shape->I, .O = shape->O, .n_functions = shape->n_post_ops};
    bool fits = pass == PDNN_FORWARD && format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR &&
                shape->dtype != PDNN_INT8 && shape->weights_dtype == shape->dtype &&
                shape->N <= PDNN_DENSE_FEW_ROWS;
    made.is_half = pdnn_dtype_is_half(shape->dtype);
    if (made.is_half)
        made.half = pdnn_half_of(shape->dtype);
    for (int i = 0; fits && i < shape->n_post_ops; i++)
        fits = pdnn_onednn_dense_function_of(&shape->post_op[i], &made.function[i]);
    if (!fits)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "our own dense is forward, on row-major weights, for %d rows at most",
                         PDNN_DENSE_FEW_ROWS);
    *job = made;
    return PDNN_OK;
}

struct small_batch_call {
    struct pdnn_dense_few_job job;
    struct pdnn_onednn_dense_slots slots;
    uint32_t room_slot; /* or PDNN_NONE */
    int64_t threads;
};

static void bind(void *state, void *const *memory) {
    struct small_batch_call *batch = state;
    struct pdnn_dense_few_job *job = &batch->job;
    void *x = memory[batch->slots.x], *w = memory[batch->slots.w], *y = memory[batch->slots.y];
    job->b = batch->slots.b == PDNN_NONE ? NULL : memory[batch->slots.b];
    if (job->is_half) {
        job->half_x = x;
        job->half_w = w;
        job->half_y = y;
        job->room = memory[batch->room_slot];
    } else {
        job->x = x;
        job->w = w;
        job->y = y;
    }
}

static int run(void *state) {
    const struct small_batch_call *batch = state;
    pdnn_dense_few_run(&batch->job, batch->threads);
    return 0;
}

void pdnn_onednn_dense_small_batch_append(struct pdnn_program *program, struct pdnn_call *call,
                                          const struct pdnn_dense_few_job *job,
                                          const struct pdnn_onednn_dense_slots *slots, int64_t threads) {
    struct small_batch_call *batch = pdnn_arena_alloc(&program->arena, 1, sizeof *batch);
    *batch = (struct small_batch_call){*job, *slots, PDNN_NONE, threads};
    pdnn_call_use(call, slots->x);
    pdnn_call_use(call, slots->w);
    pdnn_call_use(call, slots->y);
    if (slots->b != PDNN_NONE)
        pdnn_call_use(call, slots->b);
    if (job->is_half)
        batch->room_slot =
            pdnn_call_scratch(call, program, (uint64_t)(job->N * (job->I + job->O)) * sizeof(float));
    snprintf(call->implementation, sizeof call->implementation, "paradnn:dense %s%s", pdnn_level_name(),
             !job->is_half                 ? ""
             : job->half == PDNN_HALF_BF16 ? " bf16"
                                           : " f16");
    call->work = (struct pdnn_work){batch, bind, run, NULL};
    pdnn_program_call(program, call);
}
