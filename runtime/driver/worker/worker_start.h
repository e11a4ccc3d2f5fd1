/* What both ways to start a worker share: as one process, and as several ranks. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_START_H
#define RUNTIME_DRIVER_WORKER_WORKER_START_H

#include "base/paths/program.h"
#include "runtime/driver/worker/worker.h"

/* What a worker is started with. */
struct pdnn_worker_start {
    const struct pdnn_host *host;
    struct pdnn_worker_kind kind;
    uint64_t memory_limit_bytes;
    int64_t ranks; /* 0: one process */
    /* Starts the processes, with more environment variables (worker_environment.h), and connects. Sets the
     * path of the program, for messages. The caller stops the worker after a failure. */
    enum pdnn_status (*connect)(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                const char *more, char program[PDNN_PROGRAM_TEXT], struct pdnn_err *err);
};

/* Connects and exchanges the first messages; and once more where the libraries want other variables than the
 * ones given. PDNN_IO if the program is of another build. */
enum pdnn_status pdnn_worker_begin(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                   const char *variables, struct pdnn_err *err);

/* Starts the program as the worker's process, which ends with this one and whose output the link hears. It
 * gets the descriptor, or is mpirun, which gets none (-1). */
enum pdnn_status pdnn_worker_spawn(struct pdnn_worker *worker, int fd, const char *program,
                                   char *const *arguments, char *const *environment, struct pdnn_err *err);

#endif
