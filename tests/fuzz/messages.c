/* A message is four bytes and a body:
 *
 *   kind     & 7: the kind; & 8: any kind at all; & 16: a wrong magic number; & 32: begins with this build
 *   extra    bytes of a body beyond what the kind has; from 128 on, 256 less
 *   claim    the same for the length that the header claims
 *   given    bytes of the body that follow here; the rest repeats the last of them (0 if there is none)
 */
#include "tests/fuzz/messages.h"
#include "tests/fuzz/common.h"

#include "runtime/protocol/protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BODY_MAX = 1 << 16, BUFFER_BYTES = 1 << 18 };

struct header {
    uint32_t magic, kind;
    uint64_t body_bytes;
};

static size_t moved(size_t length, uint8_t by) {
    size_t less = 256 - (size_t)by;
    return by < 128 ? length + by : length < less ? 0 : length - less;
}

enum pdnn_inbox_state __real_pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message);
enum pdnn_inbox_state __wrap_pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message);

void messages_send(int fd, const size_t *sizes, const uint8_t *bytes, size_t length) {
    static unsigned char buffer[BUFFER_BYTES];
    size_t used = 0;
    while (length >= 4 && used <= sizeof buffer - sizeof(struct header) - BODY_MAX) {
        unsigned char *message = buffer + used, *body = message + sizeof(struct header);
        uint8_t kind = bytes[0], given = bytes[3];
        struct header header = {.magic = kind & 16 ? 1 : UINT32_C(0x4e4e4450),
                                .kind = kind & 8 ? kind : (uint32_t)(kind & 7) % PDNN_MESSAGE_COUNT};
        size_t body_bytes = moved(sizes[(kind & 7) % PDNN_MESSAGE_COUNT], bytes[1]);
        header.body_bytes = moved(body_bytes, bytes[2]);
        bytes += 4;
        length -= 4;
        given = given < length ? given : (uint8_t)length;
        FUZZ_CHECK(body_bytes <= BODY_MAX);
        size_t at = kind & 32 && body_bytes >= PDNN_BUILD_TEXT ? PDNN_BUILD_TEXT : 0;
        memset(body, given ? bytes[given - 1] : 0, body_bytes);
        memcpy(body, pdnn_build, at);
        memcpy(body + at, bytes, given < body_bytes - at ? given : body_bytes - at);
        memcpy(message, &header, sizeof header);
        bytes += given;
        length -= given;
        used += sizeof header + body_bytes;
    }
    /* What does not fit in the socket is not sent. */
    if (used)
        send(fd, buffer, used, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
}

/* The linker puts this in the place of the function, so that a read past a body is seen. */
enum pdnn_inbox_state __wrap_pdnn_inbox_next(struct pdnn_inbox *inbox, struct pdnn_message *message) {
    static void *body;
    enum pdnn_inbox_state state = __real_pdnn_inbox_next(inbox, message);
    free(body);
    body = NULL;
    if (state == PDNN_INBOX_MESSAGE)
        message->body = body = fuzz_bytes(message->body, message->body_bytes);
    return state;
}
