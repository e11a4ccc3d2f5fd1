#include "base/arena.h"

#include "base/memory.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pdnn_arena_block {
    struct pdnn_arena_block *next;
    size_t used, size;
    max_align_t data[];
};

enum { BLOCK_BYTES = 64 * 1024 };

void pdnn_arena_init(struct pdnn_arena *arena) {
    *arena = (struct pdnn_arena){0};
}

void pdnn_arena_finish(struct pdnn_arena *arena) {
    struct pdnn_arena_block *block = arena->first;
    while (block) {
        struct pdnn_arena_block *next = block->next;
        free(block);
        block = next;
    }
    pdnn_arena_init(arena);
}

void pdnn_arena_reset(struct pdnn_arena *arena) {
    arena->current = arena->first;
    if (arena->first)
        arena->first->used = 0;
}

size_t pdnn_arena_used(const struct pdnn_arena *arena) {
    size_t used = 0;
    for (const struct pdnn_arena_block *block = arena->current ? arena->first : NULL; block;
         block = block == arena->current ? NULL : block->next)
        used += block->used;
    return used;
}

/* Makes the next block of the chain current if it has room for size bytes, otherwise a new one. */
static struct pdnn_arena_block *advance(struct pdnn_arena *arena, size_t size) {
    struct pdnn_arena_block *next = arena->current ? arena->current->next : arena->first;
    if (next && next->size >= size) {
        next->used = 0;
        arena->current = next;
        return next;
    }
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct pdnn_arena_block *block = room > SIZE_MAX - sizeof *block ? NULL : malloc(sizeof *block + room);
    if (!block)
        pdnn_memory_none(room);
    block->used = 0;
    block->size = room;
    block->next = next;
    if (arena->current)
        arena->current->next = block;
    else
        arena->first = block;
    arena->current = block;
    return block;
}

void *pdnn_arena_room(struct pdnn_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - _Alignof(max_align_t))
        pdnn_memory_none(SIZE_MAX);
    bytes = (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    struct pdnn_arena_block *block = arena->current;
    if (!block || block->size - block->used < bytes)
        block = advance(arena, bytes);
    char *at = (char *)block->data + block->used;
    block->used += bytes;
    return at;
}

void *pdnn_arena_alloc(struct pdnn_arena *arena, size_t count, size_t size) {
    void *items = pdnn_arena_room(arena, count, size);
    return memset(items, 0, count * size);
}

void *pdnn_arena_enlarge(struct pdnn_arena *arena, const void *items, size_t *room, size_t count,
                         size_t size) {
    *room = *room ? 2 * *room : 64;
    void *larger = pdnn_arena_room(arena, *room, size);
    return count ? memcpy(larger, items, count * size) : larger;
}

char *pdnn_arena_strdup(struct pdnn_arena *arena, const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(pdnn_arena_alloc(arena, bytes, 1), text, bytes);
}

char *pdnn_arena_printf(struct pdnn_arena *arena, const char *format, ...) {
    struct pdnn_str text = {0};
    va_list args;
    va_start(args, format);
    pdnn_str_vprintf(&text, format, args);
    va_end(args);
    char *copy = pdnn_arena_strdup(arena, text.text);
    pdnn_str_finish(&text);
    return copy;
}
