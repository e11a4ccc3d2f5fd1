#include "models/cost/memory.h"

#include "base/checked.h"

uint64_t pdnn_memory_room(uint64_t bytes) {
    const uint64_t large = 1 << 20, gap = 17 * 4096 + 5 * PDNN_MEMORY_ALIGN, align = PDNN_MEMORY_ALIGN;
    return ((bytes + align - 1) & ~(align - 1)) + (bytes >= large ? gap : 0);
}

static uint32_t root_of(const struct pdnn_lifetime *lifetimes, uint32_t buffer) {
    while (lifetimes[buffer].takes_over != PDNN_NONE)
        buffer = lifetimes[buffer].takes_over;
    return buffer;
}

size_t pdnn_memory_chunks(const struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_chunk *chunks,
                          uint32_t *chunk_of) {
    size_t n_chunks = 0;
    for (uint32_t i = 0; i < count; i++) {
        chunk_of[i] = PDNN_NONE;
        if (lifetimes[i].takes_over != PDNN_NONE || !lifetimes[i].bytes)
            continue;
        chunk_of[i] = (uint32_t)n_chunks;
        chunks[n_chunks++] =
            (struct pdnn_chunk){lifetimes[i].bytes, lifetimes[i].first, lifetimes[i].last, i};
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!lifetimes[i].bytes)
            continue;
        chunk_of[i] = chunk_of[root_of(lifetimes, i)];
        struct pdnn_chunk *chunk = &chunks[chunk_of[i]];
        chunk->last = lifetimes[i].last > chunk->last ? lifetimes[i].last : chunk->last;
    }
    return n_chunks;
}

void pdnn_loads_init(struct pdnn_loads *loads, size_t n_calls, struct pdnn_arena *arena) {
    *loads = (struct pdnn_loads){.n_calls = n_calls,
                                 .born = pdnn_arena_alloc(arena, n_calls + 1, sizeof *loads->born),
                                 .died = pdnn_arena_alloc(arena, n_calls + 1, sizeof *loads->died)};
}

bool pdnn_loads_sum(struct pdnn_loads *loads) {
    uint64_t load = 0;
    bool fits = true;
    for (size_t i = 0; i < loads->n_calls; i++) {
        load -= loads->died[i];
        fits = pdnn_add_u64(&load, loads->born[i]) && fits;
        loads->born[i] = load;
    }
    return fits;
}

static size_t count_calls(const struct pdnn_chunk *chunks, size_t count) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = chunks[i].last == UINT32_MAX ? chunks[i].first : chunks[i].last;
        most = end > most ? end : most;
    }
    return most + 1;
}

enum pdnn_status pdnn_memory_peak(const struct pdnn_lifetime *lifetimes, size_t count,
                                  struct pdnn_arena *scratch, uint64_t *bytes, struct pdnn_err *err) {
    struct pdnn_chunk *chunks = pdnn_arena_room(scratch, count + 1, sizeof *chunks);
    uint32_t *chunk_of = pdnn_arena_room(scratch, count + 1, sizeof *chunk_of);
    struct pdnn_loads loads;
    size_t n_chunks = pdnn_memory_chunks(lifetimes, count, chunks, chunk_of);
    pdnn_loads_init(&loads, count_calls(chunks, n_chunks), scratch);
    bool fits = true;
    for (size_t i = 0; i < n_chunks; i++)
        fits = pdnn_loads_add(&loads, pdnn_memory_room(chunks[i].bytes), chunks[i].first, chunks[i].last) &&
               fits;
    if (!pdnn_loads_sum(&loads) || !fits)
        return pdnn_fail(err, PDNN_OVERFLOW, "the memory this model needs does not fit in 64 bits");
    uint64_t most = 0;
    for (size_t i = 0; i < loads.n_calls; i++)
        most = loads.born[i] > most ? loads.born[i] : most;
    *bytes = most;
    return PDNN_OK;
}
