/* The driver's end of a worker: the connection and the worker's output. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_LINK_H
#define RUNTIME_DRIVER_WORKER_WORKER_LINK_H

#include "runtime/protocol/protocol.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/host/host_cgroup.h"

/* A rank says its own before mpirun says its: OpenMPI 5 takes some 700 bytes for that, in several lines. */
enum { PDNN_LAST_WORDS_TEXT = 4096 };

struct pdnn_worker_link {
    int fd, error_fd; /* request socket; read end of the worker's stderr, or -1 */
    struct pdnn_inbox inbox;
    struct pdnn_software software;
    uint64_t memory_limit_bytes;
    struct pdnn_oom_kills oom_kills;       /* before the current request */
    char last_words[PDNN_LAST_WORDS_TEXT]; /* the end of its output: of ranks all, else since the current
                                              request */
    size_t last_words_length;
    char variables[sizeof((struct pdnn_welcome *)0)->variables]; /* it was started with, besides ours */
    bool is_ranks; /* the process is mpirun, which ends its ranks when asked to */
};

/* Copies some of the worker's output to our stderr and remembers its end. False if there was none. */
bool pdnn_worker_hear(struct pdnn_worker_link *link);

#endif
