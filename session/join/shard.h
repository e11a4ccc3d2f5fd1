/* Who runs what, by predicted costs: instances dealt to shards before anything runs, and batches claimed by
 * workers as they go. A shard is one of N parts of a sweep that run apart, without a common file system.
 * Every part works out by itself which instances it has, and every instance is in exactly one. */
#ifndef SESSION_JOIN_SHARD_H
#define SESSION_JOIN_SHARD_H

#include "base/err.h"
#include "gen/expansion/walk.h"

#include <stdbool.h>
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

/* What a worker has time for. */
struct pdnn_deal_time {
    double left_ns; /* until its end; INFINITY: there is none */
    /* Where there is time for a balanced sample only: what the rounds of an item take at most that comes
     * before longer ones. 0: what is claimed is no sample. */
    double sample_most_ns;
    size_t rounds;
};

/* Sets fitting[] to those of the items, in their order, that there is time for at least one visit to, and
 * returns how many; *has_late: there is none for some. visit_ns, is_late: by item; what is late has turned
 * out to have no time. Of a sample, the list ends at the first that there is no time for, since one filled up
 * with shorter ones would not be balanced; items that take long are after all others, as far as they fit. */
size_t pdnn_deal_fit(const struct pdnn_deal_time *time, const uint64_t *visit_ns, const bool *is_late,
                     const uint32_t *items, size_t n_items, uint32_t *fitting, bool *has_late);

/* Guided self-scheduling (Polychronopoulos and Kuck 1987): the number of items at the head of the list that
 * make the next batch. cost_us: of the items nobody has claimed, in the order of claiming. A batch is as many
 * as fit into their sum / (2 * workers), ten minutes at most, and always one. The batches shrink towards the
 * end, so that workers of different speeds end together. workers: those alive, this one included.
 *
 * last_us: what this worker claimed last; 0: nothing yet. Who comes first does not know how many will follow,
 * so batches grow from half a minute, at most doubling each time, and the first is made as for eight workers
 * at least. */
size_t pdnn_deal_batch(const uint64_t *cost_us, size_t n_items, size_t workers, uint64_t last_us);

enum { PDNN_SHARDS_MAX = 100000, PDNN_SHARD_TEXT = 16 };

/* {0}: the whole sweep. */
struct pdnn_shard {
    uint32_t index, count; /* index counts from 0 */
};

/* Parses "i/N" or "auto/N"; for auto, i comes from the array variables of batch systems:
 * several that disagree are an error, and so is an array that was made for another number of shards.
 * base: "0" or "1", what i counts from; NULL: 0. text NULL: *shard is {0}. PDNN_INVALID. */
enum pdnn_status pdnn_shard_parse(const char *text, const char *base, struct pdnn_shard *shard,
                                  struct pdnn_err *err);

/* How many tasks the job array has from which such a text takes its number; 0 if that is not known. */
uint32_t pdnn_shard_array_tasks(const char *text);

/* "3/16", counted from 0; "" for the whole sweep. Returns buffer. */
const char *pdnn_shard_format(const struct pdnn_shard *shard, char buffer[PDNN_SHARD_TEXT]);

/* The deal of a whole spec. */
struct pdnn_shard_deal {
    size_t count; /* instances, those with `threads: all` apart from those with a number */
    bool *mine; /* heap, the caller's: whether each is in the shard, for gen/expansion/walk; NULL: all are */
    double seconds, seconds_all; /* predicted with this host's threads, of the shard and of all */
};

/* Deals by predicted cost at nominal rates (session/predict.h), with `threads: all` as the word. Nothing of
 * the host counts, since it differs from one shard's to the next: an instance that turns out not to fit
 * into memory there, or that `where` excludes there, has its place, and where all threads may be another
 * instance's number, both are in one shard. Those that are filtered on every host, invalid ones, and those
 * above a limit in bytes, cost nothing. threads: what `threads: all` stands for here. A whole sweep is not
 * dealt. */
enum pdnn_status pdnn_shard_deal(const struct pdnn_shard *shard, const struct pdnn_spec *spec,
                                 int64_t threads, struct pdnn_shard_deal *deal, struct pdnn_err *err);

/* By what instances are dealt, as environment.yaml has it: those of one rule are the same parts. */
#define PDNN_SHARD_RULE "the spec"

/* PDNN_INVALID, naming both, if DIR/environment.yaml says that the directory holds another part, or a shard
 * by another rule. */
enum pdnn_status pdnn_shard_check(const struct pdnn_shard *shard, const char *directory,
                                  struct pdnn_err *err);

#endif
