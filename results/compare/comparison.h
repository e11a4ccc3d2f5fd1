/* Two platforms side by side, and what pairs their instances. */
#ifndef RESULTS_COMPARE_COMPARISON_H
#define RESULTS_COMPARE_COMPARISON_H

#include "base/arena.h"
#include "base/err.h"
#include "results/query/selection.h"
#include "results/table/table.h"

enum { PDNN_SIDE_A, PDNN_SIDE_B, PDNN_SIDES };

/* One key that differs. */
struct pdnn_across_key {
    const char *name;
    const char *value[PDNN_SIDES]; /* NULL: any, between two directories */
};

struct pdnn_comparison {
    struct pdnn_selection table[PDNN_SIDES]; /* the second one only if there are two directories */
    const char *directory[PDNN_SIDES];       /* equal if there is only one */
    size_t n_directories;
    struct pdnn_across_key *across;
    size_t n_across;               /* 0: only the directories differ */
    const char *label[PDNN_SIDES]; /* "backend=onednn", or the directory where no key differs */
    const char **key;              /* hyper-parameters and run settings of either side */
    size_t n_keys;
    struct pdnn_table pairs, unpaired;
    size_t (*at)[PDNN_SIDES]; /* of each pair: its place among the chosen rows of either selection */
    size_t n_beside;          /* rows that belong to neither side: other values of the keys that differ */
    struct pdnn_arena arena;
};

/* The table that has the rows of this side. */
static inline const struct pdnn_selection *pdnn_comparison_side(const struct pdnn_comparison *comparison,
                                                                int side) {
    return &comparison->table[comparison->n_directories > 1 ? side : 0];
}

#endif
