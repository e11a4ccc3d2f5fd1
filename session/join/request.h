/* What a process that joins wants, and what came of it. */
#ifndef SESSION_JOIN_REQUEST_H
#define SESSION_JOIN_REQUEST_H

#include "session/directory.h"
#include "session/join/lease_holder.h"

struct pdnn_join_request {
    struct pdnn_sweep_request sweep; /* path: DIR; `retry` is not for joined sweeps */
    uint64_t expiry_ns;              /* as in struct pdnn_lease_plan */
};

struct pdnn_join_result {
    char part[PDNN_PART_TEXT]; /* "": there was nothing to do */
    struct pdnn_sweep_result sweep;
    size_t leases, lost;               /* this process's; those that others took from it */
    size_t counts[PDNN_OUTCOME_COUNT]; /* instances that this process finished */
    uint64_t roofs_ns;
    /* Of the whole sweep, at the end. */
    size_t instances;
    size_t done;            /* measured, or with nothing to run */
    size_t held, n_holders; /* by other processes */
    size_t free;
};

#endif
