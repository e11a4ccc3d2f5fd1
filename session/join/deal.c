#define _GNU_SOURCE /* qsort_r */
#include "session/join/deal.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t batch_max_us = UINT64_C(600000000), first_batch_us = UINT64_C(30000000);
enum { FIRST_WORKERS = 8 };

static const double cost_max_us = 1e13;

uint64_t pdnn_deal_cost(double seconds) {
    double us = ceil(seconds * 1e6);
    return us > 0 ? (uint64_t)fmin(us, cost_max_us) : 0;
}

static int longest_first(const void *left, const void *right, void *user) {
    const struct pdnn_deal_item *items = user;
    const struct pdnn_deal_item *a = &items[*(const uint32_t *)left], *b = &items[*(const uint32_t *)right];
    if (a->cost_us != b->cost_us)
        return a->cost_us < b->cost_us ? 1 : -1;
    return strcmp(a->id, b->id);
}

void pdnn_deal_order(const struct pdnn_deal_item *items, size_t n_items, uint32_t *order) {
    for (size_t i = 0; i < n_items; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n_items, sizeof *order, longest_first, (void *)(uintptr_t)items);
}

void pdnn_deal_shards(const struct pdnn_deal_item *items, size_t n_items, size_t n_shards, uint32_t *shard) {
    struct hand {
        uint64_t load_us;
        size_t n_items;
    } *hands = pdnn_alloc(n_shards, sizeof *hands);
    uint32_t *order = pdnn_alloc(n_items + 1, sizeof *order);
    pdnn_deal_order(items, n_items, order);
    for (size_t i = 0; i < n_items; i++) {
        size_t least = 0;
        for (size_t s = 1; s < n_shards; s++) {
            const struct hand *a = &hands[s], *b = &hands[least];
            bool is_less = a->load_us != b->load_us ? a->load_us < b->load_us : a->n_items < b->n_items;
            least = is_less ? s : least;
        }
        shard[order[i]] = (uint32_t)least;
        hands[least].load_us += items[order[i]].cost_us;
        hands[least].n_items++;
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
