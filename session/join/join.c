#define _POSIX_C_SOURCE 200809L
#include "session/join/join.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "session/join/job.h"
#include "session/join/shared_directory.h"
#include "session/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Between looks at other holders: the expiry asks for sixty in its time; one of this host may be gone at any.
 */
static uint64_t look_gap_ns(const struct pdnn_join_job *job) {
    const uint64_t gap_ns = job->leases.plan.expiry_ns / 60, longest_ns = UINT64_C(2000000000);
    return gap_ns < longest_ns ? gap_ns : longest_ns;
}

/* The same on hosts with other numbers of threads. */
static uint64_t hash_instances(const struct pdnn_session *session) {
    uint64_t hash = session->n_tasks;
    for (size_t i = 0; i < session->n_tasks; i++) {
        struct pdnn_instance instance = session->tasks[i].instance;
        char id[PDNN_ID_TEXT];
        instance.setting[PDNN_SETTING_THREADS] = 1;
        hash = pdnn_rng_seed(hash, pdnn_instance_format(&instance, id));
    }
    return hash;
}

/* The tasks by predicted cost, at nominal rates: the longest first. */
static void rank_tasks(struct pdnn_join_job *job) {
    const struct pdnn_session *session = job->session;
    size_t n_tasks = session->n_tasks;
    job->is_runnable = pdnn_alloc(n_tasks + 1, sizeof *job->is_runnable);
    job->item = pdnn_alloc(n_tasks + 1, sizeof *job->item);
    job->order = pdnn_alloc(n_tasks + 1, sizeof *job->order);
    job->candidate = pdnn_alloc(n_tasks + 1, sizeof *job->candidate);
    job->candidate_us = pdnn_alloc(n_tasks + 1, sizeof *job->candidate_us);
    for (size_t i = 0; i < n_tasks; i++) {
        const struct pdnn_task *task = &session->tasks[i];
        job->is_runnable[i] = !task->closed;
        job->item[i].id = task->id;
        if (!task->closed)
            job->item[i].cost_us = pdnn_deal_cost(
                pdnn_predict(NULL, &session->spec, &task->instance, &session->rows[i].totals).total);
    }
    pdnn_deal_order(job->item, n_tasks, job->order);
}

uint64_t pdnn_join_left_ns(const struct pdnn_join_job *job) {
    uint64_t now_ns = pdnn_clock_ns(), end_ns = pdnn_session_end_ns(job->session);
    return !end_ns ? UINT64_MAX : end_ns > now_ns ? end_ns - now_ns : 0;
}

/* Lists what is free and can be measured here, as far as at least one visit fits into the time. */
static void list_candidates(struct pdnn_join_job *job) {
    const struct pdnn_session *session = job->session;
    uint64_t left_ns = pdnn_join_left_ns(job);
    job->n_candidates = 0;
    job->has_late = false;
    for (size_t i = 0; i < session->n_tasks; i++) {
        uint32_t task = job->order[i];
        if (!job->is_runnable[task] || job->leases.state_of[task] != PDNN_LEASE_FREE)
            continue;
        uint64_t visit_ns = session->tasks[task].visit_ns;
        if (!left_ns || visit_ns > left_ns || visit_ns == UINT64_MAX) {
            job->has_late = true;
            continue;
        }
        job->candidate[job->n_candidates] = task;
        job->candidate_us[job->n_candidates++] = job->item[task].cost_us;
    }
}

/* Processes with a lease that may be alive, and this one. */
static size_t count_workers(const struct pdnn_leases *leases) {
    size_t count = 1;
    for (size_t i = 0; i < leases->count; i++)
        count += leases->lease[i].state == PDNN_LEASE_HELD && !leases->lease[i].is_stale;
    return count;
}

/* Claims the next batch; job->lease is SIZE_MAX if another process was first. */
static enum pdnn_status claim(struct pdnn_join_job *job, struct pdnn_err *err) {
    uint64_t left_us = pdnn_join_left_ns(job) / 1000, cost_us = 0;
    size_t most =
        pdnn_deal_batch(job->candidate_us, job->n_candidates, count_workers(&job->leases), job->last_us);
    size_t count = 0;
    while (count < most && (!count || cost_us + job->candidate_us[count] <= left_us))
        cost_us += job->candidate_us[count++];
    enum pdnn_status status =
        pdnn_leases_claim(&job->leases, job->candidate, count, cost_us, &job->lease, err);
    if (status == PDNN_OK && job->lease != SIZE_MAX)
        job->last_us = cost_us;
    return status;
}

/* Frees what a dead process held. */
static enum pdnn_status take_over(struct pdnn_join_job *job, size_t lease, struct pdnn_err *err) {
    const struct pdnn_lease *held = &job->leases.lease[lease];
    struct pdnn_visits visits = {0};
    uint32_t *done = pdnn_alloc(held->count + 1, sizeof *done);
    size_t n_done = 0;
    pdnn_join_read_part(job, held, &visits);
    for (size_t i = 0; i < held->count; i++) {
        if (pdnn_join_is_done(job, held->instance[i], &visits))
            done[n_done++] = held->instance[i];
    }
    enum pdnn_status status = pdnn_leases_end(&job->leases, lease, done, n_done, err);
    pdnn_visits_finish(&visits);
    free(done);
    return status;
}

/* Takes over from the dead. *waits: some holder has given no sign of life so far, and may still do so. */
static enum pdnn_status look_around(struct pdnn_join_job *job, bool *waits, struct pdnn_err *err) {
    struct pdnn_leases *leases = &job->leases;
    uint64_t now_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_leases_read(leases, err);
    if (!job->looked_ns || now_ns - job->looked_ns >= look_gap_ns(job)) {
        pdnn_leases_watch(leases);
        job->looked_ns = now_ns;
    }
    *waits = false;
    for (size_t i = 0; i < leases->count && status == PDNN_OK; i++) {
        if (leases->lease[i].state != PDNN_LEASE_HELD)
            continue;
        if (leases->lease[i].is_stale)
            status = take_over(job, i, err);
        else
            *waits = *waits || !leases->lease[i].has_beaten;
    }
    return status;
}

/* Waits for others. That they were alive some time ago does not count. */
static void rest(struct pdnn_join_job *job) {
    for (size_t i = 0; i < job->leases.count && !job->is_idle; i++)
        job->leases.lease[i].has_beaten = false;
    job->is_idle = true;
    const uint64_t ns = look_gap_ns(job);
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

static enum pdnn_status work(struct pdnn_join_job *job, struct pdnn_err *err) {
    bool waits, has_freed;
    enum pdnn_status status = PDNN_OK;
    while (status == PDNN_OK && !job->time_is_up) {
        if (*job->stop)
            return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        status = look_around(job, &waits, err);
        if (status != PDNN_OK)
            break;
        list_candidates(job);
        if (!job->n_candidates && !pdnn_join_left_ns(job))
            break;
        if (!job->n_candidates && job->is_idle && !waits) {
            status = pdnn_join_void_damaged(job, &has_freed, err);
            if (!has_freed)
                break;
            continue;
        }
        if (!job->n_candidates) {
            rest(job);
            continue;
        }
        job->is_idle = false;
        if (!job->has_part) {
            status = pdnn_join_make_part(job, err);
            continue;
        }
        status = claim(job, err);
        if (status == PDNN_OK && job->lease != SIZE_MAX)
            status = pdnn_join_run_batch(job, err);
    }
    return status;
}

static void sum_up(struct pdnn_join_job *job) {
    const struct pdnn_leases *leases = &job->leases;
    struct pdnn_join_result *result = &job->result;
    result->instances = job->session->n_tasks;
    for (size_t i = 0; leases->state_of && job->is_runnable && i < result->instances; i++) {
        bool is_free = leases->state_of[i] == PDNN_LEASE_FREE;
        result->done += leases->state_of[i] == PDNN_LEASE_DONE || (is_free && !job->is_runnable[i]);
        result->free += is_free && job->is_runnable[i];
        result->held += leases->state_of[i] >= 0;
    }
    result->n_holders = count_workers(leases) - 1;
    result->sweep.out_of_time = result->sweep.out_of_time || job->has_late;
}

static void finish(struct pdnn_join_job *job) {
    pdnn_sweep_workers_destroy(job->workers);
    if (job->has_part)
        pdnn_sweep_directory_close(&job->sweep);
    pdnn_leases_close(&job->leases);
    pdnn_visits_finish(&job->known);
    free(job->is_runnable);
    free(job->item);
    free(job->order);
    free(job->candidate);
    free(job->candidate_us);
}

enum pdnn_status pdnn_join_run(const struct pdnn_join_request *request, struct pdnn_join_result *result,
                               struct pdnn_err *err) {
    struct pdnn_join_job job = {.request = request,
                                .session = request->sweep.session,
                                .sweep = {.request = request->sweep, .session = request->sweep.session},
                                .leases = {.folder.fd = -1}};
    struct pdnn_holder self;
    const struct pdnn_lease_plan plan = {.instances = job.session->n_tasks,
                                         .instances_hash = hash_instances(job.session),
                                         .expiry_ns = request->expiry_ns,
                                         .allow_slow = request->sweep.allow_slow};
    if (!pdnn_holder_init(&self, job.session->host.name))
        return pdnn_fail(err, PDNN_IO, "no random numbers: %s", strerror(errno));
    job.stop = pdnn_session_rules(job.session).stop;
    enum pdnn_status status = pdnn_join_make_directory(request->sweep.path, job.session->spec.text, err);
    if (status == PDNN_OK)
        status = pdnn_leases_open(&job.leases, request->sweep.path, &plan, &self, err);
    if (status == PDNN_OK) {
        rank_tasks(&job);
        pdnn_session_predict(job.session);
        status = work(&job, err);
    }
    sum_up(&job);
    *result = job.result;
    finish(&job);
    return status;
}
