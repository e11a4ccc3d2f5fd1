/* Messages between the driver and its worker: a header with a magic number, followed by plain structs as they
 * lie in memory. Both ends must be of the same build, which the first message checks. Anything that does not
 * look like a message means the worker's memory is corrupt, and counts as a crash. This module does not know
 * what a visit is for. */
#ifndef RUNTIME_PROTOCOL_PROTOCOL_H
#define RUNTIME_PROTOCOL_PROTOCOL_H

#include "base/err.h"
#include "models/isa.h"
#include "runtime/host/host.h"
#include "runtime/protocol/operator.h"
#include "runtime/protocol/software.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_message_kind {
    PDNN_MESSAGE_HELLO, /* struct pdnn_hello, always the first; struct pdnn_welcome */
    PDNN_MESSAGE_VISIT, /* struct pdnn_request; struct pdnn_visit, followed by its ops */
    /* struct pdnn_roofs_request; array of struct pdnn_roof_row: of the machine, or of several ranks' link */
    PDNN_MESSAGE_ROOFS,
    PDNN_MESSAGE_CHECK, /* struct pdnn_request; array of struct pdnn_check_row */
    /* int64_t, the number of threads; the places they are bound to, as text without a terminator */
    PDNN_MESSAGE_PLACES,
    /* struct pdnn_request; struct pdnn_visit with an outcome and no times, its ops, then array of struct
     * pdnn_operator: what the instance consists of. Nothing of it runs, but implementations are chosen by
     * measuring, as for a visit. */
    PDNN_MESSAGE_OPERATORS,
    /* struct pdnn_operator_request; struct pdnn_visit without ops, then array of struct pdnn_operator_time */
    PDNN_MESSAGE_OPERATOR,
    PDNN_MESSAGE_REST, /* empty; empty, once the threads have ended */
    /* from the worker, any number of times before an answer: double, the fraction done */
    PDNN_MESSAGE_PROGRESS,
    PDNN_MESSAGE_FAILED, /* the answer if there is no other: struct pdnn_err */
    /* a family as pdnn_family_pack writes it, before the first request that names it; empty, once it is read
     */
    PDNN_MESSAGE_FAMILY,
    PDNN_MESSAGE_COUNT
};

/* The build comes first in both: that is as far as one side of another build reads. */
struct pdnn_hello {
    char build[PDNN_BUILD_TEXT];
    struct pdnn_host host;
    uint64_t memory_limit_bytes; /* 0: none */
    enum pdnn_isa isa;           /* isa of every instance this worker will run */
    int64_t library;             /* likewise, the run setting */
};

/* From a worker of another build, only the build is valid. */
struct pdnn_welcome {
    char build[PDNN_BUILD_TEXT];
    /* If not empty: lines "NAME=value" that libraries read when they are loaded. A worker for this isa must
     * be started with them. */
    char variables[512];
    /* Lines "NAME=value" of those that it was started with and that a library ignores. */
    char ignored[512];
    struct pdnn_software software;
};

struct pdnn_roofs_request {
    int64_t threads;
    double seconds;       /* 0: the probes alone */
    double limit_seconds; /* when these are over, what takes longest is left out: the bandwidths */
};

struct pdnn_message {
    enum pdnn_message_kind kind;
    const void *body; /* borrowed from the inbox until the next call on it; aligned for any struct */
    size_t body_bytes;
};

struct pdnn_part {
    const void *bytes;
    size_t length;
};

/* Sends the parts as the body of one message. fd is a socket; if the reader is gone, the result is
 * PDNN_IO and no SIGPIPE. */
enum pdnn_status pdnn_message_send(int fd, enum pdnn_message_kind kind, const struct pdnn_part *parts,
                                   size_t n_parts, struct pdnn_err *err);

/* Bytes received and not yet taken; {0} is empty. */
struct pdnn_inbox {
    unsigned char *data;
    size_t used, room, taken;
};

enum pdnn_inbox_state { PDNN_INBOX_PARTIAL, PDNN_INBOX_MESSAGE, PDNN_INBOX_GARBLED };

void pdnn_inbox_finish(struct pdnn_inbox *inbox);

/* Reads once from fd. Sets *ended if the other end has closed. Reads nothing if fd is
 * non-blocking and has no data. */
enum pdnn_status pdnn_inbox_receive(struct pdnn_inbox *inbox, int fd, bool *ended, struct pdnn_err *err);

/* Takes the next whole message, if there is one. */
enum pdnn_inbox_state pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message);

#endif
