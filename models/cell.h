/* The recurrent cells' names and sizes, and the order of an rnn node's tensors, for families, the op and
 * backends. What they compute is in models/ops/rnn.c. */
#ifndef MODELS_CELL_H
#define MODELS_CELL_H

#include "models/attributes.h"

struct pdnn_cell_def {
    const char *name;
    int n_gates;  /* G: weights are (G*H, I) and (G*H, H) */
    int n_biases; /* vectors (H) of bias where every sum has one */
    int n_saved;  /* S: vectors (H) that training keeps of every row, beside the output */
};

/* Indexed by enum pdnn_cell. */
extern const struct pdnn_cell_def pdnn_cells[PDNN_CELL_COUNT];

/* Their names, NULL-terminated, for a parameter of a family. */
extern const char *const pdnn_cell_names[PDNN_CELL_COUNT + 1];

/* Forward: inputs (T*N, I), (G*H, I), (G*H, H), (G'*H); outputs (T*N, H), (T*N, S*H). */
enum { PDNN_RNN_X, PDNN_RNN_W, PDNN_RNN_U, PDNN_RNN_B, PDNN_RNN_INPUTS };
enum { PDNN_RNN_Y, PDNN_RNN_SAVED }; /* the latter in training, of cells with n_saved */

/* Backward-data: inputs, the last one where it was saved, and outputs, the last one where it is wanted. */
enum {
    PDNN_RNN_BACK_DY,
    PDNN_RNN_BACK_X,
    PDNN_RNN_BACK_Y,
    PDNN_RNN_BACK_W,
    PDNN_RNN_BACK_U,
    PDNN_RNN_BACK_SAVED,
};
enum { PDNN_RNN_BACK_DW, PDNN_RNN_BACK_DU, PDNN_RNN_BACK_DB, PDNN_RNN_BACK_DX };

#endif
