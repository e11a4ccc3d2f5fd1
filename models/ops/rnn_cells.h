/* What the recurrent cells do to one hidden unit at one step, forward and backward, between the matrix
 * products of the rnn op (models/ops/rnn.c, which has the formulas). Reference code: readable, in double. */
#ifndef MODELS_OPS_RNN_CELLS_H
#define MODELS_OPS_RNN_CELLS_H

#include "models/cell.h"

#include <stdint.h>

enum { PDNN_CELL_SUMS = 4, PDNN_CELL_SAVED = 5 }; /* the largest n_biases and n_saved */

struct pdnn_cell_unit {
    double sum[PDNN_CELL_SUMS]; /* of products and bias, one per bias vector; backward out: their gradients */
    double h_before, c_before;  /* of the step before; c: lstm alone */
    double h, c;                /* forward out; backward in: h */
    double saved[PDNN_CELL_SAVED]; /* forward out, backward in */
    double gated;                  /* gru: r * h_before, out of reset and reset_backward */
    double dgated;                 /* reset_backward in: its gradient */
    /* Backward in: gradients of h and c; out: of h_before and c_before, without what comes through the
     * recurrent product. */
    double dh, dc;
    uint64_t flop; /* each statement adds its own */
};

struct pdnn_cell_math {
    /* gru: runs before the candidate's recurrent product, which is with `gated`. Else NULL. */
    void (*reset)(struct pdnn_cell_unit *unit);
    void (*forward)(struct pdnn_cell_unit *unit);
    void (*backward)(struct pdnn_cell_unit *unit);
    /* gru: runs once that product has given dgated. Else NULL. */
    void (*reset_backward)(struct pdnn_cell_unit *unit);
    int64_t forward_flop, backward_flop; /* of all of these, per unit */
};

/* Indexed by enum pdnn_cell. */
extern const struct pdnn_cell_math pdnn_cell_math[PDNN_CELL_COUNT];

#endif
