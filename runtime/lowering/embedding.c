/* Gathers rows (R, E) from x (V, E); backward scatters their gradients. */
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/lowering/bound_step.h"

static void forward(const struct pdnn_bound_step *step) {
    const int64_t *x = pdnn_step_in_dim(step, PDNN_EMBEDDING_X);
    struct pdnn_embedding job = {
        .ids = step->in[PDNN_EMBEDDING_IDS],
        .from = step->in[PDNN_EMBEDDING_X],
        .to = step->out[PDNN_EMBEDDING_Y],
        .R = pdnn_step_out_dim(step, PDNN_EMBEDDING_Y)[0],
        .V = x[0],
        .E = x[1] / step->per_float,
        .bypass = pdnn_step_bypasses_output(step, PDNN_EMBEDDING_Y),
    };
    pdnn_embedding_forward(&job, step->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_step *step) {
    int64_t R = pdnn_step_in_dim(step, PDNN_EMBEDDING_BACK_DY)[0];
    int64_t V = pdnn_step_out_dim(step, PDNN_EMBEDDING_BACK_DX)[0];
    return (uint64_t)pdnn_embedding_scratch(R, V) * sizeof(int64_t);
}

static void backward(const struct pdnn_bound_step *step) {
    const int64_t *dx = pdnn_step_out_dim(step, PDNN_EMBEDDING_BACK_DX);
    struct pdnn_embedding job = {
        .ids = step->in[PDNN_EMBEDDING_BACK_IDS],
        .from = step->in[PDNN_EMBEDDING_BACK_DY],
        .rest = step->in[PDNN_EMBEDDING_BACK_REST],
        .to = step->out[PDNN_EMBEDDING_BACK_DX],
        .R = pdnn_step_in_dim(step, PDNN_EMBEDDING_BACK_DY)[0],
        .V = dx[0],
        .E = dx[1],
        .scratch = step->scratch,
    };
    job.bypass = job.rest != job.to && pdnn_step_bypasses_output(step, PDNN_EMBEDDING_BACK_DX);
    pdnn_embedding_backward(&job, step->threads);
}

const struct pdnn_step_def pdnn_step_embedding = {
    .op = &pdnn_op_embedding,
    .pass = {[PDNN_FORWARD] = {.run = forward, .half = PDNN_HALF_PAIRS},
             [PDNN_BACKWARD_DATA] = {.run = backward, .scratch_bytes = backward_scratch},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward, .scratch_bytes = backward_scratch}},
};
