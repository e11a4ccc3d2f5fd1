/* Names and sizes of the recurrent cells, for families, the op and backends. What they compute is
 * in models/ops/rnn.c. */
#ifndef MODELS_CELL_H
#define MODELS_CELL_H

#include "models/attributes.h"

struct pdnn_cell_def {
    const char *name;
    int n_gates;  /* G: weights are (G*H, I) and (G*H, H) */
    int n_biases; /* bias vectors (H) if every sum has one */
    int n_saved;  /* S: vectors (H) that training saves for every row, besides the output */
};

/* Indexed by enum pdnn_cell. */
extern const struct pdnn_cell_def pdnn_cells[PDNN_CELL_COUNT];

/* Their names, NULL-terminated, for a family's parameter. */
extern const char *const pdnn_cell_names[PDNN_CELL_COUNT + 1];

#endif
