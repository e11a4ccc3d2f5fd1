/* A sweep's result directory while it is being written: what an earlier run left there, the journal that
 * grows, the tables that are replaced now and then. */
#ifndef SESSION_DIRECTORY_H
#define SESSION_DIRECTORY_H

#include "session/session.h"
#include "results/tables/journal.h"
#include "results/tables/tables.h"

/* What the caller asks of a directory; all pointers are borrowed. */
struct pdnn_sweep_request {
    const char *path;
    struct pdnn_session *session;
    const char *ceilings_file;     /* where the session's roofs were read from; NULL: from the directory */
    const struct pdnn_fact *facts; /* of environment.yaml */
    size_t n_facts;
    bool allow_slow; /* what has no fast path runs all the same */
    bool retry;      /* what failed is visited again */
};

struct pdnn_sweep_directory {
    struct pdnn_sweep_request request;
    struct pdnn_session *session; /* the request's */
    size_t n_ceilings;            /* rows in ceilings.csv */
    struct pdnn_journal *journal;
    uint64_t next_write_ns;            /* when the tables may be replaced again */
    bool warned;                       /* that they could not be */
    bool written;                      /* the tables are there, as the journal is; what follows is known */
    size_t counts[PDNN_OUTCOME_COUNT]; /* of the session's rows */
    double speed_index;                /* median of the ok rows; NaN without */
};

/* Makes the directory if it is not there, locks it, checks that the machine and the software are those of an
 * earlier run, reads ceilings.csv unless the session's roofs come from a file of the user's, and then writes
 * spec.yaml and environment.yaml. A failure leaves the files as they were. Release with
 * pdnn_sweep_directory_close, also after a failure. */
enum pdnn_status pdnn_sweep_directory_open(struct pdnn_sweep_directory *sweep,
                                           const struct pdnn_sweep_request *request, struct pdnn_err *err);
void pdnn_sweep_directory_close(struct pdnn_sweep_directory *sweep);

/* Hands what the journal has to the session's tasks. A task whose last visit failed is closed, unless
 * those are retried; one that was unsupported is open where slow runs are allowed, and one that was measured
 * so is closed where they are not. */
enum pdnn_status pdnn_sweep_directory_resume(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* Sees to ceilings.csv: written from the session's roofs where they come from a file of the user's; else what
 * is missing is measured when there is an open task. Roofs that cannot be measured are worth a warning and
 * do not stop a sweep. */
enum pdnn_status pdnn_sweep_directory_ceilings(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* Replaces results.csv and ops.csv: the session's rows in its order, then those that only the journal knows.
 */
enum pdnn_status pdnn_sweep_directory_write(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* The sweep itself: resume, roofs, visits of the open tasks, and tables, however that ends; the wish to end
 * that comes during the roofs ends it before the first visit. Each visit is in the journal at once, and now
 * and then in the tables; that these cannot be replaced meanwhile is worth one warning and does not stop a
 * sweep: the journal is what counts. */
enum pdnn_status pdnn_sweep_directory_run(struct pdnn_sweep_directory *sweep,
                                          struct pdnn_sweep_result *result, struct pdnn_err *err);

#endif
