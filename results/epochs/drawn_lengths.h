/* Lengths drawn from a distribution. Only additions, multiplications, divisions and square roots, which IEEE
 * 754 rounds alike everywhere: logarithms and exponentials are sums of series here, since those of the C
 * library differ between versions. */
#ifndef RESULTS_EPOCHS_DRAWN_LENGTHS_H
#define RESULTS_EPOCHS_DRAWN_LENGTHS_H

#include "base/rng.h"
#include "results/epochs/shipped_lengths.h"

/* Relative error below 1e-15; of exp for |x| <= 700, of log for normal numbers above 0. */
double pdnn_same_exp(double x);
double pdnn_same_log(double x);

/* Mean 0, deviation 1: Marsaglia's polar method (SIAM Review 6, 1964). */
double pdnn_rng_normal(struct pdnn_rng *rng);

/* A value at random. */
double pdnn_quantiles_draw(const struct pdnn_quantiles *quantiles, struct pdnn_rng *rng);

/* A positive number, log-normal. */
double pdnn_lognormal_draw(double mu, double sigma, struct pdnn_rng *rng);

#endif
