/* A bump allocator whose memory is freed all at once. One per sweep for strings and the spec, one per
 * instance for the graph. Not thread-safe and not for tensor data. Want of memory ends the program
 * (base/memory). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct pdnn_arena_block;

/* Lives in the caller's memory; {0} is an empty arena. */
struct pdnn_arena {
    struct pdnn_arena_block *first; /* reset keeps the chain of blocks */
    struct pdnn_arena_block *current;
};

void pdnn_arena_init(struct pdnn_arena *arena);

/* Frees every block. Afterwards the arena is empty and usable. */
void pdnn_arena_finish(struct pdnn_arena *arena);

/* Forgets all allocations but keeps the blocks, so that a loop over instances stops allocating. */
void pdnn_arena_reset(struct pdnn_arena *arena);

/* Bytes allocated since the last reset. */
size_t pdnn_arena_used(const struct pdnn_arena *arena);

/* count * size zeroed bytes aligned for any type. */
void *pdnn_arena_alloc(struct pdnn_arena *arena, size_t count, size_t size);

/* The same, not zeroed: for what is written before it is read. */
void *pdnn_arena_room(struct pdnn_arena *arena, size_t count, size_t size);

/* An array of elements of that size with room for one more than count: items itself, or a copy with twice
 * its room. What is beyond count is not zeroed. An outgrown array stays in the arena. */
void *pdnn_arena_enlarge(struct pdnn_arena *arena, const void *items, size_t *room, size_t count,
                         size_t size);

static inline void *pdnn_arena_grow(struct pdnn_arena *arena, void *items, size_t *room, size_t count,
                                    size_t size) {
    return count < *room ? items : pdnn_arena_enlarge(arena, items, room, count, size);
}

/* A copy of the text in the arena. */
char *pdnn_arena_strdup(struct pdnn_arena *arena, const char *text);

/* A formatted string in the arena. */
char *pdnn_arena_printf(struct pdnn_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
