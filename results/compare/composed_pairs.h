/* Models that a directory has both composed and run: how far composed times are from measured ones. */
#ifndef RESULTS_COMPARE_COMPOSED_PAIRS_H
#define RESULTS_COMPARE_COMPOSED_PAIRS_H

#include "results/store/visits.h"

#include <stdbool.h>

struct pdnn_composed_pair {
    const char *id;                /* borrowed from the visits */
    double composed_ns, direct_ns; /* medians of the visits that count */
    bool is_predicted;
};

/* The pairs among the visits, in order of the ids; heap, the caller frees. */
void pdnn_composed_pairs(const struct pdnn_visits *visits, struct pdnn_composed_pair **pairs, size_t *count);

#endif
