#include "runtime/facts/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void pdnn_sort(double *values, size_t count) {
    if (count > 1)
        qsort(values, count, sizeof *values, compare);
}

double pdnn_quantile_sorted(const double *sorted, size_t count, double q) {
    double at = q * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double pdnn_median(double *values, size_t count) {
    pdnn_sort(values, count);
    return pdnn_quantile_sorted(values, count, 0.5);
}

double pdnn_mad(const double *values, size_t count, double center, double *scratch) {
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(values[i] - center);
    return pdnn_median(scratch, count);
}

/* Exact values for few degrees of freedom, where the tail is heavy; beyond, the expansion in 1/degrees around
 * the normal quantile (Abramowitz and Stegun, 26.7.5), accurate to 5 digits there. */
double pdnn_student_t95(size_t degrees) {
    static const double exact[] = {0,        12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
                                   2.446912, 2.364624,  2.306004, 2.262157, 2.228139};
    if (degrees < sizeof exact / sizeof *exact)
        return exact[degrees];
    const double z = 1.959963985, v = (double)degrees, z2 = z * z;
    double first = z * (z2 + 1) / 4;
    double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + (first + (second + third / v) / v) / v;
}

/* count times the variance of the median of count standard normal values. The first ten are exact (order
 * statistics, integrated; tabulated in Hojo, Biometrika 23, 1931). Beyond, pi/2 minus a term in 1/count,
 * fitted to the exact values within 0.5 %. The term differs between odd and even counts, since the median of
 * an even count averages two values. */
static double median_variance_factor(size_t count) {
    static const double exact[] = {0,        1.0,      1.0,      1.346014, 1.192795, 1.434168,
                                   1.288454, 1.473128, 1.345436, 1.494907, 1.383250};
    if (count < sizeof exact / sizeof *exact)
        return exact[count];
    const double half_pi = 1.570796327;
    return half_pi - (count % 2 ? 0.68 : 2.0) / (double)count;
}

struct pdnn_interval pdnn_visits_interval(const double *medians, size_t count, double *scratch) {
    struct pdnn_interval interval = {0, 0, 0};
    if (count == 0)
        return interval;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        scratch[i] = medians[i];
    interval.center = pdnn_median(scratch, count);
    if (count == 1 || !(scratch[0] > 0))
        return interval;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = log(medians[i]);
        mean += scratch[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++)
        squares += (scratch[i] - mean) * (scratch[i] - mean);
    double deviation = sqrt(squares / (double)(count - 1));
    double of_difference = sqrt(2 * median_variance_factor(count) / (double)count);
    double half = pdnn_student_t95(count - 1) * deviation * of_difference;
    interval.low = interval.center * exp(-half);
    interval.high = interval.center * exp(half);
    return interval;
}
