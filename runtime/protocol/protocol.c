#define _POSIX_C_SOURCE 200809L
#include "runtime/protocol/protocol.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* "PDNN" */
#define MESSAGE_MAGIC UINT32_C(0x4e4e4450)

/* Far above any real answer. A larger claim is garbage and must not make the driver allocate. */
#define MESSAGE_LIMIT_BYTES (UINT64_C(64) << 20)

struct header {
    uint32_t magic, kind;
    uint64_t body_bytes;
};

_Static_assert(sizeof(struct header) % _Alignof(max_align_t) == 0, "a body starts aligned");

static enum pdnn_status send_all(int fd, const void *bytes, size_t length, struct pdnn_err *err) {
    const char *at = bytes;
    while (length) {
        ssize_t done = send(fd, at, length, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return pdnn_fail(err, PDNN_IO, "cannot send: %s", strerror(errno));
        at += done;
        length -= (size_t)done;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_message_send(int fd, enum pdnn_message_kind kind, const struct pdnn_part *parts,
                                   size_t n_parts, struct pdnn_err *err) {
    struct header header = {.magic = MESSAGE_MAGIC, .kind = (uint32_t)kind};
    for (size_t i = 0; i < n_parts; i++)
        header.body_bytes += parts[i].length;
    enum pdnn_status status = send_all(fd, &header, sizeof header, err);
    for (size_t i = 0; i < n_parts && status == PDNN_OK; i++)
        status = send_all(fd, parts[i].bytes, parts[i].length, err);
    return status;
}

void pdnn_inbox_finish(struct pdnn_inbox *inbox) {
    free(inbox->data);
    *inbox = (struct pdnn_inbox){0};
}

/* Moves what has not been taken to the front, where bodies are aligned. */
static void forget_taken(struct pdnn_inbox *inbox) {
    if (!inbox->taken)
        return;
    memmove(inbox->data, inbox->data + inbox->taken, inbox->used - inbox->taken);
    inbox->used -= inbox->taken;
    inbox->taken = 0;
}

enum pdnn_status pdnn_inbox_receive(struct pdnn_inbox *inbox, int fd, bool *ended, struct pdnn_err *err) {
    *ended = false;
    forget_taken(inbox);
    if (inbox->room - inbox->used < 4096) {
        inbox->room = inbox->room ? inbox->room * 2 : 65536;
        inbox->data = pdnn_resize(inbox->data, inbox->room, 1);
    }
    ssize_t done = recv(fd, inbox->data + inbox->used, inbox->room - inbox->used, 0);
    if (done > 0) {
        inbox->used += (size_t)done;
        return PDNN_OK;
    }
    if (done < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
        return PDNN_OK;
    /* A worker that dies with unread requests shows up as a reset connection. */
    if (done < 0 && errno != ECONNRESET)
        return pdnn_fail(err, PDNN_IO, "cannot receive: %s", strerror(errno));
    *ended = true;
    return PDNN_OK;
}

enum pdnn_inbox_state pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message) {
    struct header header;
    forget_taken(inbox);
    if (inbox->used < sizeof header)
        return PDNN_INBOX_PARTIAL;
    memcpy(&header, inbox->data, sizeof header);
    if (header.magic != MESSAGE_MAGIC || header.kind >= PDNN_MESSAGE_COUNT ||
        header.body_bytes > MESSAGE_LIMIT_BYTES)
        return PDNN_INBOX_GARBLED;
    if (inbox->used - sizeof header < header.body_bytes)
        return PDNN_INBOX_PARTIAL;
    inbox->taken = sizeof header + (size_t)header.body_bytes;
    *message = (struct pdnn_message){(enum pdnn_message_kind)header.kind, inbox->data + sizeof header,
                                     (size_t)header.body_bytes};
    return PDNN_INBOX_MESSAGE;
}
