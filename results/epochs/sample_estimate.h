/* The time of an epoch from a random sample of its iterations and the lengths of all: the model-assisted
 * estimator of survey statistics (Saerndal, Swensson, Wretman, Model Assisted Survey Sampling, 1992, 6.5 and
 * 6.6). Iterations are stratified by length; in the sample t = a + b*S + c*T + d*(S + T)^2 is fitted (S
 * source, T target length; attention needs the square); the estimate is the fit summed over all iterations
 * plus the strata's weighted mean residuals. It is nearly unbiased however bad the fit is, and has an
 * interval for the total of this epoch. */
#ifndef RESULTS_EPOCHS_SAMPLE_ESTIMATE_H
#define RESULTS_EPOCHS_SAMPLE_ESTIMATE_H

#include "results/epochs/epoch.h"

/* Fewer where an epoch is too small for two draws from each. */
enum { PDNN_STRATA = 10 };

/* An order in which to run iterations: its first n are a stratified random sample of n, so that it can grow.
 * Strata are runs of iterations ordered by source + target, with equal sums of these. */
struct pdnn_epoch_sample {
    const struct pdnn_epoch *epoch;
    size_t *order;        /* by draw: an iteration of the epoch; each occurs once */
    size_t *stratum;      /* by draw */
    size_t *stratum_size; /* iterations, by stratum */
    size_t n_strata;
    size_t least; /* draws that an interval needs: two of every stratum, and enough for the fit */
};

/* In the arena; the epoch must outlive it. */
struct pdnn_epoch_sample pdnn_epoch_sample_draw(const struct pdnn_epoch *epoch, uint64_t seed,
                                                struct pdnn_arena *arena);

struct pdnn_epoch_estimate {
    size_t draws;
    double total;     /* over the epoch, in the unit of the values */
    double low, high; /* 95 % interval, Student's t */
    double *weight;   /* by draw: total = sum of weight * value */
};

/* value: by draw, of the first `draws` ones; finite. In the arena. PDNN_INVALID if the draws are fewer than
 * sample->least. If all iterations were drawn, the total is their sum and the interval has no width. */
enum pdnn_status pdnn_sample_estimate(const struct pdnn_epoch_sample *sample, size_t draws,
                                      const double *value, struct pdnn_arena *arena,
                                      struct pdnn_epoch_estimate *estimate, struct pdnn_err *err);

/* Half the width of the interval as a part of the total. */
double pdnn_sample_half_width(const struct pdnn_epoch_estimate *estimate);

/* How many draws, in all, to run before looking again, if the half width is to be at most `target` (0.005 for
 * 0.5 %), with a margin for its own uncertainty; the estimate's own number if it is. */
size_t pdnn_sample_draws_needed(const struct pdnn_epoch_sample *sample,
                                const struct pdnn_epoch_estimate *estimate, double target);

#endif
