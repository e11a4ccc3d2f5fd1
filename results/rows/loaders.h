/* What the visits of an instance saw of its loaders when nothing else ran. */
#ifndef RESULTS_ROWS_LOADERS_H
#define RESULTS_ROWS_LOADERS_H

#include "results/store/visits.h"

#include <stdbool.h>

struct pdnn_loaders_seen {
    double minibatch_ns;      /* median over the visits */
    uint64_t minibatch_bytes; /* read from files, in the last visit; 0: none */
    const char *pages;        /* the page cache in all of them; static text, "" if unknown */
};

/* False if no visit has loaders. scratch has room for n_visits numbers. */
bool pdnn_loaders_find(const struct pdnn_measured_ops *visits, size_t n_visits, double *scratch,
                       struct pdnn_loaders_seen *seen);

#endif
