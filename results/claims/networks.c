#include "results/claims/networks.h"

bool pdnn_report_is_recurrent(const struct pdnn_family_def *family) {
    return family->recurs;
}

/* Speech recognition convolves before it recurs. */
bool pdnn_report_is_convolutional(const struct pdnn_family_def *family) {
    return family->convolves && !family->recurs;
}

bool pdnn_report_is_fully_connected(const struct pdnn_family_def *family) {
    bool is_dense = false;
    for (size_t k = 0; k < family->n_layers; k++)
        is_dense = is_dense || family->layers[k].part == PDNN_LAYER_DENSE;
    return is_dense && !family->convolves && !family->recurs;
}
