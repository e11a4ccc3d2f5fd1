#include "results/stats/means.h"
#include "base/stats.h"

#include <math.h>

enum { LEAST = 3 };

void pdnn_mean_add(struct pdnn_mean *mean, double number, double error) {
    double before = number - mean->mean;
    mean->n++;
    mean->mean += before / (double)mean->n;
    mean->squares += before * (number - mean->mean);
    mean->measured += error * error;
}

static const struct pdnn_mean_interval unknown = {NAN, NAN, NAN};

double pdnn_mean_half(const struct pdnn_mean *mean) {
    double n = (double)mean->n, sampled = NAN;
    if (mean->n > 1)
        sampled = pdnn_student_t95(n - 1) * sqrt(mean->squares / (n - 1) / n);
    return fmax(sampled, sqrt(mean->measured) / n); /* the other one, if one is NaN */
}

double pdnn_mean_geometric(const struct pdnn_mean *logs) {
    return logs->n ? exp(logs->mean) : NAN;
}

double pdnn_log_half(double low, double high) {
    return low > 0 && high >= low ? log(high / low) / 2 : NAN;
}

double pdnn_amdahl_fraction(double efficiency, double many) {
    return (1 / efficiency - 1) / (many - 1);
}

double pdnn_amdahl_efficiency(double fraction, double many) {
    return 1 / (1 + fraction * (many - 1));
}

static struct pdnn_mean_interval around(double at, double half) {
    return (struct pdnn_mean_interval){at, at - half, at + half};
}

struct pdnn_mean_interval pdnn_mean_interval(const struct pdnn_mean *mean) {
    return mean->n < LEAST ? unknown : around(mean->mean, pdnn_mean_half(mean));
}

struct pdnn_mean_interval pdnn_mean_difference(const struct pdnn_mean *first,
                                               const struct pdnn_mean *second) {
    double n = (double)first->n, m = (double)second->n;
    if (first->n < LEAST || second->n < LEAST)
        return unknown;
    double a = first->squares / (n - 1) / n, b = second->squares / (m - 1) / m;
    double degrees = a + b > 0 ? (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1)) : n + m - 2;
    return around(second->mean - first->mean, fmax(pdnn_student_t95(degrees) * sqrt(a + b),
                                                   sqrt(first->measured / n / n + second->measured / m / m)));
}

struct pdnn_mean_interval pdnn_mean_exp(struct pdnn_mean_interval interval) {
    return (struct pdnn_mean_interval){exp(interval.at), exp(interval.low), exp(interval.high)};
}

double pdnn_conformal_reach(double *scores, size_t count, double level) {
    double rank = ceil((double)(count + 1) * level - 1e-9); /* 10 * 0.9 is 9 */
    if (rank > (double)count)
        return INFINITY;
    pdnn_sort(scores, count);
    return scores[rank < 1 ? 0 : (size_t)rank - 1];
}

double pdnn_conformal_find(const struct pdnn_conformal_case *cases, size_t count,
                           const size_t stratum[PDNN_CONFORMAL_STRATA], double level, double *scratch) {
    double reach = INFINITY;
    for (int depth = 0; depth < PDNN_CONFORMAL_STRATA && isinf(reach); depth++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (cases[i].stratum[depth] == stratum[depth])
                scratch[n++] = cases[i].score;
        reach = pdnn_conformal_reach(scratch, n, level);
    }
    return reach;
}
