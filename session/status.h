/* How far a sweep has come: read from its directory, or from its parts, without locks and while it is being
 * written. */
#ifndef SESSION_STATUS_H
#define SESSION_STATUS_H

#include "base/err.h"
#include "session/join/leases.h"
#include "session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdnn_status_report {
    size_t directories; /* with visits: the sweep's own, or its parts */
    /* Processes at work: in a joined sweep those that hold a lease that is not stale; else 0 or 1, as the
     * journal's lock tells on this host, or 1 for ten minutes after the last visit of another host. Several
     * directories of one sweep without leases: those that wrote within ten minutes of the last. */
    size_t working;
    struct pdnn_tally tally;
    size_t unusable;        /* rows of results.csv with that flag */
    size_t visits;          /* in all journals, without copies only if there are none */
    int64_t last_unix_ms;   /* start of the latest visit, by the clock of its host; 0: none */
    double visits_per_hour; /* of all that are working; NaN: not known yet */
    /* Predicted time of the missing visits (session/predict.h), scaled by how long the ones that are there
     * took, and divided among the directories that are working; extra visits to noisy instances come on top.
     * NaN: not known yet. */
    double seconds_left;
    bool is_joined;            /* the next two are set */
    struct pdnn_leases leases; /* with is_stale: whoever joins next takes over */
    size_t free;               /* instances that nobody has claimed and that can run */
};

/* PDNN_INVALID if the directory has neither a spec nor visits, or a journal or the log of leases is damaged.
 * Close report->leases after a success. */
enum pdnn_status pdnn_status_read(const char *directory, struct pdnn_status_report *report,
                                  struct pdnn_err *err);

#endif
