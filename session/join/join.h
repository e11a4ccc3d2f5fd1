/* One of any number of processes, on any number of nodes, that work on one sweep in one directory. DIR holds
 * the spec, frozen; leases/, which says who measures what; and parts/NAME/, a result directory without tables
 * of each process that measured, in which only that process writes. `merge DIR -o DIR` makes the tables.
 *
 * A process claims instances batch by batch (session/join/shard.h), longest first, or if it has a budget or a
 * deadline in a balanced order, and makes all visits to them itself. What another process left behind is
 * claimed again. The visits that it made on this host count; instances that it visited on another host are
 * measured again as a whole, since a row never mixes hosts. */
#ifndef SESSION_JOIN_JOIN_H
#define SESSION_JOIN_JOIN_H

#include "session/directory.h"
#include "session/join/leases.h"

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

/* Works until nothing is left to claim, or the time or the budget is up; the lease then becomes free. Before
 * it ends for want of work, it makes sure that every other holder is alive, and takes over from those that
 * are not, and that the journals of those that ended can be read: what a damaged one had is free again.
 * PDNN_INTERRUPTED after a signal. */
enum pdnn_status pdnn_join_run(const struct pdnn_join_request *request, struct pdnn_join_result *result,
                               struct pdnn_err *err);

/* Makes DIR with what all share, or checks that the sweep there has this spec. text: as spec.yaml has it. */
enum pdnn_status pdnn_join_make_directory(const char *directory, const char *text, struct pdnn_err *err);

/* PDNN_INVALID if the directory is that of a joined sweep that was not merged: a sweep of one process there
 * would measure everything once more. */
enum pdnn_status pdnn_join_check_alone(const char *directory, struct pdnn_err *err);

#endif
