/* Runs one sweep: which instance is visited when, by which worker process, under which limits, with progress
 * reports. The driver does not touch OpenMP or a math library; workers do the running. It does not store
 * results either: the caller is handed each visit as it ends. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_H

#include "runtime/driver/worker/worker.h"
#include "runtime/protocol/ceilings.h"
#include "runtime/host/host.h"
#include "runtime/protocol/request.h"
#include "runtime/protocol/visit.h"

#include <stdbool.h>

/* One instance to visit. */
struct pdnn_task {
    struct pdnn_instance instance;
    const char *id;        /* borrowed */
    const char *label;     /* for progress, borrowed; NULL: the id */
    uint64_t memory_bytes; /* predicted */
    uint64_t flop_count;   /* of one step: for the order and the first ETA */
    uint64_t visit_ns;     /* wall time of one visit as predicted; 0: not known */
    size_t visits_done;    /* ok visits from an earlier run, loaded by the caller */
    const double *medians; /* medians of those visits, visits_done of them; or NULL */
    uint64_t spent_ns;     /* sampling time of those visits: sum of samples * steps_per_sample * mean_ns */
    const struct pdnn_example_lengths *lengths; /* of its examples, in a set; borrowed; NULL: drawn */
    uint64_t min_samples;                       /* of each visit; 0: as the rules say */
    size_t crashes; /* crashes in a row at the end of its visits: runtime/protocol/standing.h */
    /* already has its final status (filtered, unsupported, oom_predicted, ...) and is never visited */
    bool closed;
};

/* With a deadline, an instance is begun only if there seems to be time for all its rounds. Which ones are:
 * spread evenly over the tasks in their order, which is the spec's; or the shortest. Those not begun keep
 * their place in that order, and a rerun goes on with them. */
enum pdnn_reach { PDNN_REACH_SPREAD, PDNN_REACH_SMALLEST, PDNN_REACH_COUNT };

/* Round r visits every open instance that has fewer than r visits, in an order that depends on the round, so
 * a resumed sweep continues where it stopped, in the order it would have had. Instances whose interval is
 * wider than the precision get extra visits, spread over the whole sweep: as many as max_time allows, up to
 * four times `rounds` in total. */
struct pdnn_sweep_rules {
    /* the same for every visit, except id, max_visit_ns, cold and cache_bytes */
    struct pdnn_request request;
    const struct pdnn_ceilings *ceilings; /* for the measured cache sizes; NULL: not measured */
    int64_t rounds;
    uint64_t max_time_ns;   /* for all visits to one instance */
    bool cost_order;        /* small to large instead of shuffled */
    uint64_t time_limit_ns; /* for one visit, preparation included; 0: none */
    /* When all visits must have ended, on the visitor's clock, which is base/clock; 0: never. No visit starts
     * that is expected to end later, and the one that is running then is dropped. */
    uint64_t deadline_ns;
    enum pdnn_reach reach; /* which instances come first if there is no time for all of them */
    /* nonzero once the sweep is to end, set by a signal handler; NULL: never */
    const volatile int *stop;
    uint64_t grace_ns; /* what the current visit may still take then; 0: one second */
};

struct pdnn_sweep_progress {
    size_t visits_done, visits_planned; /* planned grows when intervals stay wide */
    double eta_seconds;                 /* until the last one or the deadline; < 0: not known yet */
    const char *label;                  /* of the current task */
};

struct pdnn_sweep_hooks {
    void *user;
    /* Called when a visit has ended; must append it to the journal before returning. A
     * failure ends the sweep. */
    enum pdnn_status (*visited)(void *user, size_t task, const struct pdnn_visit *visit,
                                struct pdnn_err *err);
    void (*progress)(void *user,
                     const struct pdnn_sweep_progress *progress); /* may be NULL; a few times a second */
};

struct pdnn_sweep_result {
    size_t visits, workers_started, workers_lost;
    size_t unfinished;             /* tasks left for a resumed sweep: fewer visits than rounds */
    bool out_of_time;              /* the deadline left no time for some visit */
    struct pdnn_visit_spent spent; /* summed over visits */
    uint64_t overhead_ns;          /* time in the driver, outside workers, summed over visits */
};

/* How many of the tasks would be begun if left_ns were left, as predicted. rules->deadline_ns is not 0. */
size_t pdnn_sweep_reach(const struct pdnn_task *tasks, size_t n_tasks, const struct pdnn_sweep_rules *rules,
                        uint64_t left_ns);

/* sum += result. */
void pdnn_sweep_result_add(struct pdnn_sweep_result *sum, const struct pdnn_sweep_result *result);

/* Workers that outlive a run, since they remember what they measured about shapes. */
struct pdnn_sweep_workers; /* opaque */
struct pdnn_sweep_workers *pdnn_sweep_workers_create(const struct pdnn_host *host,
                                                     uint64_t memory_limit_bytes);
/* The worker for the isa, started if there is none alive; the others are at rest. Borrowed until the next
 * call. */
enum pdnn_status pdnn_sweep_workers_get(struct pdnn_sweep_workers *workers, enum pdnn_isa isa,
                                        struct pdnn_worker **worker, struct pdnn_err *err);
void pdnn_sweep_workers_destroy(struct pdnn_sweep_workers *workers); /* takes NULL */

/* Visits every open task until the rules are met. Earlier visits of closed tasks say how much visits scatter.
 * If a worker dies, hangs or exceeds its limit, that becomes the visit's outcome, and a new worker takes
 * over. PDNN_INTERRUPTED once *rules->stop is nonzero: the current visit is dropped or finishes within the
 * grace, and what is in the journal stays. */
enum pdnn_status pdnn_sweep_run(const struct pdnn_host *host, const struct pdnn_task *tasks, size_t n_tasks,
                                const struct pdnn_sweep_rules *rules, const struct pdnn_sweep_hooks *hooks,
                                struct pdnn_sweep_result *result, struct pdnn_err *err);

/* The same with the caller's workers. */
enum pdnn_status pdnn_sweep_run_on(struct pdnn_sweep_workers *workers, const struct pdnn_task *tasks,
                                   size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                   const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                   struct pdnn_err *err);

#endif
