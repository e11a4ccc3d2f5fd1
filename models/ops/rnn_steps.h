/* The rnn op's reference: the loop over steps and its matrix products, around the per-unit cell functions of
 * models/ops/rnn_cells.h. models/ops/rnn.c has the formulas and the legend. */
#ifndef MODELS_OPS_RNN_STEPS_H
#define MODELS_OPS_RNN_STEPS_H

#include "models/op.h"
#include "models/ops/rnn_cells.h"

/* What the cell of the node computes. */
static inline const struct pdnn_cell_math *pdnn_rnn_math(const struct pdnn_rnn_geometry *g) {
    return &pdnn_cell_math[g->cell - pdnn_cells];
}

/* For the op's pass rows: scratch in doubles, and the reference kernels. */
int64_t pdnn_rnn_forward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node);
int64_t pdnn_rnn_backward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node);
void pdnn_rnn_forward(struct pdnn_reference *r);
void pdnn_rnn_backward(struct pdnn_reference *r);

#endif
