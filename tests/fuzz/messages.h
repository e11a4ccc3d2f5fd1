/* A stream of messages made of a few bytes, so that inputs stay small although messages are kilobytes. */
#ifndef TESTS_FUZZ_MESSAGES_H
#define TESTS_FUZZ_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

/* Sends messages on the socket until the bytes are used up or the socket is full, and closes that direction.
 * sizes: of a body by kind, PDNN_MESSAGE_COUNT of them; build: which a first message may carry. */
void messages_send(int fd, const size_t *sizes, const uint8_t *bytes, size_t length);

#endif
