#include "base/rng.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/lowering/bound_step.h"

/* Forward advances the step counter, unless the counter is not among its outputs. */
static void run(const struct pdnn_bound_step *step) {
    float *counter = step->in[PDNN_DROPOUT_COUNTER];
    if (step->node->n_outputs > PDNN_DROPOUT_NEW_COUNTER)
        *counter += 1;
    struct pdnn_dropout job = {
        .x = step->in[PDNN_DROPOUT_X],
        .y = step->out[PDNN_DROPOUT_Y],
        .elements = step->elements,
        .seed = pdnn_rng_at(step->node->input[PDNN_DROPOUT_COUNTER], (uint64_t)*counter),
        .percent = step->node->attr[PDNN_DROPOUT_PERCENT],
    };
    job.bypass = job.y != job.x && pdnn_step_bypasses_output(step, PDNN_DROPOUT_Y);
    pdnn_dropout_run(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_dropout = {
    .op = &pdnn_op_dropout,
    .pass = {[PDNN_FORWARD] = {.run = run}, [PDNN_BACKWARD_DATA] = {.run = run}},
};
