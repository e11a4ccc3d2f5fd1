#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No stream is used, since its buffer might need memory, and nothing registered for the exit runs. */
_Noreturn void pdnn_memory_none(size_t bytes) {
    char line[64];
    int length = snprintf(line, sizeof line, PDNN_MEMORY_WORDS "%zu bytes\n", bytes);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

void *pdnn_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    size_t bytes;
    if (!memory)
        pdnn_memory_none(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
    return memory;
}

void *pdnn_resize(void *memory, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        pdnn_memory_none(SIZE_MAX);
    void *resized = realloc(memory, bytes ? bytes : 1);
    if (!resized)
        pdnn_memory_none(bytes);
    return resized;
}

void *pdnn_grow(void *items, size_t *room, size_t count, size_t size) {
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 16;
    return pdnn_resize(items, *room, size);
}

void *pdnn_ask(size_t bytes, const char *purpose, struct pdnn_err *err) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory)
        pdnn_fail(err, PDNN_NO_MEMORY, "cannot allocate %zu bytes %s", bytes, purpose);
    return memory;
}

char *pdnn_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(pdnn_alloc(bytes, 1), text, bytes);
}
