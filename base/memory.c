#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool may_fail;

void pdnn_memory_may_fail(void) {
    may_fail = true;
}

/* No stream is used, since its buffer might need memory, and nothing registered for the exit runs. */
void *pdnn_memory_none(size_t bytes) {
    char line[64];
    if (may_fail)
        return NULL;
    int length = snprintf(line, sizeof line, "paradnn: out of memory for %zu bytes\n", bytes);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

void *pdnn_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    size_t bytes;
    if (memory)
        return memory;
    return pdnn_memory_none(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

void *pdnn_resize(void *memory, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return pdnn_memory_none(SIZE_MAX);
    void *resized = realloc(memory, bytes ? bytes : 1);
    return resized ? resized : pdnn_memory_none(bytes);
}

void *pdnn_grow(void *items, size_t *room, size_t count, size_t size) {
    if (count < *room)
        return items;
    size_t larger = *room ? 2 * *room : 16;
    void *grown = pdnn_resize(items, larger, size);
    if (grown)
        *room = larger;
    return grown;
}

char *pdnn_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = pdnn_alloc(bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
