/* One sweep's life: which instance is visited when, by which worker process, under which limits, with what
 * progress. The driver touches no OpenMP and no math library; workers do the running. What becomes of a
 * visit is the caller's business: it is handed each one as it ends. */
#ifndef RUNTIME_DRIVER_SWEEP_H
#define RUNTIME_DRIVER_SWEEP_H

#include "runtime/facts/ceilings.h"
#include "runtime/facts/host.h"
#include "runtime/facts/request.h"
#include "runtime/facts/visit.h"

#include <stdbool.h>

/* One instance to visit. */
struct pdnn_task {
    struct pdnn_instance instance;
    const char *id;        /* borrowed */
    uint64_t memory_bytes; /* predicted */
    uint64_t flop_count;   /* of one step: for the order and the first ETA */
    size_t visits_done;    /* ok visits of an earlier run: loaded by the caller */
    const double *medians; /* theirs, visits_done of them, or NULL */
    uint64_t spent_ns;     /* sampling time they took: samples * steps_per_sample * mean_ns of each */
    size_t crashes;        /* how many crashes in a row its visits ended with; see pdnn_outcome_is_final */
    bool closed; /* has its final status already (filtered, unsupported, oom_predicted, ...): never visited */
};

/* Whether a visit with this outcome, after this many crashes in a row (this one included), is the last of its
 * instance. A crash alone may be somebody's kill -9 and is tried once more; every other failure would only
 * fail again. */
bool pdnn_outcome_is_final(enum pdnn_outcome outcome, size_t crashes);

/* Round r visits, in an order of its own, every open instance that has fewer than r visits; so a sweep that
 * is taken up again goes on where it was, in the order it would have had. Between them, spread over
 * the whole sweep, come extra visits for those whose interval is wider than the precision, as far as max_time
 * reaches, to four times `rounds` at most. */
struct pdnn_sweep_rules {
    struct pdnn_request request; /* of every visit, but for its id, its time, and what is said of caches */
    const struct pdnn_ceilings *ceilings; /* what caches were found to hold; NULL: nobody has looked */
    int64_t rounds;
    uint64_t max_time_ns;     /* of all visits to an instance */
    bool cost_order;          /* small to large instead of shuffled */
    uint64_t time_limit_ns;   /* one visit, preparation included; 0: none */
    uint64_t budget_ns;       /* 0: none */
    const volatile int *stop; /* not 0 once the sweep is to end, as a signal handler says; NULL: never */
};

struct pdnn_sweep_progress {
    size_t visits_done, visits_planned; /* planned grows when intervals stay wide */
    double eta_seconds;                 /* < 0: not known yet */
    const char *id;                     /* the one in hand */
};

struct pdnn_sweep_hooks {
    void *user;
    /* A visit ended; append it to the journal before returning. A failure ends the sweep. */
    enum pdnn_status (*visited)(void *user, size_t task, const struct pdnn_visit *visit,
                                struct pdnn_err *err);
    void (*progress)(void *user,
                     const struct pdnn_sweep_progress *progress); /* may be NULL; a few times a second */
};

struct pdnn_sweep_result {
    size_t visits, workers_started, workers_lost;
    size_t unfinished; /* tasks that a later sweep goes on with: fewer visits than rounds */
    bool budget_spent;
    uint64_t overhead_ns; /* driver time outside workers, summed over visits */
};

/* Visits every open task until the rules are met. A worker that dies, hangs or outgrows its limit becomes
 * that visit's outcome, and a new one goes on. PDNN_INTERRUPTED once *rules->stop is not 0 (the visit in
 * hand is dropped or finished within a second; what is journaled stays). */
enum pdnn_status pdnn_sweep_run(const struct pdnn_host *host, const struct pdnn_task *tasks, size_t n_tasks,
                                const struct pdnn_sweep_rules *rules, const struct pdnn_sweep_hooks *hooks,
                                struct pdnn_sweep_result *result, struct pdnn_err *err);

#endif
