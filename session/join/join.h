/* One of any number of processes, on any number of nodes, that work on one sweep in one directory. DIR holds
 * the spec, frozen; leases/, which says who measures what; and parts/NAME/, a result directory without tables
 * of each process that measured, in which only that process writes. `merge DIR -o DIR` makes the tables.
 *
 * A process claims instances batch by batch (session/join/deal.h), longest first, and makes all visits to
 * them itself. What another process left behind is claimed again. The visits that it made on this host count;
 * instances that it visited on another host are measured again as a whole, since a row never mixes hosts. */
#ifndef SESSION_JOIN_JOIN_H
#define SESSION_JOIN_JOIN_H

#include "session/join/request.h"

/* Works until nothing is left to claim, or the time or the budget is up; the lease then becomes free. Before
 * it ends for want of work, it makes sure that every other holder is alive, and takes over from those that
 * are not, and that the journals of those that ended can be read: what a damaged one had is free again.
 * PDNN_INTERRUPTED after a signal. */
enum pdnn_status pdnn_join_run(const struct pdnn_join_request *request, struct pdnn_join_result *result,
                               struct pdnn_err *err);

#endif
