/* A recurrent layer (models/ops/rnn.c) as oneDNN's primitive: its shape, and what the library makes of it. T
 * steps, N sequences, I inputs, H hidden units, G gates, B vectors of bias. Training has an initial state, of
 * zeros, since the library needs one for right gradients. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_WAYS_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_WAYS_H

#include "models/cell.h"
#include "runtime/backends/onednn/library/primitive.h"

/* What a layer has to do in one step. Compared byte by byte: zero it first. */
struct pdnn_onednn_rnn_shape {
    int64_t T, N, I, H;
    enum pdnn_cell cell;
    enum pdnn_dtype dtype; /* of x, w, u and y; what adds up is f32 */
    bool is_reverse;
    bool is_training; /* forward leaves something for backward */
    bool wants_dx;
    bool has_two_biases; /* per gate: the library has one, so they are added up for it */
};

/* The shape of a forward node's layer. */
void pdnn_onednn_rnn_shape_of(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_onednn_rnn_shape *shape);

/* The backward node of a forward one, or NULL; it may read what another node has recomputed. */
const struct pdnn_node *pdnn_onednn_rnn_find_backward(const struct pdnn_graph *graph,
                                                      const struct pdnn_node *node);

/* What the library would run, weights in the layouts that it asks for; to be built. PDNN_UNSUPPORTED. */
enum pdnn_status pdnn_onednn_rnn_describe(struct pdnn_onednn_library *library,
                                          const struct pdnn_onednn_rnn_shape *shape, enum pdnn_pass pass,
                                          struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

#endif
