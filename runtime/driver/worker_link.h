/* The driver's end of a worker: the connection, and what the worker prints. Private to the driver. */
#ifndef RUNTIME_DRIVER_WORKER_LINK_H
#define RUNTIME_DRIVER_WORKER_LINK_H

#include "runtime/facts/protocol.h"
#include "runtime/driver/worker.h"

enum { PDNN_LAST_WORDS_TEXT = 128 };

struct pdnn_worker_link {
    int fd, error_fd; /* the requests' socket; the read end of the worker's stderr, or -1 */
    struct pdnn_inbox inbox;
    struct pdnn_software software;
    uint64_t memory_limit_bytes;
    uint64_t oom_kills;                    /* of the whole machine, before the request in hand */
    char last_words[PDNN_LAST_WORDS_TEXT]; /* the end of what it printed during the request in hand */
    size_t last_words_length;
};

/* Passes a bit of what the worker prints on to our stderr, where it would have printed itself, and remembers
 * the end of it. False when there was nothing. */
bool pdnn_worker_hear(struct pdnn_worker_link *link);

#endif
