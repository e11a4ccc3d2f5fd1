/* One of N parts of a sweep that run apart, without a common file system: which part this is, and which
 * instances belong to it. Every part works that out by itself, and every instance is in exactly one. */
#ifndef SESSION_JOIN_SHARD_H
#define SESSION_JOIN_SHARD_H

#include "base/err.h"
#include "gen/expansion/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    size_t count;                /* instances, as gen/expansion/walk returns them */
    bool *mine;                  /* heap: whether each is in the shard, for that walk; NULL: all are */
    double seconds, seconds_all; /* predicted, of the shard and of all */
};

/* Deals by predicted cost at nominal rates (session/predict.h, session/join/deal.h). What the host has free
 * does not count, since it differs from one shard's host to the next: an instance that turns out not to fit
 * into memory there has its place. Filtered and invalid ones, and those above a limit in bytes, cost nothing.
 * threads: what `threads: all` stands for; the same for all shards, or their ids differ. A whole sweep is not
 * dealt. Release *deal with pdnn_shard_deal_finish after a success. */
enum pdnn_status pdnn_shard_deal(const struct pdnn_shard *shard, const struct pdnn_spec *spec,
                                 int64_t threads, struct pdnn_shard_deal *deal, struct pdnn_err *err);
void pdnn_shard_deal_finish(struct pdnn_shard_deal *deal);

/* PDNN_INVALID, naming both, if DIR/environment.yaml says that the directory holds another part. */
enum pdnn_status pdnn_shard_check(const struct pdnn_shard *shard, const char *directory,
                                  struct pdnn_err *err);

#endif
