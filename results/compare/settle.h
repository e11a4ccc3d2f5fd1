/* What the visits say of a pair, beyond its two rows: pairs of visits next to each other, visits in one state
 * of the machine, and what speaks against its ratio. After pdnn_comparison_make. */
#ifndef RESULTS_COMPARE_SETTLE_H
#define RESULTS_COMPARE_SETTLE_H

#include "results/compare/compare.h"

/* Reads journals where visits may say more than rows: ratio, interval and decision of pairs of visits; or
 * else those of the visits in one state, where the sides found their threads at different distances. */
enum pdnn_status pdnn_comparison_settle(struct pdnn_comparison *comparison, struct pdnn_err *err);

/* Whether the pair is undecided because too few pairs of its visits ran the same choices. */
bool pdnn_pair_chose_apart(const struct pdnn_comparison *comparison, size_t pair);

/* What the intervals are: "95 % interval", "99 % interval" of pairs of visits, or "95 or 99 % interval". */
const char *pdnn_comparison_interval(const struct pdnn_comparison *comparison);

/* Appends what speaks against the ratios: unusable times, or another state of the machine: the threads'
 * distance, the clock, or the rate of reads (which tell where both sides have one host, threads and isa). And
 * which ratios are of the visits in one state only, and which pairs chose apart. True if it is to be said
 * before any ratio: with unusable times or choices apart, and where most pairs found another state. */
bool pdnn_comparison_doubt(const struct pdnn_comparison *comparison, struct pdnn_str *out);

#endif
