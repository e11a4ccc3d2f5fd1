#include "models/cell.h"

#include "models/op.h"

#include <stddef.h>

const char *const pdnn_cell_names[PDNN_CELL_COUNT + 1] = {"rnn", "lstm", "gru", "lbr_gru", NULL};

const struct pdnn_cell_def pdnn_cells[PDNN_CELL_COUNT] = {
    [PDNN_CELL_RNN] = {"rnn", 1, 1, 0},
    [PDNN_CELL_LSTM] = {"lstm", 4, 4, 5},
    [PDNN_CELL_GRU] = {"gru", 3, 3, 3},
    [PDNN_CELL_LBR_GRU] = {"lbr_gru", 3, 4, 4},
};

struct pdnn_rnn_geometry pdnn_rnn_geometry(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    bool forward = node->pass == PDNN_FORWARD;
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, forward ? PDNN_RNN_X : PDNN_RNN_BACK_X);
    const struct pdnn_tensor *u = pdnn_node_in(graph, node, forward ? PDNN_RNN_U : PDNN_RNN_BACK_U);
    const struct pdnn_tensor *b =
        forward ? pdnn_node_in(graph, node, PDNN_RNN_B) : pdnn_node_out(graph, node, PDNN_RNN_BACK_DB);
    const struct pdnn_cell_def *cell = &pdnn_cells[node->attr[PDNN_RNN_CELL]];
    int64_t T = node->attr[PDNN_RNN_STEPS], H = u->dim[1];
    return (struct pdnn_rnn_geometry){
        .cell = cell,
        .T = T,
        .N = x->dim[0] / T,
        .I = x->dim[1],
        .H = H,
        .G = cell->n_gates,
        .sums = cell->n_biases,
        .two_biases = b->dim[0] != cell->n_biases * H,
    };
}
