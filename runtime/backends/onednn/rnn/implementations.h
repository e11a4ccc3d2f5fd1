/* A recurrent layer (models/ops/rnn.c) as oneDNN's primitive: its shape, and the library's description. T
 * steps, N sequences, I inputs, H hidden units, G gates, B bias vectors. In training it has an initial state
 * of zeros, since the library computes wrong gradients without one. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_IMPLEMENTATIONS_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_IMPLEMENTATIONS_H

#include "runtime/backends/onednn/library/primitive.h"

struct pdnn_program;

/* A layer's work in one step. Compared byte by byte, so zero it first. */
struct pdnn_onednn_rnn_shape {
    int64_t T, N, I, H;
    enum pdnn_cell cell;
    enum pdnn_dtype dtype; /* of x, w, u and y; sums are f32 */
    bool is_reverse;
    bool is_training; /* forward saves data for backward */
    bool wants_dx;
    /* two bias vectors per gate; the library takes one, so they are added up for it */
    bool has_two_biases;
};

/* The shape of a forward node's layer. */
void pdnn_onednn_rnn_shape_of(const struct pdnn_program *program, const struct pdnn_node *node,
                              struct pdnn_onednn_rnn_shape *shape);

/* The backward node of a forward one, or NULL; it may read tensors that another node has recomputed. */
const struct pdnn_node *pdnn_onednn_rnn_find_backward(const struct pdnn_program *program,
                                                      const struct pdnn_node *node);

/* Describes the primitive, with weights in the layouts that it asks for; the caller builds
 * it. PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_onednn_rnn_describe(struct pdnn_onednn_pool *pool,
                                          const struct pdnn_onednn_rnn_shape *shape, enum pdnn_pass pass,
                                          struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

#endif
