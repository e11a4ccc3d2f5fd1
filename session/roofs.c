/* The part of a session that makes sure the machine's roofs are there. */
#define _GNU_SOURCE /* environ */
#include "session/session.h"

#include "base/clock.h"
#include "runtime/driver/worker/worker.h"
#include "session/roof_cache.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Roofs that `paradnn ceilings` took longer for are used instead, while they are kept. */
static const double quick_seconds = 1.5;

/* For the link between ranks; a slow one takes longer for the first message of a size. */
static const double link_seconds = 2;
static const uint64_t link_overtime_ns = UINT64_C(60000000000);

/* The share of the time left that measuring roofs may take. */
static const double share_most = 1.0 / 3;

/* Ascending. Counts beyond its capacity are dropped, and their rows get no roofs. */
struct counts {
    int64_t threads[PDNN_ROOF_ROWS_THREADS_MAX];
    size_t count;
};

static void counts_add(struct counts *counts, int64_t threads) {
    size_t at = 0;
    while (at < counts->count && counts->threads[at] < threads)
        at++;
    if ((at < counts->count && counts->threads[at] == threads) || counts->count == PDNN_ROOF_ROWS_THREADS_MAX)
        return;
    memmove(counts->threads + at + 1, counts->threads + at, (counts->count++ - at) * sizeof threads);
    counts->threads[at] = threads;
}

bool pdnn_roof_rows_have_threads(const struct pdnn_roof_rows *roof_rows, int64_t threads) {
    for (size_t i = 0; i < roof_rows->count; i++)
        if (roof_rows->row[i].threads == threads)
            return true;
    return false;
}

static bool has_link(const struct pdnn_roof_rows *roof_rows, int64_t ranks) {
    return ranks < 2 || pdnn_roof_rows_have_link(roof_rows, ranks);
}

/* The values of this setting that open tasks have and no row of the roofs. */
static struct counts missing(const struct pdnn_session *session, enum pdnn_setting setting,
                             bool (*has)(const struct pdnn_roof_rows *roof_rows, int64_t value)) {
    struct counts missing = {0};
    for (size_t i = 0; i < session->n_tasks; i++) {
        const int64_t value = session->tasks[i].instance.setting[setting];
        if (!session->tasks[i].closed && !has(session->roof_rows, value))
            counts_add(&missing, value);
    }
    return missing;
}

struct watcher {
    const struct pdnn_roof_rows_job *request;
    const struct pdnn_session_hooks *hooks;
    struct pdnn_worker worker;
    size_t done; /* of the request's thread counts */
};

static void show(void *user, double fraction) {
    const struct watcher *watcher = user;
    const struct pdnn_roof_rows_job *request = watcher->request;
    double done = (double)watcher->done + fraction, all = (double)request->n_threads;
    watcher->hooks->roofs(watcher->hooks->user, done / all, request->threads[watcher->done],
                          (all - done) * request->seconds_each);
}

static enum pdnn_status measure(void *user, double seconds, struct pdnn_roof_rows *roof_rows,
                                struct pdnn_err *err) {
    struct watcher *watcher = user;
    const struct pdnn_session_hooks *hooks = watcher->hooks;
    const struct pdnn_watch watch = {.time_limit_ns = watcher->request->time_limit_ns,
                                     .stop = hooks->watch(hooks->user),
                                     .progress = show,
                                     .user = watcher};
    if (seconds > 0)
        show(watcher, 0);
    return pdnn_worker_roofs(&watcher->worker, watcher->request->threads[watcher->done], seconds, &watch,
                             roof_rows, err);
}

uint64_t pdnn_roof_rows_limit_ns(double seconds, uint64_t overtime_ns) {
    enum { LENIENCE = 4 };
    return (uint64_t)(LENIENCE * seconds * 1e9) + overtime_ns;
}

static struct pdnn_roofs_job roofs_job(const struct pdnn_host *host, const char *cache, int64_t threads) {
    return (struct pdnn_roofs_job){.directory = cache,
                                   .context = {.host = host,
                                               .build = pdnn_build,
                                               .isa = pdnn_isa_names[PDNN_ISA_DEFAULT],
                                               .threads = threads,
                                               .variables = environ},
                                   .now_unix_ms = pdnn_clock_unix_ms()};
}

void pdnn_recall_roofs(const struct pdnn_host *host, const char *cache, int64_t threads,
                       struct pdnn_roof_rows *roof_rows) {
    const struct pdnn_roofs_job job = roofs_job(host, cache, threads);
    if (!pdnn_roof_rows_have_threads(roof_rows, threads))
        pdnn_roof_cache_recall(&job, roof_rows);
}

enum pdnn_status pdnn_measure_roofs(const struct pdnn_roof_rows_job *request,
                                    const struct pdnn_session_hooks *hooks, struct pdnn_roof_rows *roof_rows,
                                    struct pdnn_err *err) {
    struct watcher watcher = {.request = request, .hooks = hooks};
    const struct pdnn_host *host = request->host;
    struct pdnn_str note = {0};
    enum pdnn_status status =
        pdnn_worker_start(&watcher.worker, host, PDNN_WORKER_PLAIN, host->memory_limit_bytes, err);
    if (status != PDNN_OK)
        return status;
    for (; status == PDNN_OK && watcher.done < request->n_threads; watcher.done++) {
        struct pdnn_roofs_job job = roofs_job(host, request->cache, request->threads[watcher.done]);
        job.software = pdnn_worker_software(&watcher.worker);
        job.seconds = request->seconds_each;
        job.must_measure = request->must_measure;
        job.measure = measure;
        job.user = &watcher;
        status = pdnn_roof_cache_get(&job, roof_rows, &note, err);
        if (status == PDNN_OK && note.length)
            hooks->note(hooks->user, note.text);
        pdnn_str_clear(&note);
    }
    pdnn_str_finish(&note);
    hooks->ended(hooks->user);
    pdnn_worker_stop(&watcher.worker);
    return status;
}

enum pdnn_status pdnn_session_measure_roofs(struct pdnn_session *session, struct pdnn_err *err) {
    const struct counts counts = missing(session, PDNN_SETTING_THREADS, pdnn_roof_rows_have_threads);
    if (!counts.count)
        return PDNN_OK;
    double most = pdnn_session_seconds_left(session) * share_most / (double)counts.count;
    if (most < quick_seconds) {
        pdnn_session_warn(session, "going on without roofs: too little time is left to measure them");
        return PDNN_OK;
    }
    uint64_t limit_ns = pdnn_roof_rows_limit_ns(quick_seconds, session->spec.limits.time_ns);
    const struct pdnn_roof_rows_job request = {.host = &session->host,
                                               .threads = counts.threads,
                                               .n_threads = counts.count,
                                               .seconds_each = quick_seconds,
                                               .time_limit_ns = (uint64_t)fmin((double)limit_ns, most * 1e9),
                                               .cache = session->cache};
    return pdnn_measure_roofs(&request, session->hooks, session->roof_rows, err);
}

enum pdnn_status pdnn_session_measure_links(struct pdnn_session *session, struct pdnn_err *err) {
    const struct pdnn_worker alone = {.pid = 0};
    const struct counts ranks = missing(session, PDNN_SETTING_RANKS, has_link);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < ranks.count && status == PDNN_OK; i++) {
        struct pdnn_worker worker = alone;
        const struct pdnn_watch watch = {.time_limit_ns =
                                             pdnn_roof_rows_limit_ns(link_seconds, link_overtime_ns),
                                         .stop = session->hooks->watch(session->hooks->user)};
        status = pdnn_worker_start_ranks(&worker, &session->host, PDNN_WORKER_PLAIN, ranks.threads[i],
                                         session->memory_limit_bytes, &alone, err);
        if (status == PDNN_OK)
            status = pdnn_worker_roofs(&worker, 0, link_seconds, &watch, session->roof_rows, err);
        pdnn_worker_stop(&worker);
    }
    return status;
}

void pdnn_session_warn_roofs(const struct pdnn_session *session, const char *path) {
    const struct counts counts = missing(session, PDNN_SETTING_THREADS, pdnn_roof_rows_have_threads);
    for (size_t i = 0; i < counts.count; i++)
        pdnn_session_warn(session,
                          "%s has no roofs for %" PRId64 " thread%s: rows with that many are not placed",
                          path, counts.threads[i], counts.threads[i] == 1 ? "" : "s");
}
