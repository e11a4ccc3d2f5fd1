#include "session/join/deal.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t batch_max_us = UINT64_C(600000000), first_batch_us = UINT64_C(30000000);
enum { FIRST_WORKERS = 8 };

static const double cost_max_us = 1e13;

/* An item beside its index, so that qsort needs no global. */
struct numbered {
    struct pdnn_deal_item item;
    uint32_t index;
};

/* A shard while it is being dealt to. */
struct hand {
    uint64_t load_us;
    uint32_t n_items, shard;
};

uint64_t pdnn_deal_cost(double seconds) {
    double us = ceil(seconds * 1e6);
    return us > 0 ? (uint64_t)fmin(us, cost_max_us) : 0;
}

static int longest_first(const void *left, const void *right) {
    const struct pdnn_deal_item *a = &((const struct numbered *)left)->item;
    const struct pdnn_deal_item *b = &((const struct numbered *)right)->item;
    if (a->cost_us != b->cost_us)
        return a->cost_us < b->cost_us ? 1 : -1;
    return strcmp(a->id, b->id);
}

void pdnn_deal_order(const struct pdnn_deal_item *items, size_t n_items, uint32_t *order) {
    struct numbered *sorted = pdnn_alloc(n_items + 1, sizeof *sorted);
    for (size_t i = 0; i < n_items; i++)
        sorted[i] = (struct numbered){items[i], (uint32_t)i};
    qsort(sorted, n_items, sizeof *sorted, longest_first);
    for (size_t i = 0; i < n_items; i++)
        order[i] = sorted[i].index;
    free(sorted);
}

/* hands is a heap whose first entry has grown. */
static void sink(struct hand *hands, size_t count) {
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            const struct hand *a = &hands[child], *b = &hands[least];
            bool is_less = a->load_us != b->load_us   ? a->load_us < b->load_us
                           : a->n_items != b->n_items ? a->n_items < b->n_items
                                                      : a->shard < b->shard;
            least = is_less ? child : least;
        }
        if (least == at)
            return;
        struct hand swapped = hands[at];
        hands[at] = hands[least];
        hands[least] = swapped;
        at = least;
    }
}

void pdnn_deal_shards(const struct pdnn_deal_item *items, size_t n_items, size_t n_shards, uint32_t *shard) {
    uint32_t *order = pdnn_alloc(n_items + 1, sizeof *order);
    struct hand *hands = pdnn_alloc(n_shards, sizeof *hands);
    pdnn_deal_order(items, n_items, order);
    for (size_t i = 0; i < n_shards; i++)
        hands[i].shard = (uint32_t)i;
    for (size_t i = 0; i < n_items; i++) {
        shard[order[i]] = hands->shard;
        hands->load_us += items[order[i]].cost_us;
        hands->n_items++;
        sink(hands, n_shards);
    }
    free(order);
    free(hands);
}

size_t pdnn_deal_batch(const uint64_t *cost_us, size_t n_items, size_t workers, uint64_t last_us) {
    uint64_t left_us = 0, sum_us = 0, cap_us = last_us > first_batch_us / 2 ? 2 * last_us : first_batch_us;
    size_t count = 0, least = last_us ? 1 : FIRST_WORKERS;
    for (size_t i = 0; i < n_items; i++)
        left_us += cost_us[i];
    uint64_t most_us = left_us / (2 * (workers > least ? workers : least));
    cap_us = cap_us < batch_max_us ? cap_us : batch_max_us;
    most_us = most_us < cap_us ? most_us : cap_us;
    while (count < n_items && (!count || sum_us + cost_us[count] <= most_us))
        sum_us += cost_us[count++];
    return count;
}
