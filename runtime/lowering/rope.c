/* Rotary positions, in f32 and on 16-bit elements. */
#include "runtime/kernels/rows/rope.h"
#include "runtime/lowering/bound_call.h"

static uint64_t scratch_bytes(const struct pdnn_bound_call *call) {
    return (uint64_t)pdnn_rope_scratch(call->node->attr[PDNN_ROPE_WIDTH], call->threads) * sizeof(float);
}

static void run(const struct pdnn_bound_call *call) {
    const int64_t *attr = call->node->attr;
    const struct pdnn_rope job = {
        .R = call->rows,
        .ld = call->columns,
        .heads = attr[PDNN_ROPE_HEADS],
        .width = attr[PDNN_ROPE_WIDTH],
        .column = attr[PDNN_ROPE_COLUMN],
        .rows = call->rows / attr[PDNN_ROPE_SEQUENCES],
        .position = attr[PDNN_ROPE_POSITION],
        .theta = call->node->coef[PDNN_ROPE_THETA],
        .back = call->node->pass == PDNN_BACKWARD_DATA,
        .stored = call->shape.stored,
        .x = call->in[PDNN_ROPE_X],
        .y = call->out[PDNN_ROPE_Y],
        .bypass =
            call->out[PDNN_ROPE_Y] != call->in[PDNN_ROPE_X] && pdnn_call_bypasses_output(call, PDNN_ROPE_Y),
        .scratch = call->scratch,
    };
    pdnn_rope_run(&job, call->threads);
}

#define PASS                                                                                                 \
    { .run = run, .ranks = PDNN_RANK(2), .scratch_bytes = scratch_bytes, .half = PDNN_HALF_NATIVE }

const struct pdnn_lowering pdnn_lowering_rope = {
    .op = &pdnn_op_rope,
    .pass = {[PDNN_FORWARD] = PASS, [PDNN_BACKWARD_DATA] = PASS},
};
