/* Rows of an earlier spec dropped from a sweep's directory. The old journal is kept beside the new one; the
 * new one takes its place in one step, and the other files follow from it. */
#ifndef SESSION_PRUNE_H
#define SESSION_PRUNE_H

#include "session/directory.h"
#include "session/session.h"

enum { PDNN_PRUNE_ASIDE = 64 };

struct pdnn_prune {
    struct pdnn_session session; /* what spec.yaml asks for */
    struct pdnn_sweep_directory sweep;
    struct pdnn_texts dropped;       /* ids of the instances to drop, in the order of the journal */
    size_t visits;                   /* of theirs */
    size_t kept;                     /* instances that stay, as far as they have visits */
    size_t spared;                   /* of these, of an earlier spec, but not asked for */
    char aside[2][PDNN_PRUNE_ASIDE]; /* where the old journal.csv and journal-ops.csv are; "": nowhere yet */
};

/* Opens and locks the directory and finds the instances that its spec.yaml does not name and that `only` asks
 * for (results/query/results.h). Changes nothing but what a sweep that begins there would. PDNN_INVALID if a
 * sweep is working there, if it is not the directory of a sweep, if its journals are in parts/, or if it was
 * merged from several hosts. Release with pdnn_prune_close, also after a failure. */
enum pdnn_status pdnn_prune_open(struct pdnn_prune *prune, const char *directory, const char *const *only,
                                 size_t n_only, struct pdnn_err *err);

/* Drops them, and makes the tables again, also if there are none: an earlier prune may have been killed. A
 * process killed meanwhile leaves the old journal or the new one, each with all its ops; the tables follow
 * when prune or a sweep is run again. */
enum pdnn_status pdnn_prune_commit(struct pdnn_prune *prune, struct pdnn_err *err);

void pdnn_prune_close(struct pdnn_prune *prune);

#endif
