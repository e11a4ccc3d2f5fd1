/* The part of a session that makes sure the machine's roofs are there. */
#include "session/session.h"
#include "runtime/driver/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { THREAD_COUNTS_MAX = PDNN_CEILINGS_THREADS_MAX };
static const double least_seconds = 2, most_seconds = 5;

/* A sorted list without duplicates. Counts beyond its capacity are dropped, and their rows get no roofs. */
struct counts {
    int64_t threads[THREAD_COUNTS_MAX];
    size_t count;
};

static void counts_add(struct counts *counts, int64_t threads) {
    size_t at = 0;
    while (at < counts->count && counts->threads[at] < threads)
        at++;
    if ((at < counts->count && counts->threads[at] == threads) || counts->count == THREAD_COUNTS_MAX)
        return;
    for (size_t i = counts->count++; i > at; i--)
        counts->threads[i] = counts->threads[i - 1];
    counts->threads[at] = threads;
}

static bool ceilings_have(const struct pdnn_ceilings *ceilings, int64_t threads) {
    for (size_t i = 0; i < ceilings->count; i++)
        if (ceilings->row[i].threads == threads)
            return true;
    return false;
}

/* The thread counts that are wanted but not measured yet. */
static struct counts missing_counts(const struct pdnn_session *session) {
    struct counts wanted = {0}, missing = {0};
    for (size_t i = 0; i < session->n_tasks; i++)
        if (!session->tasks[i].closed)
            counts_add(&wanted, session->tasks[i].instance.setting[PDNN_SETTING_THREADS]);
    for (size_t i = 0; i < wanted.count; i++)
        if (!ceilings_have(session->ceilings, wanted.threads[i]))
            counts_add(&missing, wanted.threads[i]);
    return missing;
}

struct watcher {
    const struct pdnn_session_hooks *hooks;
    int64_t threads;
    size_t done, all;
};

static void show(void *user, double fraction) {
    const struct watcher *watcher = user;
    watcher->hooks->roofs(watcher->hooks->user, ((double)watcher->done + fraction) / (double)watcher->all,
                          watcher->threads);
}

uint64_t pdnn_ceilings_limit_ns(double seconds, uint64_t overtime_ns) {
    enum { LENIENCE = 4 };
    return (uint64_t)(LENIENCE * seconds * 1e9) + overtime_ns;
}

enum pdnn_status pdnn_measure_ceilings(const struct pdnn_ceilings_job *request,
                                       const struct pdnn_session_hooks *hooks, struct pdnn_ceilings *ceilings,
                                       struct pdnn_err *err) {
    const volatile int *stop = hooks->watch(hooks->user);
    const struct pdnn_host *host = request->host;
    struct pdnn_worker worker;
    enum pdnn_status status =
        pdnn_worker_start(&worker, host, PDNN_ISA_DEFAULT, host->memory_limit_bytes, err);
    if (status != PDNN_OK)
        return status;
    struct watcher watcher = {.hooks = hooks, .all = request->n_threads};
    for (; status == PDNN_OK && watcher.done < watcher.all; watcher.done++) {
        watcher.threads = request->threads[watcher.done];
        show(&watcher, 0);
        status = pdnn_worker_ceilings(&worker, watcher.threads, request->seconds_each, request->time_limit_ns,
                                      stop, show, &watcher, ceilings, err);
    }
    hooks->ended(hooks->user);
    pdnn_worker_stop(&worker);
    return status;
}

enum pdnn_status pdnn_session_measure_ceilings(struct pdnn_session *session, double seconds,
                                               struct pdnn_err *err) {
    struct counts counts = missing_counts(session);
    if (!counts.count)
        return PDNN_OK;
    double each = seconds / (double)counts.count;
    each = fmin(fmax(each, least_seconds), most_seconds);
    const struct pdnn_ceilings_job request = {&session->host, counts.threads, counts.count, each,
                                              pdnn_ceilings_limit_ns(each, session->spec.limits.time_ns)};
    return pdnn_measure_ceilings(&request, session->hooks, session->ceilings, err);
}

void pdnn_session_warn_ceilings(const struct pdnn_session *session, const char *path) {
    struct counts counts = missing_counts(session);
    for (size_t i = 0; i < counts.count; i++)
        pdnn_session_warn(session,
                          "%s has no roofs for %" PRId64 " thread%s: rows with that many are not placed",
                          path, counts.threads[i], counts.threads[i] == 1 ? "" : "s");
}
