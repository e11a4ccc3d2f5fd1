/* What the ratios of a comparison amount to: overall, per family and per value of each key, and how much of
 * their variation each key explains. */
#ifndef RESULTS_COMPARE_COMPARE_SUMS_H
#define RESULTS_COMPARE_COMPARE_SUMS_H

#include "results/compare/compare.h"
#include "results/query/gaps.h"

/* All pairs: the whole first, then by the values of each key that has several; then the same for each family,
 * if there are several. */
enum {
    PDNN_GROUP_FAMILY, /* empty: all */
    PDNN_GROUP_KEY,    /* empty, as is the value: whatever their keys */
    PDNN_GROUP_VALUE,
    PDNN_GROUP_INSTANCES,
    PDNN_GROUP_MEAN, /* geometric, with its 95 % interval */
    PDNN_GROUP_LOW,
    PDNN_GROUP_HIGH,
    PDNN_GROUP_LEAST,
    PDNN_GROUP_GREATEST,
    PDNN_GROUP_FASTER,
    PDNN_GROUP_SLOWER,
    PDNN_GROUP_UNDECIDED,
    PDNN_GROUP_ABOVE_1,
    PDNN_GROUP_COLUMNS
};
extern const struct pdnn_table_def pdnn_groups_def;

/* How much of the variance of the ratios' logarithms disappears within the values of one key: explained is 1
 * - SSW / SST; adjusted allows for what many values explain by chance: 1 - (SSW / (n - k)) / (SST / (n - 1))
 * for n pairs and k values, 0 on average for a key without influence. Keys that change together explain the
 * same. Both are empty for as many values as pairs, or equal ratios, and for a key that goes together with
 * another one only because instances are open (results/query/gaps.h), of which there are no groups either. In
 * the order of groups; within a scope, complete keys first, then by descending adjusted share. */
enum {
    PDNN_COMPARE_AXIS_FAMILY, /* empty: all, among which `family` is a key too */
    PDNN_COMPARE_AXIS_KEY,
    PDNN_COMPARE_AXIS_INSTANCES, /* pairs that have the key */
    PDNN_COMPARE_AXIS_COMPLETE,  /* every pair has it; only then can it be the best */
    PDNN_COMPARE_AXIS_VALUES,
    PDNN_COMPARE_AXIS_EXPLAINED,
    PDNN_COMPARE_AXIS_ADJUSTED,
    PDNN_COMPARE_AXIS_P_VALUE,
    PDNN_COMPARE_AXIS_WITH,
    PDNN_COMPARE_AXIS_COLUMNS
};
extern const struct pdnn_table_def pdnn_axes_def;

/* What the pairs lack of all that will be pairs once no instance is open; only those of a family unless it is
 * "". */
void pdnn_comparison_gaps(const struct pdnn_comparison *comparison, const char *family,
                          struct pdnn_gaps *gaps);

/* Makes both tables. */
void pdnn_compare_sums(const struct pdnn_comparison *comparison, struct pdnn_table *groups,
                       struct pdnn_table *axes);

/* Appends what the groups say of all pairs, with these names of the sides: "B is 1.32 times as fast as A
 * (1.25 to 1.39), ..."; no verdict where the sides ran apart. */
void pdnn_compare_say(const struct pdnn_comparison *comparison, const struct pdnn_table *groups,
                      const char *const name[PDNN_SIDES], struct pdnn_str *out);

/* Whether every pair of the axis' scope has the key and it explains more than chance would: its p value times
 * the number of the scope's keys is below 0.05. */
bool pdnn_compare_axis_explains(const struct pdnn_table *axes, size_t axis);

/* The key that explains most in the scope (family, or ""); SIZE_MAX: none explains more than chance would. */
size_t pdnn_compare_best_axis(const struct pdnn_table *axes, const char *family);

#endif
