/* Where the time of one instance goes: the rows of ops.csv summed by category, what each loses to its roof,
 * and which op loses most. Knows nothing of visits or graphs, only of those rows. */
#ifndef RESULTS_SHARES_H
#define RESULTS_SHARES_H

#include "results/columns.h"
#include "results/record.h"

/* All ops of one category, or what is in no op's time. Lost is the time that an op takes beyond what its roof
 * allows: nothing above it, and unknown without one. */
struct pdnn_share {
    const char *id, *category; /* borrowed from the rows; "residual": in no op's time */
    uint64_t count;            /* executions in one step; absent for the residual */
    double time_ns, share_pct; /* share of the step */
    double roof_ns, roofed_ns; /* of the ops that have a roof: what it allows, what they take */
    double pct_of_roof;        /* the one over the other */
    double lost_ns, lost_pct;
    const struct pdnn_op_record *most; /* the op that loses most; NULL: none loses */
    double most_lost_ns, most_lost_pct;
};

extern const struct pdnn_columns pdnn_shares_columns; /* rows: struct pdnn_share */

/* The shares of a step that took step_ns, the largest first and the residual last, in the arena. Ops without
 * a time are left out. */
enum pdnn_status pdnn_shares(const struct pdnn_op_record *ops, size_t n_ops, double step_ns,
                             struct pdnn_arena *arena, struct pdnn_share **shares, size_t *n_shares,
                             struct pdnn_err *err);

/* The share whose op loses most of all, or NULL. */
const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares);

#endif
