/* What hardware counters say of an op, summed over visits. */
#ifndef RESULTS_ROWS_COUNTED_H
#define RESULTS_ROWS_COUNTED_H

#include "runtime/protocol/visit.h"

#include <stddef.h>

/* {0}: no visit was counted. */
struct pdnn_counted_sum {
    double instructions, cycles, running_ns;
    size_t visits, last; /* how many were counted; 1 + the number of the last of them */
};

/* Adds what the visit of that number counted, if it did; its parts come one after the other. */
void pdnn_counted_add(struct pdnn_counted_sum *sum, const struct pdnn_counted *counted, size_t visit);

/* As if each visit had counted so many times as much. */
void pdnn_counted_scale(struct pdnn_counted_sum *sum, double factor);

/* Of the mean visit that was counted; PDNN_ABSENT and NaN without any. */
struct pdnn_counted pdnn_counted_mean(const struct pdnn_counted_sum *sum);

#endif
