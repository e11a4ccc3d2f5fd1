/* Recurrent layers (models/ops/rnn.c) unrolled over their steps: matrix products by a backend's
 * library, with our own kernels for the cells between them. Each pass is one call of the program. All
 * tensors are plain row-major f32.
 * T steps, N sequences, I inputs, H hidden units, G gates; R = T*N rows. */
#ifndef RUNTIME_LOWERING_RNN_UNROLLED_H
#define RUNTIME_LOWERING_RNN_UNROLLED_H

#include "models/cell.h"
#include "runtime/lowering/sgemm.h"
#include "runtime/backend/backend.h"

/* One pass of a node: forward, or backward-data with all gradients. The addresses must be set before it runs;
 * scratch is 64-byte aligned. */
struct pdnn_rnn_unrolled {
    const struct pdnn_sgemm_library *library;
    int64_t threads;
    enum pdnn_cell cell;
    bool is_backward, is_reverse;
    bool is_train;       /* forward saves what backward needs */
    bool has_two_biases; /* per gate */
    int64_t T, N, I, H, G;
    int64_t sums; /* bias vectors (H), with one per sum */
    const float *x, *w, *u, *b, *dy;
    float *y, *saved;         /* saved may be NULL */
    float *dw, *du, *db, *dx; /* dx: NULL if not wanted */
    float *scratch;
};

uint64_t pdnn_rnn_unrolled_scratch_bytes(const struct pdnn_rnn_unrolled *rnn);

/* Returns 0, or the library's error code. */
int pdnn_rnn_unrolled_run(const struct pdnn_rnn_unrolled *rnn);

/* What a layer moves besides the compulsory bytes where each step is a product of its own: its recurrent
 * weights, read again at every step but one. Between two readings a step touches them all, its sums and two
 * states. */
struct pdnn_extra_traffic pdnn_rnn_extra(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Appends the call of an rnn node whose slots are plain row-major. */
void pdnn_rnn_compile(const struct pdnn_sgemm_library *library, int64_t threads, struct pdnn_program *program,
                      uint32_t node);

#endif
