/* What sweep, run and check start from: the host, the spec, and its instances as tasks for the driver, with
 * those closed that nothing needs to run for. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/arena.h"
#include "session/hooks.h"
#include "gen/spec.h"
#include "models/cost.h"
#include "runtime/facts/ceilings.h"
#include "runtime/facts/host.h"
#include "runtime/driver/sweep.h"

/* What is known of a task without a visit. */
struct pdnn_session_row {
    struct pdnn_totals totals;
    bool has_totals;           /* it can be built and all counts fit in 64 bits */
    enum pdnn_outcome outcome; /* of the row while it has no visit */
    const char *reason;
};

struct pdnn_session {
    const struct pdnn_session_hooks *hooks; /* borrowed; NULL where nothing is measured */
    struct pdnn_host host;
    struct pdnn_spec spec;
    uint64_t memory_limit_bytes; /* of one worker */
    struct pdnn_arena arena;     /* ids, reasons */
    struct pdnn_task *tasks;     /* in the order of the spec, each id once */
    struct pdnn_session_row *rows;
    size_t n_tasks, room;
    struct pdnn_ceilings *ceilings; /* heap */
};

/* Reads the host, loads the spec and expands it; hooks are the caller's, the rest is overwritten. A task is
 * closed already when it is filtered, needs more memory than the limit or than can be counted, or more
 * threads than there are; the others are open and `interrupted` until they have a visit. *session is always
 * released with pdnn_session_finish. */
enum pdnn_status pdnn_session_open(struct pdnn_session *session, const char *const *arguments,
                                   size_t n_arguments, const char *const *sets, size_t n_sets,
                                   struct pdnn_err *err);
void pdnn_session_finish(struct pdnn_session *session);

/* Hands the hooks a line. */
void pdnn_session_warn(const struct pdnn_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What makes the exit status 1: a row that ended as oom, timeout, crash, invalid or numeric_error, or no row
 * that ended ok. The other outcomes are results like any other. */
bool pdnn_session_has_failed(const size_t counts[PDNN_OUTCOME_COUNT]);

/* Gives the rows that have no visit the reason that the budget was spent, instead of a signal. */
void pdnn_session_note_budget(struct pdnn_session *session);

/* The spec's rules in the driver's terms; from here on the session is watched for the wish to end. */
struct pdnn_sweep_rules pdnn_session_rules(const struct pdnn_session *session);

/* Measures into session->ceilings, by a worker of its own, the thread counts of the open tasks that have no
 * row there yet, and 1 and all where `everything` says so; in about `seconds` altogether, at least two for
 * each. PDNN_INTERRUPTED once the hooks' watch counts. */
enum pdnn_status pdnn_session_measure_ceilings(struct pdnn_session *session, bool everything, double seconds,
                                               struct pdnn_err *err);

/* The same for a list of thread counts. */
struct pdnn_ceilings_job {
    const struct pdnn_host *host;
    const int64_t *threads;
    size_t n_threads;
    double seconds_each;
};
enum pdnn_status pdnn_measure_ceilings(const struct pdnn_ceilings_job *request,
                                       const struct pdnn_session_hooks *hooks, struct pdnn_ceilings *ceilings,
                                       struct pdnn_err *err);

/* Warns of the open tasks' thread counts that the ceilings do not have. */
void pdnn_session_warn_ceilings(const struct pdnn_session *session, const char *path);

#endif
