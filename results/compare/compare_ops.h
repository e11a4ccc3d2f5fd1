/* Which kinds of op a comparison's difference comes from: the rows of ops.csv of all pairs, summed by side.
 *
 * Sums of time belong to the longest steps, so each kind also has an effect, in which every pair counts the
 * same: the logarithmic mean divides a ratio among the parts of its two times without remainder,
 * ln(A / B) = sum (a - b) / L with L = (A - B) / ln(A / B) (Ang, Energy Policy 32, 2004). A kind's effect is
 * the mean of its parts over the pairs, as a factor; the effects of all kinds and of the residual multiply to
 * the geometric mean of the ratios. Above 1, B gains time there. */
#ifndef RESULTS_COMPARE_COMPARE_OPS_H
#define RESULTS_COMPARE_COMPARE_OPS_H

#include "results/compare/compare.h"
#include "results/query/shares.h"

/* All, then each family if there are several; most influential first, the residual last. */
enum {
    PDNN_COMPARE_OPS_FAMILY, /* empty: all */
    PDNN_COMPARE_OPS_KEYS,   /* in the order of enum pdnn_by; empty where ops are not summed by it */
    PDNN_COMPARE_OPS_INSTANCES = PDNN_COMPARE_OPS_KEYS + PDNN_BY_COUNT,
    PDNN_COMPARE_OPS_A_NS,
    PDNN_COMPARE_OPS_B_NS,
    PDNN_COMPARE_OPS_A_SHARE,
    PDNN_COMPARE_OPS_B_SHARE,
    PDNN_COMPARE_OPS_GAIN,
    PDNN_COMPARE_OPS_GAIN_PCT, /* empty if that of all is within 2 % of A's time */
    PDNN_COMPARE_OPS_EFFECT,
    PDNN_COMPARE_OPS_COLUMNS
};
extern const struct pdnn_table_def pdnn_compare_ops_def;

/* The rows of ops.csv that a pair has on both sides, and by row of A, which one of B is the same op: layer,
 * op, pass and shape; NULL: B has none. Where several are alike, they are matched in their order. */
struct pdnn_pair_ops {
    struct pdnn_op_rows side[PDNN_SIDES];
    const struct pdnn_op_record *const *other;
};

/* In the arena. readers: by directory of the selection. */
struct pdnn_pair_ops pdnn_pair_ops(const struct pdnn_comparison *comparison, size_t pair,
                                   struct pdnn_ops_reader *readers, struct pdnn_arena *arena);

/* Makes the table of the pairs that have rows in ops.csv on both sides, and returns how many these are.
 * Appends to `others` how many of them ran an op in two implementations, with an example; or nothing. */
size_t pdnn_compare_ops(const struct pdnn_comparison *comparison, struct pdnn_ops_reader *readers,
                        const struct pdnn_by_list *by, struct pdnn_table *ops, struct pdnn_str *others);

#endif
