/* A sweep's result directory while it is being written: what an earlier run left there, the journal that
 * grows, the tables that are replaced now and then. */
#ifndef CLI_SWEEP_DIRECTORY_H
#define CLI_SWEEP_DIRECTORY_H

#include "cli/progress.h"
#include "cli/session.h"
#include "results/journal.h"

struct pdnn_sweep_directory {
    const char *path; /* borrowed, like the session */
    struct pdnn_session *session;
    struct pdnn_journal *journal;
    struct pdnn_progress bar;
    uint64_t next_write_ns;            /* when the tables may be replaced again */
    bool written;                      /* the tables are there */
    size_t counts[PDNN_OUTCOME_COUNT]; /* of the session's rows, when they were written last */
};

/* Makes the directory if it is not there, locks it, checks that the machine and the software are those of an
 * earlier run, and writes spec.yaml and environment.yaml. Release with pdnn_sweep_directory_close, also after
 * a failure. */
enum pdnn_status pdnn_sweep_directory_open(struct pdnn_sweep_directory *sweep, const char *path,
                                           struct pdnn_session *session, struct pdnn_err *err);
void pdnn_sweep_directory_close(struct pdnn_sweep_directory *sweep);

/* Hands what the journal has to the session's tasks. A task whose last visit failed is closed, unless retry.
 */
enum pdnn_status pdnn_sweep_directory_resume(struct pdnn_sweep_directory *sweep, bool retry,
                                             struct pdnn_err *err);

/* Sees to ceilings.csv: written from the session's roofs where they were read from a file already (its name
 * is for messages); else kept, and what is missing measured when there is an open task. Roofs that cannot be
 * measured are said on stderr and do not stop a sweep. */
enum pdnn_status pdnn_sweep_directory_ceilings(struct pdnn_sweep_directory *sweep, const char *file,
                                               struct pdnn_err *err);

/* Replaces results.csv and ops.csv: the session's rows in its order, then those that only the journal knows.
 */
enum pdnn_status pdnn_sweep_directory_write(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* The driver's hooks; user is the sweep directory. */
enum pdnn_status pdnn_sweep_directory_visited(void *user, size_t task, const struct pdnn_visit *visit,
                                              struct pdnn_err *err);
void pdnn_sweep_directory_progress(void *user, const struct pdnn_sweep_progress *progress);

#endif
