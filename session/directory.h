/* A sweep's result directory while it is being written: what an earlier run left there, the journal as it
 * grows, the tables that are replaced now and then. */
#ifndef SESSION_DIRECTORY_H
#define SESSION_DIRECTORY_H

#include "session/session.h"
#include "base/paths/folder.h"
#include "results/store/journal.h"
#include "results/store/tables.h"
#include "session/rows.h"

/* What the caller wants from a directory; all pointers are borrowed. */
struct pdnn_sweep_request {
    const char *path;
    struct pdnn_session *session;
    const char *roofs_file;  /* where the session's roofs were read from; NULL: from the directory */
    struct pdnn_fact *facts; /* for environment.yaml; visits tell of counters */
    size_t n_facts;
    bool retry; /* visit again what failed */
    bool waits; /* for another process that writes there */
};

struct pdnn_sweep_directory {
    uint64_t roofs_ns; /* spent on the roofs */
    struct pdnn_sweep_request request;
    struct pdnn_session *session; /* the request's */
    struct pdnn_folder folder;    /* the directory, held open: all files are written through it */
    size_t n_roof_rows;           /* rows in ceilings.csv */
    struct pdnn_journal *journal;
    bool waited;            /* another process wrote there until now */
    uint64_t next_write_ns; /* when the tables may be replaced again */
    bool warned;            /* a warning said that they could not be */
    bool written;           /* the tables are there, as the journal is; what follows is valid */
    struct pdnn_rows_sums sums;
};

/* Creates the directory if needed, locks it, and checks that shard, machine and software are those of an
 * earlier run. PDNN_BUSY if another process writes there, unless the request waits. Reads ceilings.csv,
 * unless the session's roofs come from a file of the user's, then writes spec.yaml and environment.yaml. On
 * failure the files stay as they were; PDNN_INVALID also if a table could not be replaced later on. Release
 * with pdnn_sweep_directory_close, also after a failure. */
enum pdnn_status pdnn_sweep_directory_open(struct pdnn_sweep_directory *sweep,
                                           const struct pdnn_sweep_request *request, struct pdnn_err *err);
void pdnn_sweep_directory_close(struct pdnn_sweep_directory *sweep);

/* A task's visits in the journal, and what they come to. */
struct pdnn_instance_visits pdnn_sweep_directory_visits(const struct pdnn_sweep_directory *sweep,
                                                        size_t task);
struct pdnn_standing pdnn_sweep_directory_standing(const struct pdnn_sweep_directory *sweep, size_t task);

/* Applies the journal to the session's tasks. Visits that were composed of operators' times do not count:
 * what is swept, runs. A task whose last visit failed is closed, unless failures are retried. A task that was
 * unsupported is open if slow runs are allowed; a task measured in a slow run is closed if they are not. */
void pdnn_sweep_directory_resume(struct pdnn_sweep_directory *sweep);

/* The same for one task and these visits, at least one, instead of the journal's. */
void pdnn_sweep_directory_resume_task(const struct pdnn_sweep_directory *sweep, struct pdnn_task *task,
                                      const struct pdnn_visit *visits, size_t n_visits);

/* Appends a visit to a task to the journal. PDNN_IO also if the directory or its journal is not where it was.
 */
enum pdnn_status pdnn_sweep_directory_commit(struct pdnn_sweep_directory *sweep, size_t task,
                                             const struct pdnn_visit *visit, struct pdnn_err *err);

/* Brings ceilings.csv up to date. Roofs from a file of the user's are written as they are;
 * otherwise, missing ones are measured if any task is open. If roofs cannot be measured, that is a
 * warning and does not stop the sweep. */
enum pdnn_status pdnn_sweep_directory_roofs(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* Replaces results.csv and ops.csv: the session's rows in order, then rows that only the journal has. */
enum pdnn_status pdnn_sweep_directory_write(struct pdnn_sweep_directory *sweep, struct pdnn_err *err);

/* Visits the session's open tasks on these workers, NULL: its own, each visit to the journal and now and then
 * to the tables; or to what the hooks make of it, if they are not NULL. */
enum pdnn_status pdnn_sweep_directory_visit(struct pdnn_sweep_directory *sweep,
                                            struct pdnn_sweep_workers *workers,
                                            const struct pdnn_sweep_rules *rules,
                                            const struct pdnn_sweep_hooks *hooks,
                                            struct pdnn_sweep_result *result, struct pdnn_err *err);

/* The sweep itself: resume, roofs, visits of the open tasks, and the tables, however the visits end. An
 * interrupt during the roofs ends the sweep before the first visit. Each visit goes to the journal at once
 * and to the tables now and then. If the tables cannot be replaced meanwhile, there is one warning and the
 * sweep goes on: the journal is what counts. If the directory or its journal is deleted, moved or replaced,
 * that ends the sweep: PDNN_IO. */
enum pdnn_status pdnn_sweep_directory_run(struct pdnn_sweep_directory *sweep,
                                          struct pdnn_sweep_result *result, struct pdnn_err *err);

#endif
