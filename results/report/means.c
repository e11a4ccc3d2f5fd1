#include "results/report/means.h"
#include "runtime/facts/stats.h"

#include <math.h>

enum { LEAST = 3 };

void pdnn_report_mean_add(struct pdnn_report_mean *mean, double number, double error) {
    double before = number - mean->mean;
    mean->n++;
    mean->mean += before / (double)mean->n;
    mean->squares += before * (number - mean->mean);
    mean->measured += error * error;
}

static struct pdnn_report_interval around(double at, double sampled, double measured) {
    double half = fmax(sampled, measured); /* the other one, if one is NaN */
    return (struct pdnn_report_interval){at, at - half, at + half};
}

static const struct pdnn_report_interval unknown = {NAN, NAN, NAN};

struct pdnn_report_interval pdnn_report_mean_interval(const struct pdnn_report_mean *mean) {
    double n = (double)mean->n;
    if (mean->n < LEAST)
        return unknown;
    return around(mean->mean, pdnn_student_t95(n - 1) * sqrt(mean->squares / (n - 1) / n),
                  sqrt(mean->measured) / n);
}

struct pdnn_report_interval pdnn_report_mean_difference(const struct pdnn_report_mean *first,
                                                        const struct pdnn_report_mean *second) {
    double n = (double)first->n, m = (double)second->n;
    if (first->n < LEAST || second->n < LEAST)
        return unknown;
    double a = first->squares / (n - 1) / n, b = second->squares / (m - 1) / m;
    double degrees = a + b > 0 ? (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1)) : n + m - 2;
    return around(second->mean - first->mean, pdnn_student_t95(degrees) * sqrt(a + b),
                  sqrt(first->measured / n / n + second->measured / m / m));
}

struct pdnn_report_interval pdnn_report_interval_exp(struct pdnn_report_interval interval) {
    return (struct pdnn_report_interval){exp(interval.at), exp(interval.low), exp(interval.high)};
}
