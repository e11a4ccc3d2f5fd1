/* Which kinds of op the difference between the two sides of a comparison comes from: the rows of ops.csv of
 * all pairs, summed on either side.
 *
 * Sums of time belong to the longest steps. So each kind also has an effect, in which every pair counts the
 * same: the logarithmic mean divides a ratio among the parts of its two times without remainder,
 * ln(A / B) = sum (a - b) / L with L = (A - B) / ln(A / B) (Ang, Energy Policy 32, 2004). The mean over the
 * pairs of what belongs to a kind, as a factor, is its effect; the product of the effects of all kinds and of
 * the residual is the geometric mean of the ratios. Above 1, B gains time there. */
#ifndef RESULTS_ANALYSIS_COMPARE_OPS_H
#define RESULTS_ANALYSIS_COMPARE_OPS_H

#include "results/analysis/compare.h"
#include "results/analysis/shares.h"

struct pdnn_compare_op {
    const char *family;             /* "": all */
    const char *key[PDNN_BY_COUNT]; /* "" if ops are not summed by it */
    bool is_residual;               /* time in no op */
    size_t count;                   /* pairs that have it on either side */
    double time_ns[PDNN_SIDES];     /* sum over the pairs */
    double share_pct[PDNN_SIDES];   /* of the sum of the step times */
    double gain_ns;                 /* time of A less that of B */
    double gain_pct;                /* of the gain of all; NaN if that is 0 */
    double effect;
};

struct pdnn_compare_ops {
    struct pdnn_compare_op *op; /* all, then each family if there are several; most influential first */
    size_t count;
    size_t n_pairs; /* pairs with rows in ops.csv on both sides; only these count */
};

/* Whether both sides have an ops.csv; that of imported results has no rows. */
bool pdnn_compare_has_ops(const struct pdnn_comparison *comparison);

/* Reads ops.csv of both sides. by may be NULL: by op. In the arena. */
enum pdnn_status pdnn_compare_ops(const struct pdnn_comparison *comparison, const struct pdnn_by_list *by,
                                  struct pdnn_arena *arena, struct pdnn_compare_ops *ops,
                                  struct pdnn_err *err);

#endif
