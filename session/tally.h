/* How far a sweep has come: its instances by what their visits come to (runtime/protocol/standing.h). The one
 * count behind what sweep, compose, merge, status and the report say, with the same words. */
#ifndef SESSION_TALLY_H
#define SESSION_TALLY_H

#include "runtime/protocol/standing.h"
#include "session/session.h"

enum pdnn_stage {
    PDNN_STAGE_DONE,  /* all its visits are there, or it failed for good, or it has nothing to run */
    PDNN_STAGE_BEGUN, /* its row is made of fewer visits than the spec asks for */
    PDNN_STAGE_OPEN,  /* no visit yet */
    PDNN_STAGE_OTHER, /* it has visits, but this spec does not have it */
    PDNN_STAGE_COUNT
};
extern const char *const pdnn_stage_names[PDNN_STAGE_COUNT];

struct pdnn_tally {
    size_t instances; /* of the spec */
    size_t stage[PDNN_STAGE_COUNT];
    size_t counts[PDNN_OUTCOME_COUNT]; /* of the spec's instances: the status of their rows */
};

/* The stage of a task of the session with these visits, {0} for none; SIZE_MAX: the spec does not have it. */
enum pdnn_stage pdnn_stage_of(const struct pdnn_session *session, size_t task,
                              const struct pdnn_standing *standing);

/* Counts it; returns its stage. */
enum pdnn_stage pdnn_tally_add(struct pdnn_tally *tally, const struct pdnn_session *session, size_t task,
                               const struct pdnn_standing *standing);

#endif
