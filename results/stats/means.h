/* Means with 95 % intervals by Student's t, of numbers that come one at a time; and intervals by
 * split-conformal prediction: how far predictions were off where the truth is known says how far others are,
 * whatever the distribution, as long as both were drawn alike. */
#ifndef RESULTS_STATS_MEANS_H
#define RESULTS_STATS_MEANS_H

#include <stddef.h>

/* {0} is empty. */
struct pdnn_mean {
    size_t n;
    double mean, squares; /* squares: sum of squared deviations (Welford) */
    double measured;      /* sum of the squared errors of measurement; NaN once one is unknown */
};

/* error: half of the number's own 95 % interval, NaN if it has none; 0 where that plays no part. */
void pdnn_mean_add(struct pdnn_mean *mean, double number, double error);

/* Half of the 95 % interval, the wider of two: that of a sample, which takes 2 numbers, and that of the
 * errors of measurement alone. NaN if neither is known. */
double pdnn_mean_half(const struct pdnn_mean *mean);

/* The geometric mean of numbers whose logarithms were added; NaN of none. */
double pdnn_mean_geometric(const struct pdnn_mean *logs);

/* Half of the logarithm of an interval, as an error for logarithms; NaN without an interval. */
double pdnn_log_half(double low, double high);

/* Amdahl: the fraction f of one's time that many do not share, and the efficiency of `many` times as many, 1
 * / (1 + f (many - 1)). */
double pdnn_amdahl_fraction(double efficiency, double many);
double pdnn_amdahl_efficiency(double fraction, double many);

/* An estimate with its interval, all NaN below 3 numbers. */
struct pdnn_mean_interval {
    double at, low, high;
};

/* Of a mean; of the second mean minus the first (Welch, Biometrika 34, 1947); from logarithms back to ratios.
 */
struct pdnn_mean_interval pdnn_mean_interval(const struct pdnn_mean *mean);
struct pdnn_mean_interval pdnn_mean_difference(const struct pdnn_mean *first, const struct pdnn_mean *second);
struct pdnn_mean_interval pdnn_mean_exp(struct pdnn_mean_interval interval);

/* The least reach such that another score, drawn like these, is within it with at least this probability: the
 * ceil((count + 1) * level)-th smallest. INFINITY if there are too few to say. Sorts. */
double pdnn_conformal_reach(double *scores, size_t count, double level);

enum { PDNN_CONFORMAL_STRATA = 4 };

/* A score, and the strata it is part of, from the finest to the coarsest, by numbers. */
struct pdnn_conformal_case {
    size_t stratum[PDNN_CONFORMAL_STRATA];
    double score;
};

/* The reach within the finest of these strata that has enough cases; INFINITY: none has. scratch: count. */
double pdnn_conformal_find(const struct pdnn_conformal_case *cases, size_t count,
                           const size_t stratum[PDNN_CONFORMAL_STRATA], double level, double *scratch);

#endif
