/* Times of operators that were not measured, from neighbours that were.
 *
 * What is interpolated is utilization, the floor of the roofline over the time, as its logarithm over those
 * of the sizes: it is far smoother than time. Neighbours have the same implementation and state of the
 * caches, and no size that differs by more than PDNN_NEIGHBOUR_FACTOR; in every size, one is not smaller and
 * one not larger. The nearest make a weighted fit, linear where they are enough, within what they have.
 *
 * The error is measured: every operator that was measured is predicted from the others in the same way. */
#ifndef RESULTS_FIT_INTERPOLATE_H
#define RESULTS_FIT_INTERPOLATE_H

#include "runtime/protocol/operator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDNN_NEIGHBOUR_FACTOR = 8, PDNN_NEIGHBOURS_LEAST = 2, PDNN_LEFT_OUT_LEAST = 5 };
enum { PDNN_KIND_NUMBERS = 64, PDNN_KIND_CACHES = 4 };

/* Capacities of the caches that so many threads have together, the nearest first. */
struct pdnn_kind_caches {
    uint64_t bytes[PDNN_KIND_CACHES];
    size_t count;
    int64_t threads;                     /* the last of a list is for all others as well */
    const struct pdnn_kind_caches *next; /* borrowed; for other numbers of threads, or NULL */
};

/* What two operators must share before one says anything about the other, and the numbers in which they then
 * differ. */
struct pdnn_operator_kind {
    /* The operator's key without its sizes, but with the window of a convolution, and for each operand its
     * block of channels, the cache that may still hold it, and whether its last use wrote it. */
    char text[PDNN_OPERATOR_KEY_TEXT];
    char op[64];                    /* "dense/backward-data" */
    double size[PDNN_KIND_NUMBERS]; /* log2 of the sizes, in the order of the key */
    size_t n_sizes;
};

/* False for a key that is not one, or that has too many sizes. */
bool pdnn_operator_kind_parse(const char *key, const struct pdnn_kind_caches *caches,
                              struct pdnn_operator_kind *kind);

struct pdnn_neighbours; /* opaque */

/* caches: the first is copied, those after it are borrowed while keys are given. */
struct pdnn_neighbours *pdnn_neighbours_create(const struct pdnn_kind_caches *caches);
void pdnn_neighbours_destroy(struct pdnn_neighbours *neighbours); /* takes NULL */

/* Adds a measured operator, or one that will be (NaN), which counts in pdnn_neighbours_reach alone. One whose
 * key is no kind is left out. */
void pdnn_neighbours_add(struct pdnn_neighbours *neighbours, const char *key, double floor_ns,
                         double time_ns);

/* Whether there are neighbours to predict it from: NULL, or why not; static text. */
const char *pdnn_neighbours_reach(const struct pdnn_neighbours *neighbours, const char *key);

struct pdnn_prediction_of_operator {
    double time_ns, low_ns, high_ns; /* with the error that nine of ten left out ones have at most */
    size_t neighbours;
};

/* NULL and the prediction, or why there is none; static text. Also none where fewer than
 * PDNN_LEFT_OUT_LEAST measured ones could be predicted, of the kind, the op, or all of them. */
const char *pdnn_neighbours_predict(struct pdnn_neighbours *neighbours, const char *key, double floor_ns,
                                    struct pdnn_prediction_of_operator *prediction);

#endif
