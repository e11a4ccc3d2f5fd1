/* One lease of a joined sweep: from what is known of its instances to its end. */
#include "base/memory.h"
#include "runtime/protocol/standing.h"
#include "session/join/job.h"

#include <stdlib.h>
#include <string.h>

/* All who join have the same --allow-slow: what one of them finds is final for all. */
bool pdnn_join_is_done(const struct pdnn_join_job *job, size_t task, const struct pdnn_visits *visits) {
    const struct pdnn_instance_visits of = pdnn_visits_of(visits, job->session->tasks[task].id);
    const struct pdnn_standing standing = pdnn_standing_of(of.visit, of.count);
    return pdnn_standing_is_done(&standing, (size_t)job->session->spec.measure.rounds);
}

/* Adds to the known visits those that earlier holders of the lease's instances made on this host. */
static void adopt(struct pdnn_join_job *job) {
    const struct pdnn_leases *leases = &job->leases;
    for (size_t i = 0; i < leases->count; i++) {
        struct pdnn_lease *lease = &leases->lease[i];
        size_t shared = 0;
        while (shared < lease->count && leases->state_of[lease->instance[shared]] != (int32_t)job->lease)
            shared++;
        bool is_own = strcmp(lease->holder.part, leases->self.part) == 0;
        if (shared == lease->count || lease->state == PDNN_LEASE_HELD || lease->is_void || is_own ||
            lease->is_adopted || lease->done == lease->count)
            continue;
        lease->is_adopted = true;
        if (pdnn_join_is_here(job, lease->holder.part))
            pdnn_join_read_part(job, lease, &job->known);
    }
}

/* Opens the lease's tasks, and no others. */
static void open_tasks(struct pdnn_join_job *job) {
    const struct pdnn_lease *lease = &job->leases.lease[job->lease];
    struct pdnn_session *session = job->session;
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = true;
    for (size_t i = 0; i < lease->count; i++) {
        struct pdnn_task *task = &session->tasks[lease->instance[i]];
        const struct pdnn_instance_visits of = pdnn_visits_of(&job->known, task->id);
        task->closed = false;
        if (of.count)
            pdnn_sweep_directory_resume_task(&job->sweep, task, of.visit, of.count);
    }
}

/* Commits a visit, unless the lease was taken away meanwhile. */
static enum pdnn_status visited(void *user, size_t task, const struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    struct pdnn_join_job *job = user;
    struct pdnn_visit plain = *visit;
    bool is_held;
    plain.ops = NULL;
    plain.n_ops = 0;
    enum pdnn_status status = pdnn_leases_check(&job->leases, job->lease, &is_held, err);
    if (status == PDNN_OK && !is_held) {
        job->is_lost = true;
        return pdnn_fail(err, PDNN_INTERRUPTED, "the lease was taken over");
    }
    if (status == PDNN_OK)
        status = pdnn_sweep_directory_commit(&job->sweep, task, visit, err);
    if (status == PDNN_OK)
        pdnn_visits_add(&job->known, job->session->tasks[task].id, &plain);
    return status;
}

static void progress(void *user, const struct pdnn_sweep_progress *visits) {
    struct pdnn_join_job *job = user;
    const struct pdnn_session_hooks *hooks = job->session->hooks;
    pdnn_leases_beat(&job->leases);
    hooks->visits(hooks->user, visits);
}

static enum pdnn_status visit_all(struct pdnn_join_job *job, struct pdnn_err *err) {
    struct pdnn_session *session = job->session;
    struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    const struct pdnn_sweep_hooks hooks = {job, visited, progress};
    struct pdnn_sweep_result result = {0};
    rules.request.allow_slow = job->request->sweep.allow_slow;
    if (!job->workers)
        job->workers = pdnn_sweep_workers_create(&session->host, session->memory_limit_bytes);
    enum pdnn_status status =
        pdnn_sweep_run_on(job->workers, session->tasks, session->n_tasks, &rules, &hooks, &result, err);
    session->hooks->ended(session->hooks->user);
    job->time_is_up = !result.visits && result.out_of_time;
    pdnn_sweep_result_add(&job->result.sweep, &result);
    return status;
}

/* Ends the lease with what is done. */
static enum pdnn_status end_lease(struct pdnn_join_job *job, struct pdnn_err *err) {
    const struct pdnn_lease *lease = &job->leases.lease[job->lease];
    uint32_t *done = pdnn_alloc(lease->count + 1, sizeof *done);
    size_t n_done = 0;
    for (size_t i = 0; i < lease->count; i++) {
        const struct pdnn_instance_visits of =
            pdnn_visits_of(&job->known, job->session->tasks[lease->instance[i]].id);
        struct pdnn_task *task = &job->session->tasks[lease->instance[i]];
        /* Its visits say how much visits scatter. */
        if (of.count)
            pdnn_sweep_directory_resume_task(&job->sweep, task, of.visit, of.count);
        if (!pdnn_join_is_done(job, lease->instance[i], &job->known)) {
            task->visit_ns = UINT64_MAX; /* there was no time for it, and there will be none later */
            continue;
        }
        done[n_done++] = lease->instance[i];
        job->result.counts[of.visit[of.count - 1].outcome]++;
    }
    enum pdnn_status status = pdnn_leases_end(&job->leases, job->lease, done, n_done, err);
    free(done);
    return status;
}

enum pdnn_status pdnn_join_run_batch(struct pdnn_join_job *job, struct pdnn_err *err) {
    struct pdnn_err ending = {0};
    job->is_lost = false;
    adopt(job);
    open_tasks(job);
    enum pdnn_status status = visit_all(job, err);
    job->result.leases++;
    if (job->is_lost) {
        job->result.lost++;
        pdnn_session_warn(job->session,
                          "lease %08llu: taken over by another process, which saw no sign of "
                          "life of this one; its visits so far are kept",
                          (unsigned long long)job->leases.lease[job->lease].number);
        return PDNN_OK;
    }
    if (end_lease(job, &ending) != PDNN_OK && (status == PDNN_OK || status == PDNN_INTERRUPTED))
        status = pdnn_fail(err, ending.status, "%s", ending.text);
    return status;
}
