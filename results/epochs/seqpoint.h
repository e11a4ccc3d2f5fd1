/* SeqPoint: the representative iterations of an epoch by their sequence lengths (Pati, Aga, Sinclair,
 * Jayasena, ISPASS 2020, arXiv 2007.10459), and the simpler choices that it is compared with. Pure selection:
 * nothing runs here. */
#ifndef RESULTS_EPOCHS_SEQPOINT_H
#define RESULTS_EPOCHS_SEQPOINT_H

#include "results/epochs/length_groups.h"
#include "results/epochs/representatives.h"

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
 * first. PDNN_INVALID if a statistic is negative or not finite. */
enum pdnn_status pdnn_seqpoint_select(const struct pdnn_seqpoint_request *request, struct pdnn_arena *arena,
                                      struct pdnn_seqpoints *seqpoints, struct pdnn_err *err);

/* The published baselines. */
enum pdnn_baseline {
    PDNN_BASELINE_FREQUENT, /* the commonest length (tie: the shorter) stands for all */
    PDNN_BASELINE_MEDIAN,   /* the (lower) median of the iterations' lengths */
    PDNN_BASELINE_WORST,    /* the single iteration with the greatest error of the statistic */
    PDNN_BASELINE_PRIOR,    /* consecutive iterations */
    PDNN_BASELINE_RANDOM,   /* iterations drawn without replacement */
    PDNN_BASELINE_ALL,      /* every kind, weighted by its count */
    PDNN_BASELINE_COUNT
};

/* "frequent", "median", "worst", "prior", "random", "all-unique"; NULL-terminated. */
extern const char *const pdnn_baselines[];

enum { PDNN_PRIOR_ITERATIONS = 50 };

struct pdnn_baseline_request {
    const struct pdnn_epoch *epoch;
    enum pdnn_seqpoint_key key; /* BOTH orders by source + target */
    const double *statistic;    /* by kind; NULL: the length by the key */
    size_t iterations;          /* prior and random: how many; 0: PDNN_PRIOR_ITERATIONS; at most all */
    size_t first;               /* prior: where they begin; moved so that all fit */
    uint64_t seed;              /* random */
};

/* In the arena. */
enum pdnn_status pdnn_baseline_select(enum pdnn_baseline baseline,
                                      const struct pdnn_baseline_request *request, struct pdnn_arena *arena,
                                      struct pdnn_representatives *points, struct pdnn_err *err);

/* The 95th percentile of the absolute error of `random` over at least one seed: request->seed, + 1, ... */
enum pdnn_status pdnn_random_error(const struct pdnn_baseline_request *request, size_t seeds,
                                   struct pdnn_arena *arena, double *error, struct pdnn_err *err);

#endif
