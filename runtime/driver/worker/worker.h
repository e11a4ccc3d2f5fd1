/* The worker as the driver sees it: a process running the program `paradnn-worker`, the only one that touches
 * OpenMP and the math libraries. It reads requests from a socket and writes answers to it. Its threads are
 * bound, one per core, within the cores that this process was given. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_H
#define RUNTIME_DRIVER_WORKER_WORKER_H

#include "runtime/driver/worker/worker_link.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/protocol/check.h"
#include "runtime/host/host.h"
#include "runtime/protocol/operator.h"
#include "runtime/protocol/request.h"
#include "runtime/protocol/software.h"
#include "runtime/protocol/visit.h"

/* The kind of worker that an instance needs. A library that is not among these is none. */
struct pdnn_worker_kind pdnn_worker_kind_of(const struct pdnn_instance *instance,
                                            const struct pdnn_library_dirs *libraries);

bool pdnn_worker_is(const struct pdnn_worker *worker, struct pdnn_worker_kind kind);

/* Starts a worker (fork and exec) with the environment of runtime/host/host_openmp.h and memory_limit_bytes
 * of address-space headroom (0: no limit); the kind's library, if it has one, comes first where the dynamic
 * linker looks. If its libraries need other environment variables for the isa, the worker is started again
 * with those. Returns once it has answered. The worker dies with this process, is the
 * kernel's first choice when memory runs out, and ignores SIGINT, SIGTERM, SIGHUP, SIGUSR1 and
 * SIGUSR2, which are for the driver. Its stdout and stderr go to our stderr. PDNN_IO if there is no program
 * to run, or if it is of another build; PDNN_INVALID as pdnn_library_dir_check says. */
enum pdnn_status pdnn_worker_start(struct pdnn_worker *worker, const struct pdnn_host *host,
                                   struct pdnn_worker_kind kind, uint64_t memory_limit_bytes,
                                   struct pdnn_err *err);

/* The same for a worker that is several ranks, which mpirun starts: on this host, or where MPI's own
 * environment and PARADNN_HOSTS say. `alike` is a worker of the same kind, whose environment it gets; or {0}.
 * The pid is mpirun's, and the connection is to rank 0. PDNN_UNSUPPORTED, with what is missing, in a build
 * without MPI or without mpirun. */
enum pdnn_status pdnn_worker_start_ranks(struct pdnn_worker *worker, const struct pdnn_host *host,
                                         struct pdnn_worker_kind kind, int64_t ranks,
                                         uint64_t memory_limit_bytes, const struct pdnn_worker *alike,
                                         struct pdnn_err *err);

/* The libraries behind its backends. Borrowed until the worker is stopped. */
const struct pdnn_software *pdnn_worker_software(const struct pdnn_worker *worker);

/* Lines "NAME=value" of the variables in its environment that a library ignores. Borrowed likewise. */
const char *pdnn_worker_ignored(const struct pdnn_worker *worker);

/* The places that the kernel reports for this many threads: "{0},{1}" on the heap, freed by the caller. */
enum pdnn_status pdnn_worker_places(struct pdnn_worker *worker, int64_t threads, char **places,
                                    struct pdnn_err *err);

/* Ends the threads of a worker that is idle while another one measures, since they would keep spinning. The
 * next request restarts them. */
void pdnn_worker_rest(struct pdnn_worker *worker);

/* Runs one visit. Whatever happens to the worker is in visit->outcome and reason; after a timeout, a crash or
 * a stop it is gone (pid 0). The status covers only failures on this side; PDNN_INTERRUPTED if *stop or
 * the deadline ended the visit. */
enum pdnn_status pdnn_worker_visit(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                   struct pdnn_err *err);

/* Lists what an instance consists of, in the worker that will measure it: outcome, reason and the rows of
 * ops.csv without times in visit, and the operators, heap, freed by the caller; none unless the outcome is
 * ok. As for a visit, the status covers only failures on this side. */
enum pdnn_status pdnn_worker_operators(struct pdnn_worker *worker, const struct pdnn_request *request,
                                       const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                       struct pdnn_operator **operators, size_t *n_operators,
                                       struct pdnn_err *err);

/* Measures one of them, and others that are wanted if that takes little more: times, heap, freed by the
 * caller; none unless the outcome is ok. Cheaper for the instance that was last asked about, which is still
 * compiled. */
enum pdnn_status pdnn_worker_operator(struct pdnn_worker *worker, const struct pdnn_operator_request *request,
                                      const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                      struct pdnn_operator_time **times, size_t *n_times,
                                      struct pdnn_err *err);

/* Measures the roofs for one thread count, in about `seconds`, and appends their rows; 0: the probes
 * alone. After half of the limit it goes on without bandwidths. PDNN_IO if that takes longer than the limit;
 * the worker is gone then. */
enum pdnn_status pdnn_worker_roofs(struct pdnn_worker *worker, int64_t threads, double seconds,
                                   const struct pdnn_watch *watch, struct pdnn_roof_rows *roof_rows,
                                   struct pdnn_err *err);

/* Runs one step on the instance's backend and on `reference`, from the same data. *rows is heap, freed by the
 * caller. PDNN_IO if that takes longer than the limit; the worker is gone then. */
enum pdnn_status pdnn_worker_check(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_check_row **rows,
                                   size_t *n_rows, struct pdnn_err *err);

#endif
