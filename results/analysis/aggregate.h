/* From the visits of one instance to its row and its ops' rows. A pure function of what the journal holds,
 * the instance and the ceilings.
 *
 * The headline time_ns_median is the median of the ok visits' medians, [ci_low_ns, ci_high_ns] the 95 %
 * interval of pdnn_visits_interval (none from a single visit); time_ns_min is the least of all, time_ns_mean
 * the mean of the visits' means, p10, p90 and mad the medians of theirs; rounds counts ok visits, samples and
 * warmups are sums; prepare_ns is the median. Status: ok when any visit was; else the last visit's, with its
 * reason. flags: drift and preempted when most visits have them, the others when any has; and what only the
 * visits together show, noisy and drift. */
#ifndef RESULTS_ANALYSIS_AGGREGATE_H
#define RESULTS_ANALYSIS_AGGREGATE_H

#include "base/arena.h"
#include "results/tables/record.h"
#include "results/tables/visits.h"
#include "results/analysis/roofline.h"

struct pdnn_aggregate_input {
    const char *id;
    const struct pdnn_visit *visits; /* in order; may be NULL when there are none; their ops are not read */
    const struct pdnn_measured_ops *ops; /* by visit; NULL: not known */
    size_t n_visits;
    enum pdnn_outcome outcome; /* without visits: what the row says, and why */
    const char *reason;        /* may be NULL */
    double precision;          /* the asked one: an interval five times as wide sets the flag noisy */
    const struct pdnn_ceilings *ceilings; /* NULL: no placement, no speed_index */
    const char *host;                     /* borrowed by the record */
    const struct pdnn_totals *totals;     /* known already (memory_bytes may be 0), or NULL */
};

/* Fills the record from the id, its graph's costs, its visits and the ceilings. ops (may be NULL with n_ops)
 * gets the rows of ops.csv, in the arena: one per group of equal nodes in order of execution, then one per
 * kind of reorder; none when no visit was ok. The arena is reset first. An id this program cannot parse any
 * more still gives its row, with what the visits alone say. */
enum pdnn_status pdnn_aggregate(const struct pdnn_aggregate_input *input, struct pdnn_arena *arena,
                                struct pdnn_record *record, struct pdnn_op_record **ops, size_t *n_ops,
                                struct pdnn_err *err);

#endif
