/* Who runs what, as pure functions of predicted costs: instances dealt to shards before anything runs, and
 * batches claimed by workers as they go. Knows no files, clocks or processes. */
#ifndef SESSION_JOIN_DEAL_H
#define SESSION_JOIN_DEAL_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds, not floating point: sums of them are the same on every machine. */
struct pdnn_deal_item {
    const char *id; /* unique; breaks ties */
    uint64_t cost_us;
};

/* Seconds as a cost: up to the next microsecond, 115 days at most, so that a million of them can be summed.
 */
uint64_t pdnn_deal_cost(double seconds);

/* Sets order[0..n_items) to the items' indices, longest first, equal ones by id. */
void pdnn_deal_order(const struct pdnn_deal_item *items, size_t n_items, uint32_t *order);

/* Longest processing time first (Graham 1969): sets shard[i] for each item, which goes, longest first, to the
 * shard with the least work so far; of equal ones to that with the fewest items, then to the first. Depends
 * on the set of items, not on their order. No shard gets more than the mean plus the longest item. */
void pdnn_deal_shards(const struct pdnn_deal_item *items, size_t n_items, size_t n_shards, uint32_t *shard);

/* Guided self-scheduling (Polychronopoulos and Kuck 1987): the number of items at the head of the list that
 * make the next batch. cost_us: of the items nobody has claimed, longest first. A batch is as many as fit
 * into their sum / (2 * workers), ten minutes at most, and always one. The batches shrink towards the end, so
 * that workers of different speeds end together. workers: those alive, this one included.
 *
 * last_us: what this worker claimed last; 0: nothing yet. Who comes first does not know how many will follow,
 * so batches grow from half a minute, at most doubling each time, and the first is made as for eight workers
 * at least. */
size_t pdnn_deal_batch(const uint64_t *cost_us, size_t n_items, size_t workers, uint64_t last_us);

#endif
