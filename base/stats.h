/* Order statistics and confidence intervals: pure functions of arrays. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

/* Sorts ascending, in place. */
void pdnn_sort(double *values, size_t count);

/* Fewer values are no sample: no median, quantile or range of theirs is told to people. */
#define PDNN_SAMPLE_LEAST 3

/* Quantile q in [0, 1] of sorted values, linear between neighbours (type 7); count > 0. */
double pdnn_quantile_sorted(const double *sorted, size_t count, double q);

/* Median; sorts the values in place. */
double pdnn_median(double *values, size_t count);

/* Median absolute deviation from center; scratch holds count values. */
double pdnn_mad(const double *values, size_t count, double center, double *scratch);

/* Makes the values non-increasing, in place: the nearest such sequence (least squares), in which neighbours
 * that rise are replaced by their mean. */
void pdnn_pool_rising(double *values, size_t count);

/* Two-sided 95 % quantile of Student's t; degrees of freedom >= 1, not necessarily whole. */
double pdnn_student_t95(double degrees);

/* Probability that Student's t is farther from 0 than the given value; degrees of freedom > 0. NaN for NaN.
 */
double pdnn_student_tails(double t, double degrees);

/* The distance from 0 beyond which Student's t is with probability alpha, in (0, 1); degrees > 0. */
double pdnn_student_quantile(double alpha, double degrees);

/* Probability that a ratio of two variances with these degrees of freedom (> 0) is above f >= 0 although the
 * true variances are equal: Fisher's F. NaN for NaN. */
double pdnn_f_tail(double f, double above, double below);

/* How much the logarithms of an instance's visits scatter. Without degrees of freedom nothing is known. */
struct pdnn_scatter {
    double variance;
    double degrees;
};

/* From the visits of one instance, which it sorts: a variance that a few visits in another state of the
 * machine do not raise. The lowest and the highest sixth count as their inner neighbours; what that takes
 * from the variance and the degrees of freedom is Yuen's (Biometrika 61, 1974). Below six visits it is the
 * sample variance. Nothing is known from fewer than two visits, or from times that are not positive. */
struct pdnn_scatter pdnn_visits_scatter(double *medians, size_t count);

/* What the instances of a sweep have in common: the typical variance, and how many degrees of freedom it is
 * worth to each of them. The more alike they are, the more degrees (Smyth, Statistical Applications in
 * Genetics and Molecular Biology 3, 2004: a scaled inverse chi-square prior, fitted to the mean and variance
 * of the logarithms of the variances). Nothing is known from fewer than three instances that scatter. */
struct pdnn_scatter pdnn_scatter_pool(const struct pdnn_scatter *of, size_t count);

struct pdnn_interval {
    double center, low, high;
    double degrees; /* of freedom behind the width: the instance's own and the pool's */
};

/* Fewer give an interval that covers but says nothing: with one degree of freedom, t is 12.7, and two visits
 * that differ by 5 % make an interval from half the time to twice the time. */
#define PDNN_INTERVAL_DEGREES 2

/* The interval from the medians of the visits to one instance. center is their median. Another run of the
 * sweep that finds the machine in the same state has its median in [low, high] with 95 % probability,
 * assuming that logarithms are normal. Their variance is shrunk towards `pool`, that of the whole sweep ({0}:
 * the instance stands alone). A run also shifts all its visits to an instance together, which they cannot
 * show: placement in memory, the state of the machine during that minute. PDNN_RUN_SHARE stands for this;
 * therefore the interval has a least width, however many visits there are. With count 1 it is empty: low 0,
 * high 0. scratch holds count values. */
struct pdnn_interval pdnn_visits_interval(const double *medians, size_t count, struct pdnn_scatter pool,
                                          double *scratch);

/* Variance of that shift in terms of the variance of a visit, from A/A runs (doc/performance.md). */
#define PDNN_RUN_SHARE 0.5

/* The location of the logarithms of ratios, one of each pair, which it sorts: center is their mean without
 * the lowest and the highest fifth, which other programs and moved processors make, and low and high are its
 * interval at level 1 - alpha, by the variance of the Winsorized sample and Student's t (Yuen, Biometrika 61,
 * 1974). Without degrees of freedom, from fewer than two that are kept, low and high are -inf and inf. */
struct pdnn_interval pdnn_pairs_interval(double *logs, size_t count, double alpha);

/* How many pairs there are when a comparison is looked at. The looks share PDNN_LOOKS_ALPHA equally: each
 * decides at PDNN_LOOK_ALPHA (Bonferroni's inequality), so that all of them together are wrong that often. */
enum { PDNN_LOOKS = 9 };
#define PDNN_LOOKS_ALPHA 0.01
#define PDNN_LOOK_ALPHA  (PDNN_LOOKS_ALPHA / PDNN_LOOKS)
extern const size_t pdnn_looks[PDNN_LOOKS];

enum pdnn_paired {
    PDNN_PAIRED_UNDECIDED,
    PDNN_PAIRED_SLOWER,
    PDNN_PAIRED_FASTER,
    PDNN_PAIRED_ALIKE,
    PDNN_PAIRED_COUNT
};

/* What the first look that decides says of logarithms of B's times over A's, in the order measured: slower or
 * faster if the interval at the look's alpha over the number of comparisons excludes 0, so that a sweep of
 * that many is wrong once in a hundred; alike if the interval at the look's alpha lies within +-precision.
 * scratch holds count values. */
enum pdnn_paired pdnn_pairs_judge(const double *logs, size_t count, size_t comparisons, double precision,
                                  double *scratch);

#endif
