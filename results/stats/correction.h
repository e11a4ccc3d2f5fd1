/* Factors for the times of operators, by kind, from models that were both composed and run: what the sum of
 * operators measured apart leaves out or counts twice. Pure. */
#ifndef RESULTS_STATS_CORRECTION_H
#define RESULTS_STATS_CORRECTION_H

#include <stddef.h>

/* The operators of one kind in one model, as composed and as the model ran them. */
struct pdnn_correction_row {
    size_t kind, model;
    double composed_ns, direct_ns;
};

/* factor[kind] minimizes the sum over rows of weight * (direct / composed - factor)^2, the weight being the
 * row's share of its model's composed time, so that each model counts once; shrunk towards the factor of all
 * rows together as if PDNN_CORRECTION_SHRINK models more had that one, which is shrunk towards 1 alike. A
 * ratio beyond a factor of 2 counts as one of 2. A kind without rows has the common factor. */
#define PDNN_CORRECTION_SHRINK 1.0
void pdnn_correction_fit(const struct pdnn_correction_row *rows, size_t n_rows, size_t n_models,
                         size_t n_kinds, double *factor);

#endif
