/* What both ways to start a worker share: as one process, and as several ranks. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_START_H
#define RUNTIME_DRIVER_WORKER_WORKER_START_H

#include "runtime/driver/worker/worker.h"
#include "runtime/protocol/protocol.h"

/* What a worker is started with. */
struct pdnn_worker_start {
    const struct pdnn_host *host;
    enum pdnn_isa isa;
    uint64_t memory_limit_bytes;
};

/* In a child whose exec has failed: says why, as its last words, and ends it. */
_Noreturn void pdnn_worker_end_unstarted(const char *program);

/* Exchanges the first messages; PDNN_IO if the program, whose path is for messages, is of another build. */
enum pdnn_status pdnn_worker_greet(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                   const char *program, struct pdnn_welcome *welcome, struct pdnn_err *err);

#endif
