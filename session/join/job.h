/* What the files of a joined sweep share. Private to session/join. */
#ifndef SESSION_JOIN_JOB_H
#define SESSION_JOIN_JOB_H

#include "results/store/visits.h"
#include "session/join/deal.h"
#include "session/join/leases.h"
#include "session/join/request.h"

struct pdnn_join_job {
    const struct pdnn_join_request *request;
    struct pdnn_session *session;
    struct pdnn_join_result result;
    struct pdnn_leases leases;
    struct pdnn_sweep_directory sweep; /* the part */
    bool has_part;
    struct pdnn_sweep_workers *workers;
    const volatile int *stop;
    bool *is_runnable;           /* by task: something can be measured on this host */
    struct pdnn_deal_item *item; /* by task: what all its visits are predicted to cost */
    uint32_t *order;             /* tasks, longest first */
    uint32_t *candidate;         /* tasks that may be claimed now, longest first */
    uint64_t *candidate_us;
    size_t n_candidates;
    uint64_t last_us;         /* cost of the last lease */
    size_t lease;             /* the current one */
    bool is_lost;             /* it was taken away */
    bool is_idle;             /* there was nothing to claim when it looked last */
    uint64_t looked_ns;       /* when it looked at other holders */
    bool time_is_up;          /* there was none for a single visit of a lease */
    bool has_late;            /* something is free that would take longer than the time left */
    struct pdnn_visits known; /* visits to the tasks of this process's leases on this host, without ops */
};

/* What is left of the time and the budget; UINT64_MAX: no limit. */
uint64_t pdnn_join_left_ns(const struct pdnn_join_job *job);

/* Makes the part, with roofs. PDNN_INVALID if this host is not set up as it was for
 * earlier parts. */
enum pdnn_status pdnn_join_make_part(struct pdnn_join_job *job, struct pdnn_err *err);

/* Adds the visits that are in the part's journal to the instances of the lease; none if it has no journal. A
 * damaged one is a warning, and its visits do not count. */
void pdnn_join_read_part(const struct pdnn_join_job *job, const struct pdnn_lease *lease,
                         struct pdnn_visits *visits);

/* Frees what leases had done whose part is damaged, or gone although DIR was never merged, with a warning per
 * part. Each part is read once; not that of a process with a lease. */
enum pdnn_status pdnn_join_void_damaged(struct pdnn_join_job *job, bool *has_freed, struct pdnn_err *err);

/* Whether the part is of a host of this name. */
bool pdnn_join_is_here(const struct pdnn_join_job *job, const char *part);

/* Whether these visits are all that the task gets. */
bool pdnn_join_is_done(const struct pdnn_join_job *job, size_t task, const struct pdnn_visits *visits);

/* Visits the instances of job->lease, and ends it. */
enum pdnn_status pdnn_join_run_batch(struct pdnn_join_job *job, struct pdnn_err *err);

#endif
