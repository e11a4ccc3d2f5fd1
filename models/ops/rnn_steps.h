/* The rnn op's reference: the loop over steps and its matrix products, around the per-unit cell functions of
 * models/ops/rnn_cells.h. models/ops/rnn.c has the formulas and the legend. */
#ifndef MODELS_OPS_RNN_STEPS_H
#define MODELS_OPS_RNN_STEPS_H

#include "models/op.h"
#include "models/ops/rnn_cells.h"

struct pdnn_rnn_geometry {
    const struct pdnn_cell_def *cell;
    const struct pdnn_cell_math *math;
    int64_t T, N, I, H, G;
    int64_t sums; /* per step and hidden unit: sums that have a bias of their own */
    bool two_biases;
};

struct pdnn_rnn_geometry pdnn_rnn_geometry(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* For the op's pass rows: scratch in doubles, and the reference kernels. */
int64_t pdnn_rnn_forward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node);
int64_t pdnn_rnn_backward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node);
void pdnn_rnn_forward(struct pdnn_reference *r);
void pdnn_rnn_backward(struct pdnn_reference *r);

#endif
