/* Means with 95 % intervals by Student's t, of numbers that come one at a time: shares, or logarithms of
 * ratios. */
#ifndef RESULTS_REPORT_MEANS_H
#define RESULTS_REPORT_MEANS_H

#include <stddef.h>

/* {0} is empty. */
struct pdnn_report_mean {
    size_t n;
    double mean, squares; /* squares: sum of squared deviations (Welford) */
    double measured;      /* sum of the squared errors of measurement; NaN once one is unknown */
};

/* error: half of the number's own 95 % interval, NaN if it has none; 0 where that plays no part. */
void pdnn_report_mean_add(struct pdnn_report_mean *mean, double number, double error);

/* An estimate with its interval, all NaN below 3 numbers. */
struct pdnn_report_interval {
    double at, low, high;
};

/* The interval is the wider of two: that of a sample, and that of the errors of measurement alone. */
struct pdnn_report_interval pdnn_report_mean_interval(const struct pdnn_report_mean *mean);

/* The second mean minus the first (Welch, Biometrika 34, 1947); NaN unless both have 3 numbers. */
struct pdnn_report_interval pdnn_report_mean_difference(const struct pdnn_report_mean *first,
                                                        const struct pdnn_report_mean *second);

/* From logarithms back to ratios. */
struct pdnn_report_interval pdnn_report_interval_exp(struct pdnn_report_interval interval);

#endif
