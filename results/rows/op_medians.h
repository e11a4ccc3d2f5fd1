/* The ops of one instance over its visits: which rows ops.csv has, and the median time of each. Matches what
 * the visits measured with the groups of the graph, by key. */
#ifndef RESULTS_ROWS_OP_MEDIANS_H
#define RESULTS_ROWS_OP_MEDIANS_H

#include "base/arena.h"
#include "models/cost/group.h"
#include "results/store/results.h"
#include "results/store/visits.h"

/* A future row of ops.csv. */
/* Room for the implementations of all ops in a row. */
enum { PDNN_IMPLEMENTATIONS_TEXT = 4 * PDNN_IMPLEMENTATION_TEXT };

struct pdnn_breakdown_row {
    const char *key;   /* "dense/forward/64x2000:2000x1024:64x1024"; in the arena or borrowed from a visit */
    const char *layer; /* the stem of its layers if rows are kept apart by layer, else "" */
    const struct pdnn_group *group; /* NULL: measured but not in the graph, so a reorder */
    uint64_t count, bytes;          /* as in the last visit with this op; bytes: only if not in the graph */
    bool extrapolated;
    double time_ns;                                 /* 0: no visit has it */
    char implementation[PDNN_IMPLEMENTATIONS_TEXT]; /* several: joined by " | " */
};

/* The groups in their order, then other ops of the visits in order of appearance; in the arena. All visits
 * are ok ones. time_ns is the median over them, and a visit without the op counts as 0: a backend may choose
 * at each visit whether to reorder, and the sum should be that of a typical visit. */
void pdnn_breakdown(const struct pdnn_graph *graph, const struct pdnn_group *groups, size_t n_groups,
                    const struct pdnn_measured_ops *visits, size_t n_visits, struct pdnn_arena *arena,
                    struct pdnn_breakdown_row **rows, size_t *n_rows);

/* The group that a row of ops.csv was made from, or NULL for a reorder. */
const struct pdnn_group *pdnn_breakdown_group(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                                              size_t n_groups, const struct pdnn_op_record *op);

#endif
