/* Order statistics and confidence intervals: pure functions of arrays. */
#ifndef RUNTIME_FACTS_STATS_H
#define RUNTIME_FACTS_STATS_H

#include <stddef.h>

/* Sorts ascending, in place. */
void pdnn_sort(double *values, size_t count);

/* Quantile q in [0, 1] of sorted values, linear between neighbours (type 7); count > 0. */
double pdnn_quantile_sorted(const double *sorted, size_t count, double q);

/* Median; sorts the values in place. */
double pdnn_median(double *values, size_t count);

/* Median absolute deviation from center; scratch holds count values. */
double pdnn_mad(const double *values, size_t count, double center, double *scratch);

/* Two-sided 95 % quantile of Student's t; degrees of freedom >= 1. */
double pdnn_student_t95(size_t degrees);

struct pdnn_interval {
    double center, low, high;
};

/* From the medians of independent visits. center is their median. Another set of as many visits has its
 * median in [low, high] with 95 % probability, assuming that the medians' logarithms are normal. With count 1
 * the interval is empty: low 0, high 0. */
struct pdnn_interval pdnn_visits_interval(const double *medians, size_t count, double *scratch);

#endif
