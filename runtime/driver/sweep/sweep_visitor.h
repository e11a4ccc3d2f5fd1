/* Interface through which a sweep runs its visits: the worker process, or a stand-in in tests.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_VISITOR_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_VISITOR_H

#include "models/isa.h"
#include "runtime/driver/sweep/sweep.h"
#include "runtime/driver/worker/worker.h"

/* Has one worker per isa. */
struct pdnn_visitor {
    void *user;
    bool (*alive)(void *user, enum pdnn_isa isa);
    /* Called before a visit if the worker is not alive. */
    enum pdnn_status (*start)(void *user, enum pdnn_isa isa, struct pdnn_err *err);
    /* Like pdnn_worker_visit. */
    enum pdnn_status (*visit)(void *user, enum pdnn_isa isa, const struct pdnn_request *request,
                              const struct pdnn_watch *watch, struct pdnn_visit *visit, struct pdnn_err *err);
    uint64_t (*clock_ns)(void); /* pdnn_clock_ns */
};

/* pdnn_sweep_run with another visitor. */
enum pdnn_status pdnn_sweep_run_with(const struct pdnn_visitor *visitor, const struct pdnn_task *tasks,
                                     size_t n_tasks, const struct pdnn_sweep_rules *rules,
                                     const struct pdnn_sweep_hooks *hooks, struct pdnn_sweep_result *result,
                                     struct pdnn_err *err);

#endif
