/* The driver's end of a worker: the process, the connection and the worker's output. What is behind the
 * handle is private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_WORKER_LINK_H
#define RUNTIME_DRIVER_WORKER_WORKER_LINK_H

#include "models/family.h"
#include "runtime/protocol/protocol.h"
#include "models/isa.h"
#include "runtime/driver/worker/library_dir.h"
#include "runtime/host/host_cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

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
    char ignored[sizeof((struct pdnn_welcome *)0)->ignored];     /* by libraries, of its environment */
    const struct pdnn_family_def **families;                     /* that it has been sent; heap */
    size_t n_families, families_room;
    bool is_ranks; /* the process is mpirun, which ends its ranks when asked to */
};

/* Copies some of the worker's output to our stderr and remembers its end. False if there was none. */
bool pdnn_worker_hear(struct pdnn_worker_link *link);

/* What every instance that a worker runs has in common, since libraries are loaded, and limited, only once.
 */
struct pdnn_worker_kind {
    enum pdnn_isa isa;
    const struct pdnn_library_dir *library; /* borrowed; NULL: what it loads by itself */
};

/* A worker without limits and libraries. */
#define PDNN_WORKER_PLAIN ((struct pdnn_worker_kind){.isa = PDNN_ISA_DEFAULT})

/* The driver's handle; {0} means no worker. */
struct pdnn_worker {
    pid_t pid; /* 0: no worker */
    struct pdnn_worker_kind kind;
    struct pdnn_worker_link *link; /* heap: the connection, and the last output on stderr */
};

/* False if there is none or it has died since the last request; in that case pid is 0 afterwards. */
bool pdnn_worker_alive(struct pdnn_worker *worker);

/* Kills and reaps the worker, if there is one. Its kind stays. */
void pdnn_worker_stop(struct pdnn_worker *worker);

/* How long to wait for an answer, and what to do meanwhile. {0}: for ever, nothing. */
struct pdnn_watch {
    uint64_t time_limit_ns; /* 0: none */
    /* Once *stop is 1, the request may go on for grace_ns (0: one second) if it is expected to end by then,
     * and is dropped at once if it is not; once *stop is more, it is dropped. NULL: never. */
    const volatile int *stop;
    uint64_t grace_ns;
    uint64_t deadline_ns;     /* on base/clock's scale: at which the request is dropped; 0: never */
    uint64_t expected_ns;     /* what all of it is likely to take; 0: not known, it may fit */
    void (*tick)(void *user); /* called a few times a second; may be NULL */
    void (*progress)(void *user, double fraction); /* called as the worker says how far it is; may be NULL */
    void *user;
};

#endif
