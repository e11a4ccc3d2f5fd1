#include "base/rng.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/lowering/bound_call.h"

/* Forward advances the step counter, unless the counter is not among its outputs. */
static void run(const struct pdnn_bound_call *call) {
    float *counter = call->in[PDNN_DROPOUT_COUNTER];
    if (call->node->n_outputs > PDNN_DROPOUT_NEW_COUNTER)
        *counter += 1;
    struct pdnn_dropout job = {
        .x = call->in[PDNN_DROPOUT_X],
        .y = call->out[PDNN_DROPOUT_Y],
        .elements = call->elements,
        .seed = pdnn_rng_at(call->node->input[PDNN_DROPOUT_COUNTER], (uint64_t)*counter),
        .percent = call->node->attr[PDNN_DROPOUT_PERCENT],
    };
    if (pdnn_node_in(call->graph, call->node, PDNN_DROPOUT_X)->rank == 4 && call->in_block[0] > 1)
        job.images = call->shape;
    job.bypass = job.y != job.x && pdnn_call_bypasses_output(call, PDNN_DROPOUT_Y);
    pdnn_dropout_run(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_dropout = {
    .op = &pdnn_op_dropout,
    .pass = {[PDNN_FORWARD] = {.run = run}, [PDNN_BACKWARD_DATA] = {.run = run}},
};
