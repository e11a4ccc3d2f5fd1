/* Intervals by split-conformal prediction: how far predictions were off where the truth is known says how far
 * others are, whatever the distribution, as long as both were drawn alike. Pure. */
#ifndef RESULTS_STATS_CONFORMAL_H
#define RESULTS_STATS_CONFORMAL_H

#include <stddef.h>

/* The least reach such that another score, drawn like these, is within it with at least this probability: the
 * ceil((count + 1) * level)-th smallest. INFINITY if there are too few to say. Sorts. */
double pdnn_conformal_reach(double *scores, size_t count, double level);

enum { PDNN_CONFORMAL_STRATA = 4 };

/* A score, and the strata it is part of, from the finest to the coarsest: numbers, equal ones the same
 * stratum. */
struct pdnn_conformal_case {
    size_t stratum[PDNN_CONFORMAL_STRATA];
    double score;
};

/* The reach within the finest of these strata that has enough cases; INFINITY: none has. scratch: count. */
double pdnn_conformal_find(const struct pdnn_conformal_case *cases, size_t count,
                           const size_t stratum[PDNN_CONFORMAL_STRATA], double level, double *scratch);

#endif
