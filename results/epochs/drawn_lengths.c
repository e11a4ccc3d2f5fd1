/* Not fused: a * b + c is rounded twice on every machine. */
#pragma STDC FP_CONTRACT OFF
#include "results/epochs/drawn_lengths.h"

#include <math.h>

static const double ln_2_high = 0x1.62e42feep-1, ln_2_low = 0x1.a39ef35793c76p-33,
                    ln_2 = 0x1.62e42fefa39efp-1;

double pdnn_same_exp(double x) {
    double power = floor(x / ln_2 + 0.5), rest = (x - power * ln_2_high) - power * ln_2_low, sum = 1;
    for (int i = 18; i > 0; i--)
        sum = 1 + sum * rest / i;
    return ldexp(sum, (int)power);
}

double pdnn_same_log(double x) {
    int power;
    double part = frexp(x, &power), sum = 0;
    if (part < 0x1.6a09e667f3bcdp-1) {
        part *= 2;
        power--;
    }
    /* log(part) = 2 artanh(s) */
    double s = (part - 1) / (part + 1), square = s * s;
    for (int i = 25; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return power * ln_2 + 2 * s * sum;
}

double pdnn_rng_normal(struct pdnn_rng *rng) {
    for (;;) {
        double x = 2 * pdnn_rng_double(rng) - 1, y = 2 * pdnn_rng_double(rng) - 1, square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * pdnn_same_log(square) / square);
    }
}

double pdnn_quantiles_draw(const struct pdnn_quantiles *quantiles, struct pdnn_rng *rng) {
    const double *p = quantiles->probability, *value = quantiles->value;
    double at = pdnn_rng_double(rng);
    size_t i = 0;
    while (i < quantiles->count && p[i] <= at)
        i++;
    if (i == 0 || i == quantiles->count)
        return value[i ? i - 1 : 0];
    return value[i - 1] + (value[i] - value[i - 1]) * (at - p[i - 1]) / (p[i] - p[i - 1]);
}

double pdnn_lognormal_draw(double mu, double sigma, struct pdnn_rng *rng) {
    double logarithm = mu + sigma * pdnn_rng_normal(rng);
    return pdnn_same_exp(fmax(-700, fmin(700, logarithm)));
}
