/* Iterations that are run in place of an epoch, each with the number of iterations that it stands for, and
 * what follows from them: projections of additive quantities, and how much less is run. Which iterations is
 * not decided here. */
#ifndef RESULTS_EPOCHS_REPRESENTATIVES_H
#define RESULTS_EPOCHS_REPRESENTATIVES_H

#include "results/epochs/epoch.h"

struct pdnn_representative {
    size_t kind;   /* of the epoch */
    double weight; /* iterations that it stands for; together all of the epoch's */
    uint64_t
        runs; /* iterations of this kind that the method runs: 1, or more for consecutive and random ones */
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

/* How much less is run than the whole epoch, by the value (a time): one after another, or all at once on as
 * many machines. */
struct pdnn_reduction {
    double serial;   /* total of the epoch / sum of runs * value */
    double parallel; /* total of the epoch / greatest value of a point */
    double count;    /* iterations of the epoch / iterations run */
};

/* total: of the epoch, or its projection. */
struct pdnn_reduction pdnn_representatives_reduction(const struct pdnn_epoch *epoch,
                                                     const struct pdnn_representatives *points,
                                                     const double *value, double total);

#endif
