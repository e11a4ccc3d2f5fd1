/* Order statistics and intervals. Pure functions of arrays. */
#ifndef RUNTIME_FACTS_STATS_H
#define RUNTIME_FACTS_STATS_H

#include <stddef.h>

/* Sorts ascending, in place. */
void pdnn_sort(double *values, size_t count);

/* Of sorted values, linear between neighbours (type 7), q in [0, 1]; count > 0. */
double pdnn_quantile_sorted(const double *sorted, size_t count, double q);

/* Median of unsorted values, which are sorted in place. */
double pdnn_median(double *values, size_t count);

/* Median absolute deviation from center; scratch holds count values. */
double pdnn_mad(const double *values, size_t count, double center, double *scratch);

/* The two-sided 95 % quantile of Student's t, degrees of freedom >= 1. */
double pdnn_student_t95(size_t degrees);

struct pdnn_interval {
    double center, low, high;
};

/* From the medians of independent visits: center is their median; [low, high] is where the median of another,
 * equal set of visits falls with 95 % probability, assuming their logarithms are normal. count 1 gives an
 * empty interval: low 0, high 0. */
struct pdnn_interval pdnn_visits_interval(const double *medians, size_t count, double *scratch);

#endif
