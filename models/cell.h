/* Names and sizes of the recurrent cells and of the op `rnn`, for families, the op and backends. What they
 * compute is in models/ops/rnn.c, which has the legend. */
#ifndef MODELS_CELL_H
#define MODELS_CELL_H

#include "models/attributes.h"
#include "models/graph.h"

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

/* The sizes of a node, of any pass. */
struct pdnn_rnn_geometry {
    const struct pdnn_cell_def *cell;
    int64_t T, N, I, H, G;
    int64_t sums; /* per step and hidden unit: sums that have a bias of their own */
    bool two_biases;
};
struct pdnn_rnn_geometry pdnn_rnn_geometry(const struct pdnn_graph *graph, const struct pdnn_node *node);

#endif
