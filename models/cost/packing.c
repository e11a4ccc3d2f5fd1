#include "models/cost/packing.h"

#include "base/checked.h"
#include "models/cost/memory.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the block, by address: what a chunk has, or a hole. */
struct piece {
    uint64_t offset, bytes;
    struct piece *below, *above;
    struct piece *next, **link; /* of the holes, and of the spare pieces */
    uint32_t death;             /* of the chunk */
};

/* A chunk in the time of a sweep, which may run backwards. */
struct part {
    uint64_t room, offset;
    uint32_t birth, death, chunk;
    struct part *next; /* born, or dying, at the same time */
    struct piece *piece;
};

struct sweep {
    bool is_backward;
    bool by_death; /* in the hole, beside the neighbour that dies at about the same time; else at the low end
                    */
    bool has_cap;  /* the block begins as a hole as large as the bound */
};

struct packing {
    struct part *parts;
    size_t n_parts;
    uint32_t n_calls;
    struct part **born, **dying; /* by time */
    struct piece *pieces;        /* two a part, and two */
    size_t n_pieces;
    struct piece *holes, *spare, *lowest, *highest;
    uint64_t top;
    uint64_t *best; /* offsets of the best packing so far */
    uint64_t best_top, bound;
};

static struct piece *new_piece(struct packing *packing, uint64_t offset, uint64_t bytes) {
    struct piece *piece = packing->spare;
    if (piece)
        packing->spare = piece->next;
    else
        piece = &packing->pieces[packing->n_pieces++];
    *piece = (struct piece){.offset = offset, .bytes = bytes};
    return piece;
}

static void put_between(struct packing *packing, struct piece *below, struct piece *piece,
                        struct piece *above) {
    piece->below = below;
    piece->above = above;
    *(below ? &below->above : &packing->lowest) = piece;
    *(above ? &above->below : &packing->highest) = piece;
}

static void remove_piece(struct packing *packing, struct piece *piece) {
    *(piece->below ? &piece->below->above : &packing->lowest) = piece->above;
    *(piece->above ? &piece->above->below : &packing->highest) = piece->below;
    piece->next = packing->spare;
    packing->spare = piece;
}

static bool is_hole(const struct piece *piece) {
    return piece && piece->link;
}

static void make_hole(struct packing *packing, struct piece *piece) {
    piece->next = packing->holes;
    piece->link = &packing->holes;
    if (piece->next)
        piece->next->link = &piece->next;
    packing->holes = piece;
}

static void unmake_hole(struct piece *piece) {
    *piece->link = piece->next;
    if (piece->next)
        piece->next->link = piece->link;
    piece->link = NULL;
}

/* The piece becomes a hole, with those beside it. */
static void free_piece(struct packing *packing, struct piece *piece) {
    struct piece *below = piece->below, *above = piece->above;
    if (is_hole(below)) {
        piece->offset = below->offset;
        piece->bytes += below->bytes;
        unmake_hole(below);
        remove_piece(packing, below);
    }
    if (is_hole(above)) {
        piece->bytes += above->bytes;
        unmake_hole(above);
        remove_piece(packing, above);
    }
    make_hole(packing, piece);
}

static struct piece *find_hole(const struct packing *packing, uint64_t bytes) {
    struct piece *best = NULL;
    for (struct piece *hole = packing->holes; hole; hole = hole->next) {
        if (hole->bytes >= bytes && (!best || hole->bytes < best->bytes ||
                                     (hole->bytes == best->bytes && hole->offset < best->offset)))
            best = hole;
    }
    return best;
}

/* How long after or before the death a neighbour dies; the block's ends never do. */
static uint32_t distance(const struct piece *piece, uint32_t death) {
    if (!piece)
        return UINT32_MAX;
    return piece->death > death ? piece->death - death : death - piece->death;
}

/* The hole at the top of the block, made as large as needed. */
static struct piece *grow(struct packing *packing, uint64_t bytes) {
    struct piece *hole = packing->highest;
    if (!is_hole(hole)) {
        hole = new_piece(packing, packing->top, 0);
        put_between(packing, packing->highest, hole, NULL);
        make_hole(packing, hole);
    }
    hole->bytes = bytes;
    packing->top = hole->offset + bytes;
    return hole;
}

static void place(struct packing *packing, const struct sweep *sweep, struct part *part) {
    struct piece *hole = find_hole(packing, part->room);
    if (!hole)
        hole = grow(packing, part->room);
    bool is_high = sweep->by_death && distance(hole->above, part->death) < distance(hole->below, part->death);
    if (hole->bytes == part->room) {
        unmake_hole(hole);
        part->piece = hole;
    } else {
        hole->bytes -= part->room;
        part->piece = new_piece(packing, is_high ? hole->offset + hole->bytes : hole->offset, part->room);
        hole->offset += is_high ? 0 : part->room;
        put_between(packing, is_high ? hole : hole->below, part->piece, is_high ? hole->above : hole);
    }
    part->piece->death = part->death;
    part->offset = part->piece->offset;
}

/* Whether a part goes before another one that is born with it. */
static bool goes_before(const struct part *a, const struct part *b) {
    if (a->death != b->death)
        return a->death > b->death;
    return a->room != b->room ? a->room > b->room : a->chunk < b->chunk;
}

static void add_births(struct packing *packing, const struct pdnn_chunk *chunks, bool is_backward) {
    memset(packing->born, 0, packing->n_calls * sizeof(struct part *));
    memset(packing->dying, 0, packing->n_calls * sizeof(struct part *));
    for (size_t i = 0; i < packing->n_parts; i++) {
        struct part *part = &packing->parts[i];
        uint32_t last = packing->n_calls - 1, first = chunks[part->chunk].first;
        uint32_t end = chunks[part->chunk].last < last ? chunks[part->chunk].last : last;
        part->birth = is_backward ? last - end : first;
        part->death = is_backward ? last - first : end;
        struct part **link = &packing->born[part->birth];
        while (*link && goes_before(*link, part))
            link = &(*link)->next;
        part->next = *link;
        *link = part;
    }
}

static void keep_if_better(struct packing *packing) {
    uint64_t top = 0;
    for (size_t i = 0; i < packing->n_parts; i++) {
        uint64_t end = packing->parts[i].offset + packing->parts[i].room;
        top = end > top ? end : top;
    }
    if (top >= packing->best_top)
        return;
    packing->best_top = top;
    for (size_t i = 0; i < packing->n_parts; i++)
        packing->best[i] = packing->parts[i].offset;
}

/* One walk through time, in which each buffer takes the smallest hole that has room for it. */
static void run(struct packing *packing, const struct pdnn_chunk *chunks, const struct sweep *sweep) {
    packing->holes = packing->spare = packing->lowest = packing->highest = NULL;
    packing->n_pieces = 0;
    packing->top = 0;
    add_births(packing, chunks, sweep->is_backward);
    if (sweep->has_cap && packing->bound)
        grow(packing, packing->bound);
    for (uint32_t time = 0; time < packing->n_calls; time++) {
        for (struct part *part = time ? packing->dying[time - 1] : NULL; part; part = part->next)
            free_piece(packing, part->piece);
        for (struct part *part = packing->born[time], *next; part; part = next) {
            next = part->next;
            place(packing, sweep, part);
            part->next = packing->dying[part->death];
            packing->dying[part->death] = part;
        }
    }
    keep_if_better(packing);
}

/* Large before small. */
static int compare(const void *left, const void *right) {
    const struct part *a = *(struct part *const *)left, *b = *(struct part *const *)right;
    if (a->room != b->room)
        return a->room > b->room ? -1 : 1;
    if (a->birth != b->birth)
        return a->birth < b->birth ? -1 : 1;
    return a->chunk < b->chunk ? -1 : 1;
}

/* From large to small, each at the lowest place that is free throughout its life. The number of buffers
 * squared, but what sweeps leave between buffers of very different sizes it often avoids. */
static void run_by_size(struct packing *packing, const struct pdnn_chunk *chunks, struct part **sorted) {
    add_births(packing, chunks, false);
    for (size_t i = 0; i < packing->n_parts; i++)
        sorted[i] = &packing->parts[i];
    qsort(sorted, packing->n_parts, sizeof *sorted, compare);
    struct part *placed = NULL;
    for (size_t i = 0; i < packing->n_parts; i++) {
        struct part *part = sorted[i], **link = &placed;
        part->offset = 0;
        for (struct part *other = placed; other; other = other->next) {
            if (other->offset >= part->offset && other->offset - part->offset >= part->room)
                break;
            bool at_once = other->birth <= part->death && part->birth <= other->death;
            uint64_t end = other->offset + other->room;
            part->offset = at_once && end > part->offset ? end : part->offset;
        }
        while (*link && (*link)->offset < part->offset)
            link = &(*link)->next;
        part->next = *link;
        *link = part;
    }
    keep_if_better(packing);
}

enum { BY_SIZE_MOST = 4096 };

/* The best of several sweeps; enough is a thousandth of the block above the bound. */
static bool is_good(const struct packing *packing) {
    return packing->best_top <= packing->bound + packing->best_top / 1024;
}

static void pack_parts(struct packing *packing, const struct pdnn_chunk *chunks, struct part **sorted) {
    static const struct sweep sweeps[] = {
        {.is_backward = false},
        {.is_backward = true, .by_death = true},
        {.is_backward = false, .by_death = true},
        {.is_backward = true, .by_death = true, .has_cap = true},
    };
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps && !is_good(packing); i++)
        run(packing, chunks, &sweeps[i]);
    if (!is_good(packing) && packing->n_parts <= BY_SIZE_MOST)
        run_by_size(packing, chunks, sorted);
}

static bool is_resident(const struct pdnn_chunk *chunk) {
    return chunk->first == 0 && chunk->last == UINT32_MAX;
}

/* Resident chunks, each after the one before: those that lead, or the others. */
static void stack(const struct pdnn_lifetime *lifetimes, const struct pdnn_chunk *chunks, size_t n_chunks,
                  bool leads, uint64_t *offset, uint64_t *floor) {
    for (size_t i = 0; i < n_chunks; i++) {
        if (!is_resident(&chunks[i]) || lifetimes[chunks[i].buffer].leads != leads)
            continue;
        offset[i] = *floor;
        *floor += pdnn_memory_room(chunks[i].bytes);
    }
}

/* The chunks that are not resident; false if the sum of all rooms does not fit. */
static bool gather(struct packing *packing, const struct pdnn_chunk *chunks, size_t n_chunks) {
    bool fits = true;
    uint64_t sum = 0;
    packing->n_calls = 1;
    for (uint32_t i = 0; i < n_chunks; i++) {
        uint64_t room = pdnn_memory_room(chunks[i].bytes);
        uint32_t end = chunks[i].last == UINT32_MAX ? chunks[i].first : chunks[i].last;
        fits = pdnn_add_u64(&sum, room) && fits;
        packing->n_calls = end >= packing->n_calls ? end + 1 : packing->n_calls;
        if (!is_resident(&chunks[i]))
            packing->parts[packing->n_parts++] = (struct part){.room = room, .chunk = i};
    }
    return fits;
}

enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err) {
    struct pdnn_chunk *chunks = pdnn_arena_alloc(scratch, count + 1, sizeof *chunks);
    uint32_t *chunk_of = pdnn_arena_alloc(scratch, count + 1, sizeof *chunk_of);
    uint64_t *offset = pdnn_arena_alloc(scratch, count + 1, sizeof *offset), floor = 0;
    struct part **sorted = pdnn_arena_alloc(scratch, count + 1, sizeof(struct part *));
    struct packing packing = {.parts = pdnn_arena_alloc(scratch, count + 1, sizeof *packing.parts),
                              .pieces = pdnn_arena_alloc(scratch, 2 * count + 2, sizeof *packing.pieces),
                              .best = pdnn_arena_alloc(scratch, count + 1, sizeof *packing.best),
                              .best_top = UINT64_MAX};
    enum pdnn_status status = pdnn_memory_peak(lifetimes, count, scratch, &packing.bound, err);
    if (status != PDNN_OK)
        return status;
    size_t n_chunks = pdnn_memory_chunks(lifetimes, count, chunks, chunk_of);
    if (!gather(&packing, chunks, n_chunks))
        return pdnn_fail(err, PDNN_OVERFLOW, "the memory this model needs does not fit in 64 bits");
    stack(lifetimes, chunks, n_chunks, true, offset, &floor);
    stack(lifetimes, chunks, n_chunks, false, offset, &floor);
    packing.bound -= floor;
    packing.born = pdnn_arena_alloc(scratch, packing.n_calls, sizeof(struct part *));
    packing.dying = pdnn_arena_alloc(scratch, packing.n_calls, sizeof(struct part *));
    pack_parts(&packing, chunks, sorted);
    for (size_t i = 0; i < packing.n_parts; i++)
        offset[packing.parts[i].chunk] = floor + packing.best[i];
    for (size_t i = 0; i < count; i++)
        lifetimes[i].offset = lifetimes[i].bytes ? offset[chunk_of[i]] : 0;
    *total = floor + packing.best_top;
    return PDNN_OK;
}
