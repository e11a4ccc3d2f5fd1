/* Runs one sweep: which instance is visited when, by which worker process, under which limits, with progress
 * reports. The driver does not touch OpenMP or a math library; workers do the running. It does not store
 * results either: the caller is handed each visit as it ends. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_H

#include "runtime/driver/sweep/sweep_schedule.h"
#include "runtime/driver/worker/worker.h"

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

/* sum += result. */
void pdnn_sweep_result_add(struct pdnn_sweep_result *sum, const struct pdnn_sweep_result *result);

/* Workers that outlive a run, since they remember what they measured about shapes. */
struct pdnn_sweep_workers; /* opaque */
struct pdnn_sweep_workers *pdnn_sweep_workers_create(const struct pdnn_host *host,
                                                     uint64_t memory_limit_bytes);
/* The worker of the kind, started if there is none alive; the others are at rest. Borrowed until the next
 * call. */
enum pdnn_status pdnn_sweep_workers_get(struct pdnn_sweep_workers *workers, struct pdnn_worker_kind kind,
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

/* What runs the visits: worker processes, one per kind, or a stand-in in tests. */
struct pdnn_visitor {
    void *user;
    bool (*alive)(void *user, struct pdnn_worker_kind kind);
    /* Called before a visit if the worker is not alive. */
    enum pdnn_status (*start)(void *user, struct pdnn_worker_kind kind, struct pdnn_err *err);
    /* Like pdnn_worker_visit. */
    enum pdnn_status (*visit)(void *user, struct pdnn_worker_kind kind, const struct pdnn_request *request,
                              const struct pdnn_watch *watch, struct pdnn_visit *visit, struct pdnn_err *err);
    /* Ends all workers, so that the next visits have new ones. Called between the passes of paired order. */
    void (*retire)(void *user);
    uint64_t (*clock_ns)(void); /* pdnn_clock_ns */
};

/* pdnn_sweep_run with another visitor. */
enum pdnn_status pdnn_sweep_run_with(const struct pdnn_visitor *visitor, const struct pdnn_task *tasks,
                                     size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                     const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                     struct pdnn_err *err);

#endif
