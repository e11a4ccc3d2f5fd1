/* The worker: a child process (this program again, `paradnn worker`) that alone touches OpenMP and the math libraries. It
 * reads requests from one pipe and writes answers to another; its threads are bound, one per core, inside what the process
 * was given. */
#ifndef RUNTIME_DRIVER_WORKER_H
#define RUNTIME_DRIVER_WORKER_H

#include "runtime/core/ceilings.h"
#include "runtime/core/host.h"
#include "runtime/core/measure.h"
#include "runtime/core/visit.h"

#include <sys/types.h>

/* The parent's side. {0} with pid 0 is no worker. */
struct pdnn_worker {
    pid_t pid;
    int request_fd, answer_fd;
};

/* Starts the child (fork and exec of /proc/self/exe) with OMP_PLACES, OMP_PROC_BIND and OMP_WAIT_POLICY set, unless the
 * user's environment sets them already, and memory_limit_bytes as its address-space headroom. */
enum pdnn_status pdnn_worker_start(struct pdnn_worker *worker, const struct pdnn_host *host, uint64_t memory_limit_bytes,
                                   struct pdnn_err *err);

/* Kills and reaps, if there is one. */
void pdnn_worker_stop(struct pdnn_worker *worker);

struct pdnn_visit_request {
    const char *id;
    uint64_t seed;
    uint64_t memory_limit_bytes;
    struct pdnn_measure_rules rules;
    bool probe;
};

/* One visit, within time_limit_ns and until *stop (set by a signal handler) is non-zero. Whatever happens to the child is in
 * visit->outcome and reason; the worker is gone (pid 0) after a timeout, a crash or a stop. The status says only what
 * went wrong on this side; PDNN_INTERRUPTED when *stop ended it. tick (may be NULL) is called a few times a second while
 * waiting. */
enum pdnn_status pdnn_worker_visit(struct pdnn_worker *worker, const struct pdnn_visit_request *request,
                                   uint64_t time_limit_ns, const volatile int *stop, void (*tick)(void *user), void *user,
                                   struct pdnn_visit *visit, struct pdnn_err *err);

/* Ceilings for one thread count, in about `seconds`; appends rows. */
enum pdnn_status pdnn_worker_ceilings(struct pdnn_worker *worker, int64_t threads, double seconds,
                                      const volatile int *stop, void (*progress)(void *user, double fraction), void *user,
                                      struct pdnn_ceilings *ceilings, struct pdnn_err *err);

/* The largest error of one tensor of an instance, backend against reference. */
struct pdnn_check_row {
    char op[PDNN_OP_KEY_TEXT]; /* "dense/backward-weights" and the layer */
    char tensor[64];           /* what it is: "activation 12 (64x1024)" */
    double error;              /* largest |difference| over the largest |reference value| of the tensor */
    double tolerance;
};

/* Runs one step on both backends from the same data; *rows is heap, the caller frees. */
enum pdnn_status pdnn_worker_check(struct pdnn_worker *worker, const char *id, uint64_t seed, uint64_t memory_limit_bytes,
                                   const volatile int *stop, struct pdnn_check_row **rows, size_t *n_rows,
                                   struct pdnn_err *err);

/* The child's main loop; returns the process's exit status. */
int pdnn_worker_main(int request_fd, int answer_fd);

#endif
