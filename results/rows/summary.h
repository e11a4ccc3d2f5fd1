/* What a sweep found, in a few numbers: the rows that stand out, what bounds the rows, how many cannot be
 * trusted and why. Rows that did not end ok do not count, and unusable ones do not stand out. */
#ifndef RESULTS_ROWS_SUMMARY_H
#define RESULTS_ROWS_SUMMARY_H

#include "results/store/results.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_extreme {
    PDNN_EXTREME_FASTEST,  /* by FLOP rate */
    PDNN_EXTREME_SLOWEST,  /* the same */
    PDNN_EXTREME_FARTHEST, /* from its roof */
    PDNN_EXTREME_COUNT
};

struct pdnn_extreme_row {
    bool found;
    double rank; /* the higher, the more extreme */
    char id[PDNN_ID_TEXT];
    struct pdnn_placement place;
};

/* {0}: no rows yet. */
struct pdnn_summary {
    struct pdnn_extreme_row row[PDNN_EXTREME_COUNT];
    size_t n_ok, n_noisy, n_unusable;
    size_t n_busy;                      /* unusable, and other programs had a part of the cores */
    size_t bound[PDNN_BOUND_COUNT];     /* ok rows by what limits them */
    size_t noisy_flag[PDNN_FLAG_COUNT]; /* noisy rows by their other flags, by bit */
};

void pdnn_summary_add(struct pdnn_summary *summary, const struct pdnn_result *row);

#endif
