/* What the ranks of a visit do together. Rank 0 measures; before each run of steps it says which and how
 * many, all meet, run them and tell how long they took. */
#ifndef RUNTIME_DISTRIBUTED_RANK_SYNC_H
#define RUNTIME_DISTRIBUTED_RANK_SYNC_H

#include "runtime/measure/evict.h"
#include "runtime/plan/plan.h"
#include "runtime/protocol/request.h"
#include "runtime/protocol/visit.h"
#include "runtime/distributed/world.h"

enum pdnn_rank_sync_what {
    PDNN_RANK_SYNC_STEPS,
    PDNN_RANK_SYNC_COMPUTE, /* steps without communication */
    PDNN_RANK_SYNC_COMM,    /* communication without steps */
    PDNN_RANK_SYNC_WEIGHTS, /* whether all have the same ones */
    PDNN_RANK_SYNC_DONE
};

struct pdnn_rank_sync {
    const struct pdnn_world *world; /* NULL: there is one rank, and nothing to do */
    const struct pdnn_plan *plan;
    const struct pdnn_evictor *evictor; /* NULL: caches stay warm */
    struct pdnn_visit_ranks times;      /* from pdnn_rank_sync_measure */
    double skew_ns;                     /* of the last run: the slowest rank's time less the fastest one's */
};

/* All ranks: the worst of their statuses for all. A rank that was fine names the others. world NULL: the
 * status. */
enum pdnn_status pdnn_rank_sync_agree(const struct pdnn_world *world, enum pdnn_status status,
                                      struct pdnn_err *err);

/* Rank 0: says what comes, and meets the others right before it. */
void pdnn_rank_sync_begin(struct pdnn_rank_sync *together, enum pdnn_rank_sync_what what, uint64_t count);
/* Rank 0, after what pdnn_rank_sync_begin announced has run: the slowest rank's time. */
uint64_t pdnn_rank_sync_end(struct pdnn_rank_sync *together, uint64_t ns);

/* Any rank, after a step: returns its code, but ends all ranks if it failed, as the others may wait in theirs
 * for ever. world NULL: the code. */
int pdnn_rank_sync_check(const struct pdnn_world *world, int code);

/* Rank 0, after the samples: PDNN_INTERNAL if the ranks' weights differ; then fills the times. Leaves weights
 * that differ. */
enum pdnn_status pdnn_rank_sync_measure(struct pdnn_rank_sync *together,
                                        const struct pdnn_measure_rules *rules, uint64_t steps_per_sample,
                                        struct pdnn_err *err);

/* The other ranks: what rank 0 says, until it is done. */
enum pdnn_status pdnn_rank_sync_follow(struct pdnn_rank_sync *together, struct pdnn_err *err);

#endif
