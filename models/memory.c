#include "models/memory.h"

#include "models/graph.h"
#include "models/op.h"

#include <string.h>

/* A stretch of free memory; the list is ordered by offset and never has two neighbours that touch. */
struct gap {
    uint64_t offset, bytes;
    struct gap *next;
};

struct packer {
    struct pdnn_arena *scratch;
    struct gap *gaps, *unused; /* unused: gap records to take again */
    uint64_t top;
};

static uint64_t round_up(uint64_t bytes) {
    return (bytes + PDNN_MEMORY_ALIGN - 1) & ~(uint64_t)(PDNN_MEMORY_ALIGN - 1);
}

/* Best fit; else the last gap grown to the top, else new memory at the top. False when the top leaves 64
 * bits. */
static bool take(struct packer *packer, uint64_t bytes, uint64_t *offset) {
    struct gap **best = NULL, **last = NULL;
    for (struct gap **link = &packer->gaps; *link; link = &(*link)->next) {
        if ((*link)->bytes >= bytes && (!best || (*link)->bytes < (*best)->bytes))
            best = link;
        last = link;
    }
    if (!best && last && (*last)->offset + (*last)->bytes == packer->top) {
        uint64_t missing = bytes - (*last)->bytes;
        if (!pdnn_add_u64(&packer->top, missing))
            return false;
        (*last)->bytes = bytes;
        best = last;
    }
    if (!best) {
        *offset = packer->top;
        return pdnn_add_u64(&packer->top, bytes);
    }
    struct gap *gap = *best;
    *offset = gap->offset;
    gap->offset += bytes;
    gap->bytes -= bytes;
    if (!gap->bytes) {
        *best = gap->next;
        gap->next = packer->unused;
        packer->unused = gap;
    }
    return true;
}

static bool give_back(struct packer *packer, uint64_t offset, uint64_t bytes) {
    struct gap *before = NULL, *after = packer->gaps;
    while (after && after->offset < offset) {
        before = after;
        after = after->next;
    }
    bool joins_before = before && before->offset + before->bytes == offset;
    bool joins_after = after && offset + bytes == after->offset;
    if (joins_before) {
        before->bytes += bytes;
        if (joins_after) {
            before->bytes += after->bytes;
            before->next = after->next;
            after->next = packer->unused;
            packer->unused = after;
        }
        return true;
    }
    if (joins_after) {
        after->offset = offset;
        after->bytes += bytes;
        return true;
    }
    struct gap *gap = packer->unused;
    if (gap)
        packer->unused = gap->next;
    else
        gap = pdnn_arena_alloc(packer->scratch, 1, sizeof *gap);
    if (!gap)
        return false;
    *gap = (struct gap){offset, bytes, after};
    if (before)
        before->next = gap;
    else
        packer->gaps = gap;
    return true;
}

/* Lists of buffers by the step at which they begin and after which they end. */
struct calendar {
    uint32_t *begins, *ends;         /* heads, by step */
    uint32_t *next_begin, *next_end; /* links, by buffer */
    uint32_t *root;                  /* by buffer: the one whose memory it has */
    uint32_t n_steps;
};

static bool make_calendar(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                          struct calendar *calendar) {
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (lifetimes[i].last != UINT32_MAX && lifetimes[i].last > last)
            last = lifetimes[i].last;
        if (lifetimes[i].first > last)
            last = lifetimes[i].first;
    }
    calendar->n_steps = last + 1;
    uint32_t *words = pdnn_arena_alloc(scratch, 2 * (size_t)calendar->n_steps + 3 * count + 1, sizeof *words);
    if (!words)
        return false;
    memset(words, 0xff, 2 * (size_t)calendar->n_steps * sizeof *words);
    calendar->begins = words;
    calendar->ends = words + calendar->n_steps;
    calendar->next_begin = calendar->ends + calendar->n_steps;
    calendar->next_end = calendar->next_begin + count;
    calendar->root = calendar->next_end + count;
    return true;
}

/* A chain of take-overs is one buffer that ends with its last link. Links point backward in time, not always
 * in index. */
static void fill_calendar(struct pdnn_lifetime *lifetimes, size_t count, struct calendar *calendar) {
    for (size_t i = 0; i < count; i++) {
        uint32_t root = (uint32_t)i;
        while (lifetimes[root].takes_over != PDNN_NONE)
            root = lifetimes[root].takes_over;
        calendar->root[i] = root;
        calendar->next_end[i] =
            lifetimes[i].last; /* for the moment: the end of each chain, gathered at its root */
    }
    for (size_t i = 0; i < count; i++) {
        if (lifetimes[i].last > calendar->next_end[calendar->root[i]])
            calendar->next_end[calendar->root[i]] = lifetimes[i].last;
    }
    for (size_t i = count; i-- > 0;) {
        uint32_t end = calendar->next_end[i];
        if (calendar->root[i] != i || !lifetimes[i].bytes)
            continue;
        calendar->next_begin[i] = calendar->begins[lifetimes[i].first];
        calendar->begins[lifetimes[i].first] = (uint32_t)i;
        if (end == UINT32_MAX)
            continue;
        calendar->next_end[i] = calendar->ends[end];
        calendar->ends[end] = (uint32_t)i;
    }
}

enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err) {
    struct calendar calendar = {0};
    struct packer packer = {.scratch = scratch};
    if (!make_calendar(lifetimes, count, scratch, &calendar))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory while packing %zu buffers", count);
    fill_calendar(lifetimes, count, &calendar);
    for (uint32_t step = 0; step < calendar.n_steps; step++) {
        for (uint32_t i = calendar.begins[step]; i != PDNN_NONE; i = calendar.next_begin[i]) {
            if (!take(&packer, round_up(lifetimes[i].bytes), &lifetimes[i].offset))
                return pdnn_fail(err, PDNN_OVERFLOW, "the memory this model needs does not fit 64 bits");
        }
        for (uint32_t i = calendar.ends[step]; i != PDNN_NONE; i = calendar.next_end[i]) {
            if (!give_back(&packer, lifetimes[i].offset, round_up(lifetimes[i].bytes)))
                return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory while packing %zu buffers", count);
        }
    }
    for (size_t i = 0; i < count; i++)
        lifetimes[i].offset = lifetimes[i].bytes ? lifetimes[calendar.root[i]].offset : 0;
    *total = packer.top;
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
    struct pdnn_lifetime *new = &lifetimes[output];
    if (old->last == step && old->first < step && new->first == step &&
        old->bytes == new->bytes &&input != output)
        new->takes_over = input;
}

enum pdnn_status pdnn_memory_lifetimes(const struct pdnn_graph *graph, struct pdnn_lifetime **lifetimes,
                                       struct pdnn_err *err) {
    struct pdnn_lifetime *all = pdnn_arena_alloc(graph->arena, graph->n_tensors, sizeof *all);
    if (!all)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu tensors", graph->n_tensors);
    for (size_t i = 0; i < graph->n_tensors; i++) {
        all[i].takes_over = PDNN_NONE;
        if (pdnn_role_is_resident(graph->tensors[i].role))
            all[i] =
                (struct pdnn_lifetime){pdnn_tensor_bytes(&graph->tensors[i]), 0, UINT32_MAX, PDNN_NONE, 0};
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++)
            pdnn_lifetime_touch(&all[node->input[k]], pdnn_tensor_bytes(pdnn_node_in(graph, node, k)), i);
        for (int k = 0; k < node->n_outputs; k++)
            pdnn_lifetime_touch(&all[node->output[k]], pdnn_tensor_bytes(pdnn_node_out(graph, node, k)), i);
        for (int k = 0; k < node->n_posts; k++) {
            uint32_t extra =
                node->posts[k].pass == PDNN_FORWARD ? node->posts[k].input : node->posts[k].output;
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
        int in_place = node->op->pass[node->pass].in_place;
        if (in_place)
            pdnn_lifetime_take_over(all, node->input[in_place - 1], node->output[0], i);
    }
    *lifetimes = all;
    return PDNN_OK;
}
