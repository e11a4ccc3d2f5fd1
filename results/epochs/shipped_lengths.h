/* Length distributions of public data sets, as numbers: quantiles, or the parameters of a distribution, with
 * where they come from. */
#ifndef RESULTS_EPOCHS_SHIPPED_LENGTHS_H
#define RESULTS_EPOCHS_SHIPPED_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDNN_QUANTILES_MAX = 16 };

/* The value at each probability, both ascending. Between them it is linear; outside, the nearest one. */
struct pdnn_quantiles {
    size_t count;
    double probability[PDNN_QUANTILES_MAX], value[PDNN_QUANTILES_MAX];
};

/* Either source has quantiles, or it is log-normal and the target follows from it. */
struct pdnn_shipped_lengths {
    const char *name, *help;
    const char *from;                     /* data set, reference, licence where it has one */
    uint64_t examples;                    /* of the data set */
    size_t columns;                       /* 1, or 2: source and target */
    bool is_in_seconds;                   /* else in steps */
    struct pdnn_quantiles source, target; /* of two columns, independent of each other */
    double mu, sigma;                     /* of the logarithm of the source; sigma 0: it has quantiles */
    double slope, intercept, residual;    /* target = slope * source + intercept + residual * normal */
};

extern const struct pdnn_shipped_lengths pdnn_shipped_lengths[];
extern const size_t pdnn_n_shipped_lengths;

/* NULL if there is none. */
const struct pdnn_shipped_lengths *pdnn_shipped_lengths_find(const char *name);

#endif
