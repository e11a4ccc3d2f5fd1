/* From the visits of one instance to its row and the rows of its ops: a pure function of the journal's
 * contents, the instance and the roofs.
 *
 * The headline time_ns_median is the median of the ok visits' medians, [ci_low_ns, ci_high_ns] the 95 %
 * interval of pdnn_visits_interval with the other instances' scatter. A row is ok if any visit was, otherwise
 * it has the status and reason of the last; which visits count is said in runtime/protocol/standing.h. A
 * composed row has no spread of samples: its limits are the visits' quantiles.
 *
 * Speed index, for each of the two probes: with s = probe / reference of a visit and share = step / (step + 2
 * ms), 1 / index = (1 - share) / max(s) + share / median(s): see speed_of. */
#ifndef RESULTS_ROWS_AGGREGATE_H
#define RESULTS_ROWS_AGGREGATE_H

#include "base/arena.h"
#include "results/rows/roofline.h"
#include "results/store/results.h"
#include "results/store/journal.h"
#include "base/stats.h"

struct pdnn_aggregate_input {
    const char *id;
    struct pdnn_instance_visits of; /* borrowed; their ops may be NULL */
    enum pdnn_outcome outcome;      /* without visits: the row's status, and `reason` says why */
    const char *reason;             /* may be NULL */
    struct pdnn_scatter pool;       /* from pdnn_aggregate_pool; {0}: the instance stands alone */
    double precision; /* the requested one: an interval five times as wide sets the flag noisy */
    const struct pdnn_roof_rows *roof_rows; /* NULL: no placement and no speed_index */
    const char *host;                       /* may be NULL */
    const struct pdnn_totals *totals;       /* if already known (memory_bytes may be 0), else NULL */
};

/* How the visits of all instances scatter, which sharpens the interval of each. */
void pdnn_aggregate_pool(const struct pdnn_visits *visits, struct pdnn_scatter *pool);

/* Adds the instance's row to a table of results.csv: from the id, its graph's costs, its visits and the
 * roofs. ops (may be NULL) gets the rows of ops.csv: one per group of equal nodes in order of execution,
 * then one per kind of reorder; none if no visit was ok. The arena is reset first. An id that this program
 * can no longer parse still gets a row, with what the visits alone say. */
enum pdnn_status pdnn_aggregate(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                                struct pdnn_table *results, struct pdnn_table *ops, struct pdnn_err *err);

#endif
