#include "base/stats.h"

#include <math.h>
#include <stdbool.h>
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

/* Values before i are in order already; those that are equal have been pooled, or may be. */
void pdnn_pool_rising(double *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        size_t first = i, block = i;
        double mean = values[i];
        while (first > 0 && values[first - 1] < mean) {
            for (block = first - 1; block > 0 && values[block - 1] == values[first - 1];)
                block--;
            mean += (values[block] - mean) * (double)(first - block) / (double)(i + 1 - block);
            first = block;
        }
        for (; block <= i; block++)
            values[block] = mean;
    }
}

/* Exact values for few degrees of freedom, where the tail is heavy, and linear between them, which is
 * slightly too wide; beyond, the expansion in 1/degrees around the normal quantile (Abramowitz and
 * Stegun, 26.7.5), accurate to 5 digits there. */
double pdnn_student_t95(double degrees) {
    static const double exact[] = {0,        12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
                                   2.446912, 2.364624,  2.306004, 2.262157, 2.228139};
    const size_t last = sizeof exact / sizeof *exact - 1;
    if (degrees < (double)last) {
        size_t below = degrees > 1 ? (size_t)degrees : 1;
        double part = degrees > 1 ? degrees - (double)below : 0;
        return exact[below] + part * (exact[below + 1] - exact[below]);
    }
    const double z = 1.959963985, v = degrees, z2 = z * z;
    double first = z * (z2 + 1) / 4;
    double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + (first + (second + third / v) / v) / v;
}

/* The incomplete beta function's continued fraction (Abramowitz and Stegun, 26.5.8), evaluated from the front
 * as in Lentz's method; it converges fast for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b) {
    const double tiny = 1e-300;
    double value = 1, front = 1, back = 1 - (a + b) * x / (a + 1);
    back = 1 / (fabs(back) < tiny ? tiny : back);
    value = back;
    for (int m = 1; m <= 500; m++) {
        double coefficient[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                 -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double before = value;
        for (int i = 0; i < 2; i++) {
            back = 1 + coefficient[i] * back;
            back = 1 / (fabs(back) < tiny ? tiny : back);
            front = 1 + coefficient[i] / front;
            front = fabs(front) < tiny ? tiny : front;
            value *= front * back;
        }
        if (fabs(value - before) <= 1e-15 * fabs(value))
            break;
    }
    return value;
}

/* I_x(a, b) for x + y = 1; both are given because either may be too small for its difference from 1. */
static double incomplete_beta(double x, double y, double a, double b) {
    if (x <= 0 || y <= 0)
        return y <= 0 ? 1 : 0;
    double scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    return x < (a + 1) / (a + b + 2) ? scale * beta_fraction(x, a, b) / a
                                     : 1 - scale * beta_fraction(y, b, a) / b;
}

/* Abramowitz and Stegun, 26.7.1. */
double pdnn_student_tails(double t, double degrees) {
    double sum = degrees + t * t;
    return isnan(t) ? t : incomplete_beta(degrees / sum, t * t / sum, degrees / 2, 0.5);
}

/* Where the tails fall from 1 to 0. */
double pdnn_student_quantile(double alpha, double degrees) {
    double low = 0, high = 1;
    while (pdnn_student_tails(high, degrees) > alpha)
        high *= 2;
    while (high - low > 1e-10 * high) {
        double middle = (low + high) / 2;
        if (pdnn_student_tails(middle, degrees) > alpha)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Abramowitz and Stegun, 26.6.2. */
double pdnn_f_tail(double f, double above, double below) {
    if (isnan(f) || f == INFINITY)
        return isnan(f) ? f : 0;
    double sum = below + above * f;
    return incomplete_beta(below / sum, above * f / sum, below / 2, above / 2);
}

/* First and second derivative of log gamma at x > 0: upwards to where the asymptotic series holds to 8 digits
 * (Abramowitz and Stegun, 6.3.18 and 6.4.12). */
static double digamma(double x) {
    double sum = 0;
    for (; x < 8; x++)
        sum -= 1 / x;
    double y = 1 / (x * x);
    return sum + log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

static double trigamma(double x) {
    double sum = 0;
    for (; x < 8; x++)
        sum += 1 / (x * x);
    double y = 1 / (x * x);
    return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

/* Where trigamma has this value: it falls from infinity to 0. */
static double trigamma_inverse(double value) {
    double low = 1e-4, high = 1e6;
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        if (trigamma(middle) > value)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* The logarithm of the i-th of sorted values, the outer `cut` at either end as their inner neighbours. */
static double inner_log(const double *sorted, size_t count, size_t cut, size_t i) {
    size_t last = count - 1 - cut;
    return log(sorted[i < cut ? cut : i > last ? last : i]);
}

struct pdnn_scatter pdnn_visits_scatter(double *medians, size_t count) {
    size_t cut = count / 6, kept = count - 2 * cut;
    double mean = 0, squares = 0;
    pdnn_sort(medians, count);
    if (count < 2 || !(medians[0] > 0))
        return (struct pdnn_scatter){0, 0};
    for (size_t i = 0; i < count; i++)
        mean += inner_log(medians, count, cut, i) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = inner_log(medians, count, cut, i) - mean;
        squares += off * off;
    }
    double degrees = (double)(kept - 1);
    return (struct pdnn_scatter){squares * (double)count / ((double)kept * degrees), degrees};
}

/* The logarithm of an instance's variance without its bias, if it has one; its sampling variance is
 * trigamma(degrees / 2). */
static bool log_variance(const struct pdnn_scatter *of, double *logarithm) {
    if (!(of->degrees > 0) || !(of->variance > 0))
        return false;
    *logarithm = log(of->variance) - digamma(of->degrees / 2) + log(of->degrees / 2);
    return true;
}

struct pdnn_scatter pdnn_scatter_pool(const struct pdnn_scatter *of, size_t count) {
    enum { LEAST = 3 };
    const double most_degrees = 1000; /* a quantile of t hardly changes from here on */
    double weights = 0, mean = 0, spread = 0, logarithm;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!log_variance(&of[i], &logarithm))
            continue;
        known++;
        weights += 1 / trigamma(of[i].degrees / 2);
        mean += logarithm / trigamma(of[i].degrees / 2);
    }
    if (known < LEAST)
        return (struct pdnn_scatter){0, 0};
    mean /= weights;
    for (size_t i = 0; i < count; i++) {
        if (log_variance(&of[i], &logarithm))
            spread += (logarithm - mean) * (logarithm - mean) / trigamma(of[i].degrees / 2);
    }
    /* What instances differ by beyond the sampling variance, whose weighted mean is known / weights. */
    double excess = spread / weights * (double)known / (double)(known - 1) - (double)known / weights;
    double degrees = most_degrees;
    if (excess > trigamma(most_degrees / 2))
        degrees = 2 * trigamma_inverse(excess);
    return (struct pdnn_scatter){exp(mean + digamma(degrees / 2) - log(degrees / 2)), degrees};
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

struct pdnn_interval pdnn_visits_interval(const double *medians, size_t count, struct pdnn_scatter pool,
                                          double *scratch) {
    struct pdnn_interval interval = {0, 0, 0, 0};
    if (count == 0)
        return interval;
    for (size_t i = 0; i < count; i++)
        scratch[i] = medians[i];
    interval.center = pdnn_median(scratch, count);
    struct pdnn_scatter own = pdnn_visits_scatter(scratch, count);
    if (!(own.degrees > 0))
        return interval;
    double degrees = pool.degrees + own.degrees;
    double variance = (pool.degrees * pool.variance + own.degrees * own.variance) / degrees;
    double of_median = variance * (median_variance_factor(count) / (double)count + PDNN_RUN_SHARE);
    double half = pdnn_student_t95(degrees) * sqrt(2 * of_median);
    interval.low = interval.center * exp(-half);
    interval.high = interval.center * exp(half);
    interval.degrees = degrees;
    return interval;
}

struct pdnn_interval pdnn_pairs_interval(double *logs, size_t count, double alpha) {
    enum { TRIMMED = 5 };
    const size_t cut = count / TRIMMED, kept = count - 2 * cut;
    struct pdnn_interval interval = {.low = -INFINITY, .high = INFINITY};
    double mean = 0, squares = 0;
    if (!count)
        return interval;
    pdnn_sort(logs, count);
    for (size_t i = cut; i < count - cut; i++)
        interval.center += logs[i] / (double)kept;
    if (kept < 2)
        return interval;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            const double inner = logs[i < cut ? cut : i >= count - cut ? count - cut - 1 : i];
            mean += pass ? 0 : inner / (double)count;
            squares += pass ? (inner - mean) * (inner - mean) : 0;
        }
    interval.degrees = (double)(kept - 1);
    const double half =
        pdnn_student_quantile(alpha, interval.degrees) * sqrt(squares / ((double)kept * interval.degrees));
    interval.low = interval.center - half;
    interval.high = interval.center + half;
    return interval;
}

const size_t pdnn_looks[PDNN_LOOKS] = {8, 12, 16, 24, 32, 48, 64, 96, 128};

enum pdnn_paired pdnn_pairs_judge(const double *logs, size_t count, size_t comparisons, double precision,
                                  double *scratch) {
    for (int look = 0; look < PDNN_LOOKS && pdnn_looks[look] <= count; look++) {
        for (size_t i = 0; i < pdnn_looks[look]; i++)
            scratch[i] = logs[i];
        const struct pdnn_interval sure =
            pdnn_pairs_interval(scratch, pdnn_looks[look], PDNN_LOOK_ALPHA / (double)comparisons);
        if (sure.low > 0 || sure.high < 0)
            return sure.low > 0 ? PDNN_PAIRED_SLOWER : PDNN_PAIRED_FASTER;
        const struct pdnn_interval own = pdnn_pairs_interval(scratch, pdnn_looks[look], PDNN_LOOK_ALPHA);
        if (own.low > -log1p(precision) && own.high < log1p(precision))
            return PDNN_PAIRED_ALIKE;
    }
    return PDNN_PAIRED_UNDECIDED;
}
