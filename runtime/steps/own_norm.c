#include "runtime/steps/own_step.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "runtime/kernels/rows/layernorm.h"

#include <stddef.h>

/* Inputs and outputs are in the order of models/ops/layernorm.c and dropout_add_norm.c. */

/* Streamed when the node's results are too large for a cache, unless it takes the place of an input. */
static struct pdnn_layernorm_result result_of(const struct pdnn_own *own, int output) {
    uint64_t bytes = 0;
    bool in_place = false;
    for (int i = 0; i < own->node->n_outputs; i++)
        bytes += pdnn_tensor_bytes(pdnn_node_out(own->graph, own->node, i));
    for (int i = 0; i < own->node->n_inputs; i++)
        in_place = in_place || own->in[i] == own->out[output];
    return (struct pdnn_layernorm_result){own->out[output], !in_place && pdnn_own_bypasses(own, bytes)};
}

uint64_t pdnn_own_norm_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_layernorm_scratch(own->columns, own->threads) * sizeof(float);
}

uint64_t pdnn_own_norm_backward_scratch(const struct pdnn_own *own) {
    return (uint64_t)pdnn_layernorm_backward_scratch(own->rows, own->columns) * sizeof(float);
}

void pdnn_own_layernorm(const struct pdnn_own *own) {
    bool train = own->node->attr[PDNN_LAYERNORM_TRAIN];
    struct pdnn_layernorm job = {
        .R = own->rows,
        .H = own->columns,
        .x = own->in[0],
        .gamma = own->in[1],
        .beta = own->in[2],
        .y = result_of(own, 0),
        .mean = train ? own->out[1] : NULL,
        .inverse_std = train ? own->out[2] : NULL,
        .epsilon = (float)own->node->coef[PDNN_LAYERNORM_EPSILON],
        .scratch = own->scratch,
    };
    pdnn_layernorm_forward(&job, own->threads);
}

/* The gradient of what was normalized is output 0. */
static struct pdnn_layernorm_gradients gradients_of(const struct pdnn_own *own) {
    return (struct pdnn_layernorm_gradients){
        .R = own->rows,
        .H = own->columns,
        .dy = own->in[0],
        .x = own->in[1],
        .gamma = own->in[2],
        .mean = own->in[3],
        .inverse_std = own->in[4],
        .dx = result_of(own, 0),
        .dgamma = own->out[1],
        .dbeta = own->out[2],
        .scratch = own->scratch,
    };
}

void pdnn_own_layernorm_backward(const struct pdnn_own *own) {
    struct pdnn_layernorm_gradients job = gradients_of(own);
    pdnn_layernorm_backward(&job, own->threads);
}

/* What is dropped, 0 where nothing is; the counter is the last input then. */
static int64_t percent_of(const struct pdnn_own *own) {
    const int64_t *attr = own->node->attr;
    return attr[PDNN_DROPOUT_ADD_NORM_TRAIN] ? attr[PDNN_DROPOUT_ADD_NORM_PERCENT] : 0;
}

static uint64_t seed_of(const struct pdnn_own *own) {
    int last = own->node->n_inputs - 1;
    const float *counter = own->in[last];
    return percent_of(own) ? pdnn_rng_at(own->node->input[last], (uint64_t)*counter) : 0;
}

void pdnn_own_dropout_add_norm(const struct pdnn_own *own) {
    bool train = own->node->attr[PDNN_DROPOUT_ADD_NORM_TRAIN];
    float *counter = own->node->n_outputs > 4 ? own->out[4] : NULL;
    if (counter)
        *counter += 1;
    struct pdnn_layernorm job = {
        .R = own->rows,
        .H = own->columns,
        .x = own->in[0],
        .residual = own->in[1],
        .gamma = own->in[2],
        .beta = own->in[3],
        .y = result_of(own, 0),
        .mean = train ? own->out[2] : NULL,
        .inverse_std = train ? own->out[3] : NULL,
        .epsilon = (float)own->node->coef[PDNN_DROPOUT_ADD_NORM_EPSILON],
        .seed = seed_of(own),
        .percent = percent_of(own),
        .scratch = own->scratch,
    };
    if (!own->node->attr[PDNN_DROPOUT_ADD_NORM_Y_ONLY])
        job.z = result_of(own, 1);
    pdnn_layernorm_forward(&job, own->threads);
}

void pdnn_own_dropout_add_norm_backward(const struct pdnn_own *own) {
    struct pdnn_layernorm_gradients job = gradients_of(own);
    job.percent = percent_of(own);
    job.seed = seed_of(own);
    if (own->node->n_inputs - (job.percent > 0) > 5)
        job.dz = own->in[5];
    if (job.percent)
        job.masked = result_of(own, 3);
    pdnn_layernorm_backward(&job, own->threads);
}
