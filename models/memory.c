#include "models/memory.h"

#include "models/graph.h"
#include "models/op.h"
#include "models/sharing.h"

#include <stdlib.h>

/* A buffer to place, together with those that take over its memory: it lives as long as the last of them. */
struct chunk {
    uint64_t bytes, offset;
    uint32_t first, last, buffer;
    bool leads;
    struct chunk *above; /* the next one placed, by offset */
};

static uint64_t round_up(uint64_t bytes) {
    return (bytes + PDNN_MEMORY_ALIGN - 1) & ~(uint64_t)(PDNN_MEMORY_ALIGN - 1);
}

/* The room a buffer takes in the block. A large one is followed by a gap of 17 pages and 5 lines, so that
 * buffers whose sizes are powers of two do not all start at the same offset within a page, the same cache set
 * and the same memory bank: an optimizer that walks through four such arrays at once ran 3 times slower. */
static uint64_t room_of(uint64_t bytes) {
    const uint64_t large = 1 << 20, gap = 17 * 4096 + 5 * PDNN_MEMORY_ALIGN;
    return round_up(bytes) + (bytes >= large ? gap : 0);
}

static bool stays(const struct chunk *chunk) {
    return chunk->first == 0 && chunk->last == UINT32_MAX;
}

/* Large before small. Ties are broken by time and index, so that the order is total. */
static int compare(const void *left, const void *right) {
    const struct chunk *a = *(struct chunk *const *)left, *b = *(struct chunk *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->buffer < b->buffer ? -1 : 1;
}

enum { SHORT_LIST = 48 };

/* Short lists are the rule in a walk over many small models, and for them a call per comparison is most of
 * the time. */
static void sort(struct chunk **chunks, size_t count) {
    if (count > SHORT_LIST) {
        qsort(chunks, count, sizeof(struct chunk *), compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct chunk *moved = chunks[i];
        size_t at = i;
        for (; at && compare(&moved, &chunks[at - 1]) < 0; at--)
            chunks[at] = chunks[at - 1];
        chunks[at] = moved;
    }
}

/* Resident buffers, each after the one before: those that lead, or the others. */
static bool stack(struct chunk *chunks, size_t n_chunks, bool leads, uint64_t *floor) {
    bool fits = true;
    for (size_t i = 0; i < n_chunks; i++) {
        if (!stays(&chunks[i]) || chunks[i].leads != leads)
            continue;
        chunks[i].offset = *floor;
        fits = pdnn_add_u64(floor, chunks[i].bytes) && fits;
    }
    return fits;
}

static uint32_t root_of(const struct pdnn_lifetime *lifetimes, uint32_t buffer) {
    while (lifetimes[buffer].takes_over != PDNN_NONE)
        buffer = lifetimes[buffer].takes_over;
    return buffer;
}

/* The lowest offset, from floor on, at which the chunk overlaps nothing that is live while it is. */
static bool place(struct chunk *chunk, struct chunk **placed, uint64_t floor) {
    struct chunk **link = placed;
    uint64_t offset = floor;
    for (struct chunk *other = *placed; other; other = other->above) {
        if (other->offset >= offset && other->offset - offset >= chunk->bytes)
            break;
        bool at_once = other->first <= chunk->last && chunk->first <= other->last;
        uint64_t end = other->offset + other->bytes;
        if (at_once && end > offset)
            offset = end;
    }
    chunk->offset = offset;
    while (*link && (*link)->offset < offset)
        link = &(*link)->above;
    chunk->above = *link;
    *link = chunk;
    return pdnn_add_u64(&offset, chunk->bytes);
}

static size_t gather(struct pdnn_lifetime *lifetimes, size_t count, struct chunk *chunks,
                     uint32_t *chunk_of) {
    size_t n_chunks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (lifetimes[i].takes_over != PDNN_NONE || !lifetimes[i].bytes)
            continue;
        chunk_of[i] = (uint32_t)n_chunks;
        chunks[n_chunks++] = (struct chunk){.bytes = room_of(lifetimes[i].bytes),
                                            .first = lifetimes[i].first,
                                            .last = lifetimes[i].last,
                                            .buffer = i,
                                            .leads = lifetimes[i].leads};
    }
    for (uint32_t i = 0; i < count; i++) {
        struct chunk *chunk = &chunks[chunk_of[root_of(lifetimes, i)]];
        if (lifetimes[i].bytes && lifetimes[i].last > chunk->last)
            chunk->last = lifetimes[i].last;
    }
    return n_chunks;
}

enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err) {
    struct chunk *chunks = pdnn_arena_alloc(scratch, count + 1, sizeof *chunks), *placed = NULL;
    struct chunk **passing = pdnn_arena_alloc(scratch, count + 1, sizeof(struct chunk *));
    uint32_t *chunk_of = pdnn_arena_alloc(scratch, count + 1, sizeof *chunk_of);
    uint64_t floor = 0;
    size_t n_passing = 0;
    if (!chunks || !passing || !chunk_of)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory while packing %zu buffers", count);
    size_t n_chunks = gather(lifetimes, count, chunks, chunk_of);
    bool fits = stack(chunks, n_chunks, true, &floor) && stack(chunks, n_chunks, false, &floor);
    uint64_t top = floor;
    for (size_t i = 0; i < n_chunks; i++)
        if (!stays(&chunks[i]))
            passing[n_passing++] = &chunks[i];
    sort(passing, n_passing);
    for (size_t i = 0; i < n_passing && fits; i++) {
        fits = place(passing[i], &placed, floor);
        top = passing[i]->offset + passing[i]->bytes > top ? passing[i]->offset + passing[i]->bytes : top;
    }
    if (!fits)
        return pdnn_fail(err, PDNN_OVERFLOW, "the memory this model needs does not fit in 64 bits");
    for (size_t i = 0; i < n_chunks; i++)
        lifetimes[chunks[i].buffer].offset = chunks[i].offset;
    for (uint32_t i = 0; i < count; i++)
        lifetimes[i].offset = lifetimes[i].bytes ? lifetimes[root_of(lifetimes, i)].offset : 0;
    *total = top;
    return PDNN_OK;
}

bool pdnn_role_is_resident(enum pdnn_role role) {
    return role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL || role == PDNN_ROLE_WEIGHT ||
           role == PDNN_ROLE_STATE;
}

void pdnn_lifetime_touch(struct pdnn_lifetime *lifetime, uint64_t bytes, uint32_t step) {
    if (!lifetime->bytes) {
        lifetime->bytes = bytes;
        lifetime->first = step;
    }
    if (lifetime->last < step)
        lifetime->last = step;
}

void pdnn_lifetime_take_over(struct pdnn_lifetime *lifetimes, uint32_t input, uint32_t output,
                             uint32_t step) {
    const struct pdnn_lifetime *old = &lifetimes[input];
    struct pdnn_lifetime *heir = &lifetimes[output];
    if (old->last == step && old->first < step && heir->first == step && old->bytes == heir->bytes &&
        input != output)
        heir->takes_over = input;
}

static int count_readings(const struct pdnn_node *node, uint32_t tensor) {
    int count = 0;
    for (int i = 0; i < node->n_inputs; i++)
        count += node->input[i] == tensor;
    for (int i = 0; i < node->n_posts; i++)
        count += node->posts[i].input == tensor;
    return count;
}

static uint32_t find_summand(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    for (int i = 0; i < node->n_posts && node->pass == PDNN_FORWARD; i++) {
        const struct pdnn_post *post = &node->posts[i];
        if (post->input == PDNN_NONE || !post->op->pass[post->pass].in_place)
            continue;
        const struct pdnn_tensor *extra = &graph->tensors[post->input];
        if (!pdnn_role_is_resident(extra->role) && count_readings(node, post->input) == 1 &&
            pdnn_tensor_bytes(extra) == pdnn_tensor_bytes(pdnn_node_out(graph, node, 0)))
            return post->input;
    }
    return PDNN_NONE;
}

/* What a node reads as two of its inputs is still read while a part of it is overwritten: the gradients of
 * both results of dropout_add_norm are one tensor if only a sum reads them. */
static bool reads_once(const struct pdnn_node *node, uint32_t tensor) {
    int times = 0;
    for (int i = 0; i < node->n_inputs; i++)
        times += node->input[i] == tensor;
    return times == 1;
}

struct pdnn_heritage pdnn_memory_heritage(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    int in_place = node->op->pass[node->pass].in_place;
    bool has_input = in_place && in_place <= node->n_inputs && reads_once(node, node->input[in_place - 1]);
    return (struct pdnn_heritage){has_input ? node->input[in_place - 1] : PDNN_NONE,
                                  find_summand(graph, node)};
}

void pdnn_lifetime_inherit(struct pdnn_lifetime *lifetimes, const struct pdnn_heritage *heritage,
                           uint32_t output, uint32_t step) {
    if (heritage->input != PDNN_NONE)
        pdnn_lifetime_take_over(lifetimes, heritage->input, output, step);
    if (heritage->summand != PDNN_NONE && lifetimes[output].takes_over == PDNN_NONE)
        pdnn_lifetime_take_over(lifetimes, heritage->summand, output, step);
}

enum pdnn_status pdnn_memory_lifetimes(const struct pdnn_graph *graph, struct pdnn_lifetime **lifetimes,
                                       struct pdnn_err *err) {
    struct pdnn_lifetime *all = pdnn_arena_alloc(graph->arena, graph->n_tensors, sizeof *all);
    if (!all)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu tensors", graph->n_tensors);
    for (size_t i = 0; i < graph->n_tensors; i++) {
        all[i].takes_over = PDNN_NONE;
        if (pdnn_role_is_resident(graph->tensors[i].role))
            all[i] = (struct pdnn_lifetime){.bytes = pdnn_tensor_bytes(&graph->tensors[i]),
                                            .last = UINT32_MAX,
                                            .takes_over = PDNN_NONE,
                                            .leads = pdnn_role_is_shared(graph->tensors[i].role)};
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++)
            pdnn_lifetime_touch(&all[node->input[k]], pdnn_tensor_bytes(pdnn_node_in(graph, node, k)), i);
        for (int k = 0; k < node->n_outputs; k++)
            pdnn_lifetime_touch(&all[node->output[k]], pdnn_tensor_bytes(pdnn_node_out(graph, node, k)), i);
        for (int k = 0; k < node->n_posts; k++) {
            const struct pdnn_post *post = &node->posts[k];
            uint32_t extra = post->pass == PDNN_BACKWARD_WEIGHTS ? post->output : post->input;
            if (extra != PDNN_NONE)
                pdnn_lifetime_touch(&all[extra], pdnn_tensor_bytes(&graph->tensors[extra]), i);
        }
    }
    const uint32_t kept[] = {graph->loss, graph->result};
    for (size_t k = 0; k < 2; k++) {
        if (kept[k] != PDNN_NONE)
            all[kept[k]].last = UINT32_MAX;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_heritage heritage = pdnn_memory_heritage(graph, node);
        pdnn_lifetime_inherit(all, &heritage, node->output[0], i);
    }
    *lifetimes = all;
    return PDNN_OK;
}
