/* The kinds of an epoch grouped by what is taken for their length, with the mean statistic of each group and
 * the kind that represents it: what selection by length works on. */
#ifndef RESULTS_EPOCHS_LENGTH_GROUPS_H
#define RESULTS_EPOCHS_LENGTH_GROUPS_H

#include "results/epochs/epoch.h"

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

struct pdnn_length_group {
    int64_t key[2]; /* the second one 0 unless both lengths are the key */
    uint64_t count; /* iterations */
    double mean;    /* statistic of one of them */
    size_t kind;    /* that represents it */
};

struct pdnn_length_groups {
    struct pdnn_length_group *group; /* ascending */
    size_t count;
    double total;            /* statistic of the epoch */
    const double *statistic; /* by kind, also where none was given */
};

/* In the arena. statistic: by kind, NULL: the length. PDNN_INVALID if one is negative or not finite, or if
 * none is positive. */
enum pdnn_status pdnn_length_groups(const struct pdnn_epoch *epoch, enum pdnn_seqpoint_key key,
                                    const double *statistic, struct pdnn_arena *arena,
                                    struct pdnn_length_groups *groups, struct pdnn_err *err);

/* Whether two distances are equal but for rounding, at the scale of the values that they lie between. */
bool pdnn_length_is_tie(double one, double other, double scale);

#endif
