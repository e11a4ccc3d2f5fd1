/* How far a sweep has come: read from its directory, or from its parts, without locks and while it is being
 * written. */
#ifndef SESSION_STATUS_H
#define SESSION_STATUS_H

#include "base/err.h"
#include "runtime/facts/visit.h"

#include <stddef.h>
#include <stdint.h>

struct pdnn_status_report {
    size_t directories;                /* with visits: the sweep's own, or its parts */
    size_t working;                    /* of these: wrote within ten minutes of the one that wrote last */
    size_t instances;                  /* of the spec */
    size_t done;                       /* with all their visits, failed, or with nothing to run */
    size_t begun;                      /* not done, but visited */
    size_t visits;                     /* in all journals, without copies only if there are none */
    size_t counts[PDNN_OUTCOME_COUNT]; /* done instances by outcome */
    int64_t last_unix_ms;              /* start of the latest visit, by the clock of its host; 0: none */
    double visits_per_hour;            /* of all that are working; NaN: not known yet */
    /* Predicted time of the missing visits (session/predict.h), scaled by how long the ones that are there
     * took, and divided among the directories that are working; extra visits to noisy instances come on top.
     * NaN: not known yet. */
    double seconds_left;
};

/* PDNN_INVALID if the directory has neither a spec nor visits, or a journal is damaged. */
enum pdnn_status pdnn_status_read(const char *directory, struct pdnn_status_report *report,
                                  struct pdnn_err *err);

#endif
