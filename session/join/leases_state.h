/* What the log of leases says, as one process knows it. */
#ifndef SESSION_JOIN_LEASES_STATE_H
#define SESSION_JOIN_LEASES_STATE_H

#include "base/paths/folder.h"
#include "session/join/lease_holder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all who join must agree on. */
struct pdnn_lease_plan {
    uint64_t instances;
    uint64_t instances_hash; /* of their ids in order, but for the number of threads */
    uint64_t expiry_ns;      /* 0 in a request: what the others have, or two minutes */
    uint64_t allow_slow;     /* 0 or 1 */
};

enum pdnn_lease_state { PDNN_LEASE_HELD, PDNN_LEASE_ENDED, PDNN_LEASE_LOST };

struct pdnn_lease {
    uint64_t number; /* of its record */
    enum pdnn_lease_state state;
    struct pdnn_holder holder;
    uint64_t cost_us;   /* predicted */
    uint32_t *instance; /* heap: their numbers in the order of the spec */
    size_t count, done; /* instances; those that were done when it ended or was lost */
    uint32_t *finished; /* heap: the latter, ascending */
    bool is_checked;    /* the holder's journal was read to its end after that */
    bool is_void;       /* it is damaged or gone */
    /* Of pdnn_leases_watch, if held. */
    uint64_t beat, seen_ns; /* the counter, and when it had another value last */
    bool is_seen;           /* it was read at all */
    bool has_beaten;        /* and has changed since: somebody is alive */
    uint64_t kept;          /* times that the holder has said it is still there */
    bool is_stale;          /* the holder is gone, or the counter has not changed for the plan's expiry */
};

/* By instance; otherwise it is the index of the lease that has it. */
enum { PDNN_LEASE_FREE = -1, PDNN_LEASE_DONE = -2 };

struct pdnn_leases {
    struct pdnn_folder folder; /* DIR/leases */
    struct pdnn_holder self;
    struct pdnn_lease_plan plan;
    uint64_t next; /* number of the next record */
    struct pdnn_lease *lease;
    size_t count, room;
    int32_t *state_of;       /* by instance */
    uint64_t beats, beat_ns; /* signs of life so far, and when the last one was */
    bool was_late;           /* others may have taken this process to be dead */
};

#endif
