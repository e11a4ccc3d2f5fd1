/* The worker as the driver sees it: a process, of the program `paradnn-worker`, that alone touches OpenMP and
 * the math libraries. It reads requests from a socket and writes answers to it; its threads are bound, one
 * per core, inside what this process was given. */
#ifndef RUNTIME_DRIVER_WORKER_H
#define RUNTIME_DRIVER_WORKER_H

#include "models/isa.h"
#include "runtime/facts/ceilings.h"
#include "runtime/facts/check.h"
#include "runtime/facts/host.h"
#include "runtime/facts/request.h"
#include "runtime/facts/software.h"
#include "runtime/facts/visit.h"

#include <stdbool.h>
#include <sys/types.h>

/* The parent's side. {0} is no worker. */
struct pdnn_worker {
    pid_t pid;                     /* 0: none */
    enum pdnn_isa isa;             /* of every instance that it runs: libraries are told once */
    struct pdnn_worker_link *link; /* heap: the connection, and what the worker last said on stderr */
};

/* Starts one (fork and exec) with the environment of runtime/facts/host_openmp.h, and memory_limit_bytes (0:
 * none) as its address-space headroom; where its libraries want other variables for the isa, another one with
 * those. Returns once it has answered. It dies with this process, is the kernel's first choice when memory
 * runs out, and does not hear SIGINT and SIGTERM: those are for the driver. Its stdout and stderr come out on
 * our stderr. PDNN_IO where there is no program to run, or one of another build. */
enum pdnn_status pdnn_worker_start(struct pdnn_worker *worker, const struct pdnn_host *host,
                                   enum pdnn_isa isa, uint64_t memory_limit_bytes, struct pdnn_err *err);

/* False when there is none or it has died since the last request; then it is gone (pid 0). */
bool pdnn_worker_alive(struct pdnn_worker *worker);

/* What is behind its backends. Borrowed, until it is stopped. */
const struct pdnn_software *pdnn_worker_software(const struct pdnn_worker *worker);

/* Where that many threads really are, as the kernel has it: "{0},{1}", heap, the caller frees. */
enum pdnn_status pdnn_worker_places(struct pdnn_worker *worker, int64_t threads, char **places,
                                    struct pdnn_err *err);

/* Ends the threads of a worker that is to wait while another one measures: they would go on spinning. The
 * next request restarts them. */
void pdnn_worker_rest(struct pdnn_worker *worker);

/* Kills and reaps, if there is one. */
void pdnn_worker_stop(struct pdnn_worker *worker);

/* One visit, within time_limit_ns (0: no limit) and until *stop (counted by a signal handler) is non-zero:
 * then the worker has one more second, at 2 none. Whatever happens to it is in visit->outcome and
 * reason; the worker is gone (pid 0) after a timeout, a crash or a stop. The status says only what went wrong
 * on this side; PDNN_INTERRUPTED when *stop ended it. stop and tick may be NULL; tick is called a few times a
 * second while waiting. */
enum pdnn_status pdnn_worker_visit(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   uint64_t time_limit_ns, const volatile int *stop, void (*tick)(void *user),
                                   void *user, struct pdnn_visit *visit, struct pdnn_err *err);

/* Ceilings for one thread count, in about `seconds`; appends rows. */
enum pdnn_status pdnn_worker_ceilings(struct pdnn_worker *worker, int64_t threads, double seconds,
                                      const volatile int *stop, void (*progress)(void *user, double fraction),
                                      void *user, struct pdnn_ceilings *ceilings, struct pdnn_err *err);

/* Runs one step on both backends from the same data; *rows is heap, the caller frees. */
enum pdnn_status pdnn_worker_check(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const volatile int *stop, struct pdnn_check_row **rows, size_t *n_rows,
                                   struct pdnn_err *err);

#endif
