/* Peak memory: the largest sum of what is alive at once. It is what `list` predicts, and the least that any
 * packing of the same buffers needs (models/cost/packing.h). */
#ifndef MODELS_COST_MEMORY_H
#define MODELS_COST_MEMORY_H

#include "models/cost/lifetimes.h"

enum { PDNN_MEMORY_ALIGN = 64 };

/* The room a buffer takes in the block: whole lines. A large one is followed by a gap of 17 pages and 5
 * lines, so that buffers whose sizes are powers of two do not all start at the same offset within a page, the
 * same cache set and the same memory bank: an optimizer that walks through four such arrays at once ran 3
 * times slower. */
uint64_t pdnn_memory_room(uint64_t bytes);

/* A buffer together with those that take over its memory. */
struct pdnn_chunk {
    uint64_t bytes;       /* of each of them */
    uint32_t first, last; /* from the first one's birth to the last one's death */
    uint32_t buffer;      /* the first one */
};

/* The chunks of the lifetimes, in their order, and the number of each buffer's chunk, or PDNN_NONE;
 * both have room for count entries. Returns how many there are. */
size_t pdnn_memory_chunks(const struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_chunk *chunks,
                          uint32_t *chunk_of);

/* The sum of what is alive at each call. */
struct pdnn_loads {
    size_t n_calls;
    uint64_t *born, *died; /* n_calls + 1 each; after summing, born has the loads */
};

/* Zeros, in the arena. */
void pdnn_loads_init(struct pdnn_loads *loads, size_t n_calls, struct pdnn_arena *arena);

/* Adds the bytes to the calls from first to last, or to the end if last is UINT32_MAX. */
static inline bool pdnn_loads_add(struct pdnn_loads *loads, uint64_t bytes, uint32_t first, uint32_t last) {
    if (last != UINT32_MAX)
        loads->died[last + 1] += bytes;
    return !__builtin_add_overflow(loads->born[first], bytes, &loads->born[first]);
}

/* After the last addition; false if a load does not fit in 64 bits. */
bool pdnn_loads_sum(struct pdnn_loads *loads);

/* The largest sum of the rooms of buffers that are alive at once, resident ones included: no packing needs
 * less. PDNN_OVERFLOW if it does not fit in 64 bits. */
enum pdnn_status pdnn_memory_peak(const struct pdnn_lifetime *lifetimes, size_t count,
                                  struct pdnn_arena *scratch, uint64_t *bytes, struct pdnn_err *err);

#endif
