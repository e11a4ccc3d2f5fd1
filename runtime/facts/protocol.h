/* The messages between the driver and its worker: a header with a magic number, then plain structs as they
 * lie in memory. Both ends are of one build, which they make sure of first; whatever does not look like a
 * message comes from a worker that has lost its mind, and counts as a crash. Nothing here knows what a visit
 * is for. */
#ifndef RUNTIME_FACTS_PROTOCOL_H
#define RUNTIME_FACTS_PROTOCOL_H

#include "base/err.h"
#include "models/isa.h"
#include "runtime/facts/host.h"
#include "runtime/facts/request.h"
#include "runtime/facts/software.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_message_kind {
    PDNN_MESSAGE_HELLO,    /* struct pdnn_hello, first of all; struct pdnn_welcome */
    PDNN_MESSAGE_VISIT,    /* struct pdnn_request; struct pdnn_visit and its ops behind it */
    PDNN_MESSAGE_CEILINGS, /* struct pdnn_roofs_request; an array of struct pdnn_ceiling */
    PDNN_MESSAGE_CHECK,    /* struct pdnn_request; an array of struct pdnn_check_row */
    PDNN_MESSAGE_PLACES,   /* int64_t, threads; text without an end, the places that they are bound to */
    PDNN_MESSAGE_REST,     /* nothing; nothing, once the threads are gone */
    PDNN_MESSAGE_PROGRESS, /* from the worker, any number before an answer: double, the fraction done */
    PDNN_MESSAGE_FAILED,   /* the answer when there is no other: struct pdnn_err */
    PDNN_MESSAGE_COUNT
};

/* The build comes first in both: one side of another build reads that far. */
struct pdnn_hello {
    char build[PDNN_BUILD_TEXT];
    struct pdnn_host host;
    uint64_t memory_limit_bytes; /* 0: none */
    enum pdnn_isa isa;           /* of every instance to come */
};

/* From a worker of another build: the build alone. */
struct pdnn_welcome {
    char build[PDNN_BUILD_TEXT];
    /* Not empty: "NAME=value", one per line, which libraries read when they are loaded: a worker for this isa
     * is one that is started with them. */
    char variables[512];
    struct pdnn_software software;
};

struct pdnn_roofs_request {
    int64_t threads;
    double seconds;
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

/* Sends the parts as one message's body. A reader that is gone is PDNN_IO, never SIGPIPE. fd is a socket. */
enum pdnn_status pdnn_message_send(int fd, enum pdnn_message_kind kind, const struct pdnn_part *parts,
                                   size_t n_parts, struct pdnn_err *err);

/* Bytes received and not yet taken; {0} is empty. */
struct pdnn_inbox {
    unsigned char *data;
    size_t used, room, taken;
};

enum pdnn_inbox_state { PDNN_INBOX_PARTIAL, PDNN_INBOX_MESSAGE, PDNN_INBOX_GARBLED };

void pdnn_inbox_finish(struct pdnn_inbox *inbox);

/* Reads once from fd. *ended when the other end has closed; nothing is read when fd is non-blocking and dry.
 */
enum pdnn_status pdnn_inbox_receive(struct pdnn_inbox *inbox, int fd, bool *ended, struct pdnn_err *err);

/* Takes the next whole message, if there is one. */
enum pdnn_inbox_state pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message);

#endif
