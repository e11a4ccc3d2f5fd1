/* One visit: warm-up, then samples of whole steps interleaved with stamped steps, until a rule says stop.
 * Knows nothing about models: it times two callbacks. */
#ifndef RUNTIME_MEASURE_MEASURE_H
#define RUNTIME_MEASURE_MEASURE_H

#include "base/err.h"
#include "runtime/measure/counters.h"
#include "runtime/measure/usage.h"
#include "runtime/protocol/request.h"
#include "runtime/protocol/visit.h"

struct pdnn_measure_target {
    void *user;
    int (*step)(void *user);                       /* one whole step; non-zero aborts */
    int (*stamped_step)(void *user, uint64_t *ns); /* ns[i] += time of part i; NULL: there are no parts */
    size_t n_parts;
    void (*evict)(void *user); /* cold samples: evicts the caches; else NULL */
    /* Time that steps have waited for their data so far; NULL: they do not wait. It is part of samples, but
     * of no part of a stamped step. */
    uint64_t (*waited_ns)(void *user);
    uint64_t period; /* a sample is a multiple of this many steps, over which waiting evens out; 0: of one */
    /* Both NULL unless several processes run the step together. Called before and after each run of steps
     * whose time counts, outside of it; `after` gets its time in ns and returns the one that counts. */
    void (*before)(void *user, uint64_t steps);
    uint64_t (*after)(void *user, uint64_t ns);
    uint64_t (*clock)(void *user); /* NULL: pdnn_clock_ns; tests supply a scripted one */
    /* Called before the first sample and after the last; NULL: not known. */
    void (*usage)(void *user, struct pdnn_usage *usage);
    /* What was counted since the last call; false: not all of it. NULL: nothing is counted. Called around
     * steps of their own, after all samples and stamped steps. */
    bool (*count)(void *user, struct pdnn_counts *counts);
    /* One step, counted part by part by the callee, each less the cost of an empty part. */
    int (*counted_step)(void *user, const struct pdnn_counts *cost);
    int64_t threads; /* that a step keeps busy; 0: not known (core_share.h) */
    int64_t cores;   /* that steal_ns is of */
};

/* Fills the time fields, counts, stop, flags and usage of *visit, and what was counted; counters is set where
 * that was not possible. part_ns (n_parts, the caller's) receives
 * each part's median. PDNN_INTERNAL, with the code, when a step fails. */
enum pdnn_status pdnn_measure_visit(const struct pdnn_measure_target *target,
                                    const struct pdnn_measure_rules *rules, struct pdnn_visit *visit,
                                    double *part_ns, struct pdnn_err *err);

#endif
