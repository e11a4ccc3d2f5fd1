/* What the recurrent cells do to one hidden unit at one step, forward and backward, between the matrix
 * products of the rnn op (models/ops/rnn.c has the formulas). Reference code in double, written to be read;
 * the fast cells are in runtime/kernels/sequence. */
#ifndef MODELS_OPS_RNN_CELLS_H
#define MODELS_OPS_RNN_CELLS_H

#include "models/cell.h"

#include <stdint.h>

enum { PDNN_CELL_SUMS = 4, PDNN_CELL_SAVED = 5 }; /* the largest n_biases and n_saved */

struct pdnn_cell_unit {
    double sum[PDNN_CELL_SUMS]; /* products plus bias, one per bias vector; backward writes their gradients */
    double h_before, c_before;  /* from the step before; c: lstm only */
    double h, c;                /* forward writes them; backward reads h */
    double saved[PDNN_CELL_SAVED]; /* forward writes, backward reads */
    double gated;                  /* gru: r * h_before, written by reset and reset_backward */
    double dgated;                 /* gru: its gradient, read by reset_backward */
    /* Backward reads the gradients of h and c and replaces them by those of h_before and c_before, without
     * the share that comes through the recurrent product. */
    double dh, dc;
    uint64_t flop; /* each statement adds its own */
};

struct pdnn_cell_math {
    /* gru: runs before the candidate's recurrent product, which multiplies `gated`. Else NULL. */
    void (*reset)(struct pdnn_cell_unit *unit);
    void (*forward)(struct pdnn_cell_unit *unit);
    void (*backward)(struct pdnn_cell_unit *unit);
    /* gru: runs after that product has given dgated. Else NULL. */
    void (*reset_backward)(struct pdnn_cell_unit *unit);
    int64_t forward_flop, backward_flop; /* of all these functions, per unit */
};

/* Indexed by enum pdnn_cell. */
extern const struct pdnn_cell_math pdnn_cell_math[PDNN_CELL_COUNT];

#endif
