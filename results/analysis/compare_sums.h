/* What the ratios of a comparison amount to: overall, per family and per value of each key, and how much of
 * their variation each key explains. */
#ifndef RESULTS_ANALYSIS_COMPARE_SUMS_H
#define RESULTS_ANALYSIS_COMPARE_SUMS_H

#include "results/analysis/compare.h"

/* Several ratios taken together. */
struct pdnn_ratio_sum {
    size_t count, n_decided[PDNN_DECISION_COUNT];
    size_t n_above;         /* ratios above 1, clear or not */
    double mean, low, high; /* geometric mean and its 95 % interval; NaN: unknown */
    double least, greatest;
};

/* Pairs that have something in common. */
struct pdnn_compare_group {
    const char *family;      /* "": all */
    const char *key, *value; /* "": whatever their keys */
    struct pdnn_ratio_sum sum;
};

/* How much of the variance of the ratios' logarithms disappears within the values of one key: explained is 1
 * - SSW / SST. A key with many values explains something by chance; adjusted allows for it: 1 - (SSW / (n -
 * k)) / (SST / (n - 1)) for n pairs and k values, which is 0 on average for a key without influence and can
 * be negative. Keys that change together explain the same. */
struct pdnn_compare_axis {
    const char *family; /* "": all, among which `family` is a key too */
    const char *key;
    size_t count; /* pairs that have the key */
    size_t n_values;
    bool is_complete;           /* every pair has it; only then can it be the best */
    double explained, adjusted; /* NaN: as many values as pairs, or equal ratios */
    /* Probability that a key without influence explains as much (F test). */
    double p_value;
};

struct pdnn_compare_sums {
    /* Of all pairs: the whole first, then by the values of each key that has several; then the same for each
     * family, if there are several. */
    struct pdnn_compare_group *group;
    size_t n_groups;
    /* In the same order of scopes; within one, complete keys first, then by descending adjusted share. */
    struct pdnn_compare_axis *axis;
    size_t n_axes;
};

/* In the arena, apart from texts, which belong to the comparison. */
void pdnn_compare_sums(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                       struct pdnn_compare_sums *sums);

/* Whether every pair of the axis' scope has the key and it explains more than chance would: its p value times
 * the number of the scope's keys is below 0.05. */
bool pdnn_compare_axis_explains(const struct pdnn_compare_sums *sums, const struct pdnn_compare_axis *axis);

/* The key that explains most of the ratios in the scope (family, or ""); NULL if none explains more than
 * chance would. */
const struct pdnn_compare_axis *pdnn_compare_best_axis(const struct pdnn_compare_sums *sums,
                                                       const char *family);

#endif
