/* Ratios of visits next to each other, as paired order makes them. */
#ifndef RESULTS_COMPARE_PAIRED_H
#define RESULTS_COMPARE_PAIRED_H

#include "base/stats.h"
#include "results/store/journal.h"

struct pdnn_pairs_found {
    size_t count;              /* 0: fewer than the first look takes */
    size_t others;             /* left out of these: the sides ran other choices among implementations */
    struct pdnn_interval logs; /* of B's times over A's, 99 % */
    enum pdnn_paired verdict;
};

/* For each of n instances (A's visits, then B's), what their pairs say. comparisons: how many share the one
 * per cent, n or more. */
void pdnn_pairs_find(const struct pdnn_instance_visits (*of)[2], size_t n, size_t comparisons,
                     double precision, struct pdnn_pairs_found *found);

/* Whether the sides cannot be compared, since too few pairs of visits ran the same choices. */
static inline bool pdnn_pairs_chose_apart(const struct pdnn_pairs_found *found) {
    return !found->count && found->others;
}

/* Appends a line: "B is slower than A: +3.1 % time, 99 % interval +2.5 to +3.7 %, 12 pairs", and how many
 * were left out; or that they chose apart; nothing without enough pairs. */
void pdnn_pairs_say(const struct pdnn_pairs_found *found, const char *a, const char *b, struct pdnn_str *out);

/* What half of a 99 % interval of this many pairs times this is half of the 95 % interval. */
double pdnn_pairs_narrow(size_t count);

#endif
