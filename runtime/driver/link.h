/* The parent's end of a worker: the connection, waiting on it, and finding out what a dead worker died of.
 * Private to the driver. */
#ifndef RUNTIME_DRIVER_LINK_H
#define RUNTIME_DRIVER_LINK_H

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

/* How long to wait for an answer, and what to do meanwhile. */
struct pdnn_waiting {
    uint64_t limit_ns;                             /* 0: none */
    const volatile int *stop;                      /* may be NULL */
    void (*tick)(void *user);                      /* at least a few times a second; may be NULL */
    void (*progress)(void *user, double fraction); /* for each progress message; may be NULL */
    void *user;
};

/* What became of a request. */
struct pdnn_fate {
    enum pdnn_outcome outcome; /* OK: there is an answer; else the worker is gone */
    char reason[PDNN_REASON_TEXT];
};

/* Sends a request and waits for its answer, of the same kind or PDNN_MESSAGE_FAILED. PDNN_INTERRUPTED when
 * *stop ended it. */
enum pdnn_status pdnn_worker_ask(struct pdnn_worker *worker, enum pdnn_message_kind kind,
                                 const struct pdnn_part *body, const struct pdnn_waiting *waiting,
                                 struct pdnn_message *answer, struct pdnn_fate *fate, struct pdnn_err *err);

/* Passes a bit of what the worker prints on to our stderr, where it would have printed itself, and remembers
 * the end of it. False when there was nothing. */
bool pdnn_worker_hear(struct pdnn_worker_link *link);

/* The machine's count of out-of-memory kills, 0 where /proc does not say. */
uint64_t pdnn_oom_kill_count(void);

/* Reaps a worker that has closed its connection, and says what it died of. The worker is {0} after it. */
void pdnn_worker_bury(struct pdnn_worker *worker, struct pdnn_fate *fate);

#endif
