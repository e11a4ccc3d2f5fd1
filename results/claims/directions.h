/* The directions in which shares and counts move in BERT training (Pati et al., arXiv 2104.08335; derived
 * arithmetic where exact), checked on measured rows: transformer instances that agree in everything except
 * the axis in question and keys tied to it. */
#ifndef RESULTS_CLAIMS_DIRECTIONS_H
#define RESULTS_CLAIMS_DIRECTIONS_H

#include "results/claims/claims.h"
#include "results/query/ops_reader.h"
#include "results/query/selection.h"
#include "results/table/table.h"

/* A row for each direction in one set of instances. */
enum pdnn_direction_column {
    PDNN_DIRECTION_NAME,     /* "optimizer share falls with the batch" */
    PDNN_DIRECTION_VERDICT,  /* a pdnn_verdict_name */
    PDNN_DIRECTION_NUMBERS,  /* its basis, in the order of `compared`; empty if it cannot be told */
    PDNN_DIRECTION_COMPARED, /* "batch 4, 16, 32"; if it cannot be told: the instances needed */
    PDNN_DIRECTION_WHERE,    /* keys that distinguish this set: "length=128, fuse=none" */
    PDNN_DIRECTION_ID,       /* the common id, with a star for the axis; empty if it cannot be told */
    PDNN_DIRECTION_COLUMNS
};
extern const struct pdnn_table_def pdnn_directions_def;

/* Checks all directions and adds their rows, in their order; none if there is no Transformer. The arena is
 * for what it needs. */
void pdnn_directions_check(const struct pdnn_selection *selection, struct pdnn_ops_reader *reader,
                           struct pdnn_arena *arena, struct pdnn_table *table);

#endif
