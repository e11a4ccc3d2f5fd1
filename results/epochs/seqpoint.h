/* SeqPoint: the representative iterations of an epoch by their sequence lengths (Pati, Aga, Sinclair,
 * Jayasena, ISPASS 2020, arXiv 2007.10459), the simpler choices that it is compared with, and what each says
 * the epoch takes. Pure functions of lengths and times. */
#ifndef RESULTS_EPOCHS_SEQPOINT_H
#define RESULTS_EPOCHS_SEQPOINT_H

#include "results/epochs/sample_estimate.h"
#include "results/table/table.h"

struct pdnn_representative {
    size_t kind;   /* of the epoch */
    double weight; /* iterations that it stands for; together all of the epoch's */
    uint64_t runs; /* iterations of this kind that are run: 1, or more for consecutive and random ones */
};

struct pdnn_representatives {
    struct pdnn_representative *point; /* kinds ascending, each once */
    size_t count;
};

/* The sum of weight * value, which is by kind and additive: times, FLOP, bytes. */
double pdnn_representatives_total(const struct pdnn_representatives *points, const double *value);

/* What is taken for the sequence length of an iteration with two. */
enum pdnn_seqpoint_key {
    PDNN_KEY_SOURCE,
    PDNN_KEY_TARGET,
    PDNN_KEY_SUM,
    PDNN_KEY_MAXIMUM,
    PDNN_KEY_BOTH, /* bins in two dimensions */
    PDNN_KEY_COUNT
};

struct pdnn_seqpoint_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key;
    const double *statistic; /* by kind, additive: a step time, or FLOP; NULL: the length by the key */
    size_t unique_max;       /* up to this many distinct lengths each is a SeqPoint; published: 10 */
    size_t bins;             /* to begin with, at least 1; published: 5. Of PDNN_KEY_BOTH as 3 by 3 of 5 */
    double error;            /* of the projected statistic, as a part of 1; published: 0.01 */
};

struct pdnn_seqpoints {
    struct pdnn_representatives points;
    size_t distinct; /* different lengths by the key */
    size_t bins;     /* of the last attempt, along each dimension; 0: every distinct length is a SeqPoint */
    double error;    /* of its projected statistic, signed, as a part of 1 */
};

/* In the arena. Bins have equal widths from the shortest to the longest; each gives the length whose
 * statistic (its iterations' mean) is nearest to the bin's mean (tie: the shorter) and stands for all of
 * them; one bin more as long as the error is greater than allowed. Of several kinds of that length, as
 * different targets under one source, it is the one whose statistic, then whose source + target, is nearest
 * to their mean, then the first. PDNN_INVALID if a statistic is negative or not finite, or if none is
 * positive. */
enum pdnn_status pdnn_seqpoint_select(const struct pdnn_seqpoint_request *request, struct pdnn_arena *arena,
                                      struct pdnn_seqpoints *seqpoints, struct pdnn_err *err);

/* The published baselines. */
enum pdnn_baseline {
    PDNN_BASELINE_FREQUENT, /* the commonest length (tie: the shorter) stands for all */
    PDNN_BASELINE_MEDIAN,   /* the (lower) median of the iterations' lengths */
    PDNN_BASELINE_WORST,    /* the single iteration with the greatest error of the statistic */
    PDNN_BASELINE_PRIOR,    /* the first PDNN_PRIOR_ITERATIONS, or all */
    PDNN_BASELINE_RANDOM,   /* as many iterations, drawn without replacement */
    PDNN_BASELINE_ALL,      /* every kind, weighted by its count */
    PDNN_BASELINE_COUNT
};

enum { PDNN_PRIOR_ITERATIONS = 50, PDNN_RANDOM_SEEDS = 200 };

struct pdnn_method_estimate {
    const char *method;
    struct pdnn_representatives points; /* model-assisted: the kinds of its draws */
    uint64_t iterations, lengths;       /* that it runs; distinct lengths among them */
    /* Of the epoch; NaN where a time is missing. low and high: the model-assisted interval, else NaN. */
    double total_ns, low_ns, high_ns, truth_ns;
    double error; /* against the truth, signed; random: the 95th percentile of its size over seeds */
    /* Of the epoch over what is run: iterations, and time, one after another or all at once. */
    double fewer, serial, parallel;
};

enum { PDNN_METHOD_ESTIMATES = 2 + PDNN_BASELINE_COUNT };

struct pdnn_method_estimates_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key;                /* for baselines BOTH orders by source + target */
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

/* How much faster the epoch is in the second seqpoint.csv than in the first: in truth, where every kind was
 * measured in both, and as each method projects it from what it chose in the first. False if they are of
 * different epochs; otherwise made is to be finished by the caller. */
bool pdnn_epoch_speedups(const struct pdnn_table of[2], struct pdnn_table *made);

#endif
