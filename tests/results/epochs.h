/* Epochs made of kinds alone: nothing is known of their examples. */
#ifndef TESTS_RESULTS_EPOCHS_H
#define TESTS_RESULTS_EPOCHS_H

#include "results/epochs/epoch.h"

#include <math.h>
#include <stdlib.h>

static inline int compare_kinds(const void *a, const void *b) {
    const int64_t *x = ((const struct pdnn_epoch_kind *)a)->length,
                  *y = ((const struct pdnn_epoch_kind *)b)->length;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* kind: different ones; it is sorted and borrowed, and iterations are in its order. */
static inline struct pdnn_epoch epoch_of_kinds(struct pdnn_epoch_kind *kind, size_t n_kinds,
                                               struct pdnn_arena *arena) {
    struct pdnn_epoch made = {.kind = kind, .n_kinds = n_kinds, .columns = 1, .waste = NAN};
    qsort(kind, n_kinds, sizeof *kind, compare_kinds);
    for (size_t k = 0; k < n_kinds; k++) {
        made.n_iterations += kind[k].count;
        made.columns = kind[k].length[1] ? 2 : made.columns;
    }
    made.kind_of = pdnn_arena_alloc(arena, made.n_iterations, sizeof *made.kind_of);
    for (size_t k = 0, at = 0; k < n_kinds; k++)
        for (size_t i = 0; i < kind[k].count; i++)
            made.kind_of[at++] = k;
    return made;
}

/* The sum of an additive quantity over all iterations; by kind. */
static inline double epoch_total(const struct pdnn_epoch *epoch, const double *value) {
    double total = 0;
    for (size_t k = 0; k < epoch->n_kinds; k++)
        total += (double)epoch->kind[k].count * value[k];
    return total;
}

#endif
