#include "runtime/steps/own_step.h"

#include "base/rng.h"
#include "models/attributes.h"
#include "runtime/kernels/sequence/attention.h"
#include "runtime/kernels/sequence/ctc.h"
#include "runtime/kernels/rows/dropout.h"
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/kernels/rows/moves.h"

#include <stddef.h>

static const int64_t *in_dim(const struct pdnn_own *own, int i) {
    return pdnn_node_in(own->graph, own->node, i)->dim;
}

static const int64_t *out_dim(const struct pdnn_own *own, int i) {
    return pdnn_node_out(own->graph, own->node, i)->dim;
}

/* Of an output as large as it is in a graph, which has no padding. */
static bool bypasses_output(const struct pdnn_own *own, int i) {
    return pdnn_own_bypasses(own, pdnn_tensor_bytes(pdnn_node_out(own->graph, own->node, i)));
}

/* Either pass: between rows (V, E) and those that are looked up (R, E). */
static struct pdnn_embedding embedding_of(const struct pdnn_own *own) {
    bool forward = own->node->pass == PDNN_FORWARD;
    const int64_t *all = forward ? in_dim(own, 1) : out_dim(own, 0);
    return (struct pdnn_embedding){
        .ids = own->in[0],
        .from = own->in[1],
        .to = own->out[0],
        .R = forward ? out_dim(own, 0)[0] : in_dim(own, 1)[0],
        .V = all[0],
        .E = all[1] / own->per_float,
    };
}

void pdnn_own_embedding(const struct pdnn_own *own) {
    struct pdnn_embedding job = embedding_of(own);
    job.bypass = bypasses_output(own, 0);
    pdnn_embedding_forward(&job, own->threads);
}

uint64_t pdnn_own_embedding_scratch(const struct pdnn_own *own) {
    struct pdnn_embedding job = embedding_of(own);
    return (uint64_t)pdnn_embedding_scratch(job.R, job.V) * sizeof(int64_t);
}

void pdnn_own_embedding_gradient(const struct pdnn_own *own) {
    struct pdnn_embedding job = embedding_of(own);
    job.rest = own->node->n_inputs > 2 ? own->in[2] : NULL;
    job.bypass = job.rest != job.to && bypasses_output(own, 0);
    job.scratch = own->scratch;
    pdnn_embedding_backward(&job, own->threads);
}

void pdnn_own_dropout(const struct pdnn_own *own) {
    float *counter = own->in[1];
    if (own->node->n_outputs > 1)
        *counter += 1;
    struct pdnn_dropout job = {
        .x = own->in[0],
        .y = own->out[0],
        .elements = own->elements,
        .seed = pdnn_rng_at(own->node->input[1], (uint64_t)*counter),
        .percent = own->node->attr[PDNN_DROPOUT_PERCENT],
        .bypass = own->out[0] != own->in[0] && bypasses_output(own, 0),
    };
    pdnn_dropout_run(&job, own->threads);
}

/* A row of x (R, C) in both passes: in backward-data, zeros before and behind the rows of dy. */
void pdnn_own_slice(const struct pdnn_own *own) {
    int64_t first = own->node->attr[PDNN_SLICE_FIRST], rows = own->node->attr[PDNN_SLICE_ROWS];
    int64_t C = own->columns / own->per_float, R = out_dim(own, 0)[0];
    float *to = own->out[0];
    bool bypass = bypasses_output(own, 0);
    if (own->node->pass == PDNN_FORWARD) {
        const float *from = own->in[0];
        struct pdnn_move move = {from + first * C, C, to, C, rows, C};
        pdnn_moves_run(&move, 1, bypass, own->threads);
        return;
    }
    const struct pdnn_move moves[] = {{NULL, C, to, C, first, C},
                                      {own->in[0], C, to + first * C, C, rows, C},
                                      {NULL, C, to + (first + rows) * C, C, R - first - rows, C}};
    pdnn_moves_run(moves, 3, bypass, own->threads);
}

/* The new rows of each sequence, or the one new row of all of them. */
void pdnn_own_cache_append(const struct pdnn_own *own) {
    const int64_t *attr = own->node->attr, *cache = in_dim(own, 1), *x = in_dim(own, 0);
    int64_t B = attr[PDNN_CACHE_APPEND_SEQUENCES], n = x[0] / B, m = cache[0] / B;
    int64_t H = cache[1] / own->per_float, width = x[1] / own->per_float;
    const float *from = (const float *)own->in[0] + attr[PDNN_CACHE_APPEND_COLUMN] / own->per_float;
    float *to = (float *)own->out[0] + attr[PDNN_CACHE_APPEND_POSITION] * H;
    if (n == 1) {
        const struct pdnn_move move = {from, width, to, m * H, B, H};
        pdnn_moves_run(&move, 1, false, own->threads);
        return;
    }
    for (int64_t b = 0; b < B; b++) {
        const struct pdnn_move move = {from + b * n * width, width, to + b * m * H, H, n, H};
        pdnn_moves_run(&move, 1, false, own->threads);
    }
}

void pdnn_own_concat(const struct pdnn_own *own) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    float *to = own->out[0];
    int64_t whole = out_dim(own, 0)[1] / own->per_float;
    for (int i = 0; i < own->node->n_inputs; i++) {
        int64_t columns = in_dim(own, i)[1] / own->per_float;
        moves[i] = (struct pdnn_move){own->in[i], columns, to, whole, own->rows, columns};
        to += columns;
    }
    pdnn_moves_run(moves, own->node->n_inputs, bypasses_output(own, 0), own->threads);
}

void pdnn_own_concat_backward(const struct pdnn_own *own) {
    struct pdnn_move moves[PDNN_NODE_OUTPUTS];
    const float *from = own->in[0];
    int64_t whole = own->columns / own->per_float;
    for (int i = 0; i < own->node->n_outputs; i++) {
        int64_t columns = out_dim(own, i)[1] / own->per_float;
        moves[i] = (struct pdnn_move){from, whole, own->out[i], columns, own->rows, columns};
        from += columns;
    }
    pdnn_moves_run(moves, own->node->n_outputs, bypasses_output(own, 0), own->threads);
}

void pdnn_own_sequence(const struct pdnn_own *own) {
    bool forward = own->node->pass == PDNN_FORWARD;
    const int64_t *image = forward ? in_dim(own, 0) : out_dim(own, 0); /* (N, C, F, T) */
    struct pdnn_sequence shape = {image[0], image[1], image[2], image[3], own->shape.block};
    if (forward)
        pdnn_sequence_forward(&shape, own->in[0], own->out[0], own->threads);
    else
        pdnn_sequence_backward(&shape, own->in[0], own->out[0], own->threads);
}

/* Queries, keys, values, vector and scale follow each other from input `first` on. */
static struct pdnn_attention attention_of(const struct pdnn_own *own, int first) {
    int64_t N = own->node->attr[PDNN_ATTENTION_SEQUENCES];
    const int64_t *q = in_dim(own, first), *values = in_dim(own, first + 2);
    return (struct pdnn_attention){
        .T = q[0] / N,
        .S = values[0] / N,
        .N = N,
        .H = q[1],
        .D = values[1],
        .q = own->in[first],
        .k = own->in[first + 1],
        .values = own->in[first + 2],
        .v = own->in[first + 3],
        .g = own->in[first + 4],
        .scratch = own->scratch,
    };
}

static int first_operand(const struct pdnn_own *own) {
    return own->node->pass == PDNN_FORWARD ? 0 : 1;
}

uint64_t pdnn_own_attention_scratch(const struct pdnn_own *own) {
    struct pdnn_attention job = attention_of(own, first_operand(own));
    return (uint64_t)pdnn_attention_scratch(&job, own->threads) * sizeof(float);
}

void pdnn_own_attention(const struct pdnn_own *own) {
    struct pdnn_attention job = attention_of(own, first_operand(own));
    pdnn_attention_forward(&job, own->out[0], own->node->n_outputs > 1 ? own->out[1] : NULL, own->threads);
}

void pdnn_own_attention_backward(const struct pdnn_own *own) {
    struct pdnn_attention job = attention_of(own, first_operand(own));
    struct pdnn_attention_gradients gradients = {
        .dcontext = own->in[0],
        .p = own->in[6],
        .dq = own->out[0],
        .dk = own->out[1],
        .dvalues = own->out[2],
        .dv = own->out[3],
        .dg = own->out[4],
    };
    pdnn_attention_backward(&job, &gradients, own->threads);
}

static struct pdnn_ctc ctc_of(const struct pdnn_own *own) {
    const int64_t *labels = in_dim(own, 1); /* (L, N) */
    return (struct pdnn_ctc){
        .T = own->rows / labels[1],
        .N = labels[1],
        .C = own->columns,
        .L = labels[0],
        .logits = own->in[0],
        .labels = own->in[1],
        .loss = own->out[0],
        .dlogits = own->out[1],
        .scratch = own->scratch,
        .scale = own->node->coef[0],
    };
}

uint64_t pdnn_own_ctc_scratch(const struct pdnn_own *own) {
    struct pdnn_ctc job = ctc_of(own);
    return (uint64_t)pdnn_ctc_scratch(&job, own->threads) * sizeof(double);
}

void pdnn_own_ctc(const struct pdnn_own *own) {
    struct pdnn_ctc job = ctc_of(own);
    pdnn_ctc_run(&job, own->threads);
}
