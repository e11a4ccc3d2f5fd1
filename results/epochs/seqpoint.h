/* SeqPoint: the representative iterations of an epoch by their sequence lengths (Pati, Aga, Sinclair,
 * Jayasena, ISPASS 2020, arXiv 2007.10459), the simpler choices that it is compared with, and what follows
 * from iterations that are run in place of an epoch. Pure selection: nothing runs here. */
#ifndef RESULTS_EPOCHS_SEQPOINT_H
#define RESULTS_EPOCHS_SEQPOINT_H

#include "results/epochs/epoch.h"

struct pdnn_representative {
    size_t kind;   /* of the epoch */
    double weight; /* iterations that it stands for; together all of the epoch's */
    uint64_t runs; /* iterations of this kind that are run: 1, or more for consecutive and random ones */
};

struct pdnn_representatives {
    struct pdnn_representative *point; /* kinds ascending, each once */
    size_t count;
};

/* The sum of weight * value; by kind, of which only those of points are read. Times, FLOP, bytes and counters
 * are additive; a rate is the ratio of two projections, and so is a speed-up: that of the same points on two
 * platforms. */
double pdnn_representatives_total(const struct pdnn_representatives *points, const double *value);

/* projected / truth - 1. */
double pdnn_projection_error(double projected, double truth);

/* Iterations that are run. */
uint64_t pdnn_representatives_runs(const struct pdnn_representatives *points);

/* What is taken for the sequence length of an iteration with two. */
enum pdnn_seqpoint_key {
    PDNN_KEY_SOURCE,
    PDNN_KEY_TARGET,
    PDNN_KEY_SUM,
    PDNN_KEY_MAXIMUM,
    PDNN_KEY_BOTH, /* bins in two dimensions */
    PDNN_KEY_COUNT
};

/* "source", "target", "sum", "maximum", "both"; NULL-terminated. */
extern const char *const pdnn_seqpoint_keys[];

/* {.unique_max = 0, ...}: a zero is replaced by the published constant. */
struct pdnn_seqpoint_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key;
    /* By kind, what is additive over iterations: a step time, or FLOP; NULL: the length by the key. It also
     * decides when there are bins enough. */
    const double *statistic;
    size_t unique_max; /* up to this many distinct lengths each is a SeqPoint; 10 */
    size_t bins;       /* to begin with; 5. Of PDNN_KEY_BOTH this many in all, as 3 by 3 of 5 */
    double error;      /* of the projected statistic, as a part of 1; 0.01 */
};

struct pdnn_seqpoints {
    struct pdnn_representatives points;
    size_t distinct; /* different lengths by the key */
    size_t bins;     /* of the last attempt, along each dimension; 0: every distinct length is a SeqPoint */
    double error;    /* of its projected statistic, signed, as a part of 1 */
};

/* In the arena. Bins have equal widths from the shortest to the longest; each gives the length whose
 * statistic (its iterations' mean) is nearest to that of the bin's iterations (tie: the shorter) and stands
 * for all of them; as long as the error is greater than allowed there is one bin more. As many bins as
 * distinct lengths: each one is a SeqPoint. Where several kinds have that length, as different targets under
 * one source, it is the one whose statistic, then whose source + target, is nearest to their mean, then the
 * first. PDNN_INVALID if a statistic is negative or not finite, or if none is positive. */
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

/* "frequent", "median", "worst", "prior", "random", "all-unique"; NULL-terminated. */
extern const char *const pdnn_baselines[];

enum { PDNN_PRIOR_ITERATIONS = 50, PDNN_RANDOM_SEEDS = 200 };

struct pdnn_baseline_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key; /* BOTH orders by source + target */
    const double *statistic;    /* by kind; NULL: the length by the key */
    uint64_t seed;              /* random */
};

/* In the arena. */
enum pdnn_status pdnn_baseline_select(enum pdnn_baseline baseline,
                                      const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                      struct pdnn_representatives *points, struct pdnn_err *err);

/* The 95th percentile of the absolute error of `random` over PDNN_RANDOM_SEEDS seeds: request->seed, + 1, ...
 */
enum pdnn_status pdnn_random_error(const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                   double *error, struct pdnn_err *err);

#endif
