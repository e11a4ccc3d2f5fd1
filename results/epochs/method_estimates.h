/* What each method says the epoch takes, beside what it takes: SeqPoint, the model-assisted estimate, and the
 * published baselines. A pure function of the times of kinds, of which some may be unknown. */
#ifndef RESULTS_EPOCHS_METHOD_ESTIMATES_H
#define RESULTS_EPOCHS_METHOD_ESTIMATES_H

#include "results/epochs/sample_estimate.h"
#include "results/epochs/seqpoint.h"
#include "results/table/table.h"

struct pdnn_method_estimate {
    const char *method;
    /* For the model-assisted estimate: the kinds of its draws, with their weights. */
    struct pdnn_representatives points;
    /* Of the epoch's time; NaN where a time is missing. low and high: the model-assisted interval, else NaN.
     */
    double total_ns, low_ns, high_ns;
    double error; /* against the truth, signed; NaN without. Of random ones, the 95th percentile over seeds */
    /* How much less is run than the whole epoch: iterations, and time one after another or all at once on as
     * many machines. */
    double fewer, serial, parallel;
};

enum { PDNN_METHOD_ESTIMATES = 2 + PDNN_BASELINE_COUNT };

struct pdnn_method_estimates_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key;
    const double *statistic;                   /* by kind, for selection; NULL: the length */
    const struct pdnn_representatives *points; /* the SeqPoints */
    const struct pdnn_epoch_sample *sample;
    size_t draws;
    const double *time_ns; /* by kind; NaN: not measured */
    uint64_t seed;
};

struct pdnn_method_estimates {
    double truth_ns;                     /* NaN unless every kind's time is known */
    struct pdnn_epoch_estimate estimate; /* valid if has_estimate */
    bool has_estimate;
    struct pdnn_method_estimate of[PDNN_METHOD_ESTIMATES]; /* seqpoint, model-assisted, then the baselines */
};

enum { PDNN_METHOD_NAME, PDNN_METHOD_ITERATIONS, PDNN_METHOD_LENGTHS, PDNN_METHOD_EPOCH };
extern const struct pdnn_table_def pdnn_epoch_methods_def, pdnn_epoch_speedups_def;

/* In the arena. */
enum pdnn_status pdnn_method_estimates_make(const struct pdnn_method_estimates_request *request,
                                            struct pdnn_arena *arena,
                                            struct pdnn_method_estimates *projections, struct pdnn_err *err);

/* One row per method; made is to be finished by the caller. */
void pdnn_method_estimates_table(const struct pdnn_method_estimates *projections, struct pdnn_table *made);

/* How much faster the epoch is in the second table (results/store/seqpoint_table.h) than in the first: in
 * truth, where every kind was measured in both, and as each method projects it from what it chose in the
 * first. False if they are of different epochs; otherwise made is to be finished by the caller. */
bool pdnn_epoch_speedups(const struct pdnn_table of[2], struct pdnn_table *made);

#endif
