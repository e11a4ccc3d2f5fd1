/* The visits of one state of the machine. Where the two sides of a pair found their threads at different
 * distances (pdnn_distances_differ), their rows mix states or are of different ones, and a ratio of the rows
 * would compare states. Where both sides have three visits in one state, those are compared instead. */
#ifndef RESULTS_COMPARE_STATES_H
#define RESULTS_COMPARE_STATES_H

#include "results/store/journal.h"

enum { PDNN_STATE_VISITS = 3 }; /* fewer have no interval worth the name */

struct pdnn_state_choice {
    const char *name; /* "near" or "far"; NULL: there is no state that both sides have often enough */
    /* By side: the median of the state's visits over that of all that make the row, and half of the logarithm
     * of their interval, NaN if there is none. */
    double factor[2], half[2];
};

/* For each of n pairs of visits to an instance (A's, then B's; their distances in two states at least), which
 * state's visits to take: of two that both sides have, the one with more. The intervals are sharpened by the
 * scatter of the side's other chosen ones, as those of rows are. */
void pdnn_states_choose(const struct pdnn_instance_visits (*of)[2], size_t n,
                        struct pdnn_state_choice *choices);

#endif
