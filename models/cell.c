#include "models/cell.h"

#include <stddef.h>

const char *const pdnn_cell_names[PDNN_CELL_COUNT + 1] = {"rnn", "lstm", "gru", "lbr_gru", NULL};

const struct pdnn_cell_def pdnn_cells[PDNN_CELL_COUNT] = {
    [PDNN_CELL_RNN] = {"rnn", 1, 1, 0},
    [PDNN_CELL_LSTM] = {"lstm", 4, 4, 5},
    [PDNN_CELL_GRU] = {"gru", 3, 3, 3},
    [PDNN_CELL_LBR_GRU] = {"lbr_gru", 3, 4, 4},
};
