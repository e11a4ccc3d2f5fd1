#define _POSIX_C_SOURCE 200809L
#include "session/status.h"

#include "base/memory.h"
#include "results/query/selection.h"
#include "results/store/results.h"
#include "results/store/tables.h"
#include "session/join/leases.h"
#include "session/merge/job.h"
#include "session/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A visit of one of the journals. */
struct seen {
    uint32_t id, source, host;
    enum pdnn_outcome outcome;
    unsigned flags;
    int64_t started_unix_ms;
    double median_ns;
};

/* What a journal says about whoever writes it. */
struct pace {
    int64_t first_ms, last_ms, written_s;
    bool is_here, is_locked; /* on this host; somebody has the journal open for writing */
    bool is_top;             /* what was merged of the parts, and may have gone on since */
    size_t visits;
    double predicted_s; /* of these visits */
};

struct reading {
    struct pdnn_merge_job job;
    struct seen *seen;
    size_t n_seen, room;
    struct pdnn_standing *standing; /* by id */
    size_t *task_of_id;             /* SIZE_MAX: the spec does not have it */
    struct pace *pace;              /* by source */
    double *visit_s;                /* by task: predicted */
};

static void ignore(void *user, const char *text) {
    (void)user;
    (void)text;
}

static bool note_visit(void *user, size_t number, size_t id, const struct pdnn_scanned_visit *scanned) {
    struct reading *reading = user;
    struct pace *pace = &reading->pace[number];
    const struct pdnn_merge_job *job = &reading->job;
    const struct pdnn_visit visit = pdnn_row_visit(&scanned->fields);
    if (visit.started_unix_ms) {
        bool is_first = !pace->last_ms;
        pace->first_ms =
            is_first || visit.started_unix_ms < pace->first_ms ? visit.started_unix_ms : pace->first_ms;
        pace->last_ms = visit.started_unix_ms > pace->last_ms ? visit.started_unix_ms : pace->last_ms;
    }
    pace->visits++;
    reading->seen = pdnn_grow(reading->seen, &reading->room, reading->n_seen, sizeof *reading->seen);
    reading->seen[reading->n_seen++] = (struct seen){
        (uint32_t)id,   (uint32_t)number, pdnn_merge_host_of(&job->source[number], job->ids.text[id]),
        visit.outcome,  visit.flags,      visit.started_unix_ms,
        visit.median_ns};
    return true;
}

/* As a merge sorts them: by instance, host and start. Of two that are equal, one is a copy. */
static int compare_seen(const void *left, const void *right) {
    const struct seen *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->started_unix_ms != b->started_unix_ms)
        return a->started_unix_ms < b->started_unix_ms ? -1 : 1;
    if (a->outcome != b->outcome || a->flags != b->flags)
        return a->outcome != b->outcome ? (int)a->outcome - (int)b->outcome : a->flags < b->flags ? -1 : 1;
    return (a->median_ns > b->median_ns) - (a->median_ns < b->median_ns);
}

/* What the visits from `from` on come to that are of one instance on one host; *end: behind the last. */
static struct pdnn_standing add_up(const struct reading *reading, size_t from, size_t *end) {
    const struct seen *first = &reading->seen[from], *seen = first, *last = reading->seen + reading->n_seen;
    struct pdnn_standing standing = {0};
    for (; seen < last && seen->id == first->id && seen->host == first->host; seen++) {
        const struct pdnn_visit visit = {
            .outcome = seen->outcome, .flags = seen->flags, .started_unix_ms = seen->started_unix_ms};
        if (seen == first || compare_seen(seen - 1, seen) != 0)
            pdnn_standing_add(&standing, &visit);
    }
    *end = from + (size_t)(seen - first);
    return standing;
}

/* What each instance has on the host that a merge would keep. */
static void judge(struct reading *reading) {
    const struct pdnn_texts *hosts = &reading->job.hosts;
    const char *best_host = "";
    reading->standing = pdnn_alloc(reading->job.ids.count + 1, sizeof *reading->standing);
    if (reading->n_seen)
        qsort(reading->seen, reading->n_seen, sizeof *reading->seen, compare_seen);
    for (size_t from = 0, end; from < reading->n_seen; from = end) {
        const struct seen *first = &reading->seen[from];
        const char *host = first->host < hosts->count ? hosts->text[first->host] : "";
        struct pdnn_standing standing = add_up(reading, from, &end), *best = &reading->standing[first->id];
        int order = best->visits ? pdnn_standing_compare(&standing, best) : 1;
        if (order > 0 || (order == 0 && strcmp(host, best_host) < 0)) {
            *best = standing;
            best_host = host;
        }
    }
}

/* Which task each instance is, and how long its visits were to take. */
static enum pdnn_status find_tasks(struct reading *reading, struct pdnn_err *err) {
    struct pdnn_merge_job *job = &reading->job;
    reading->task_of_id = pdnn_alloc(job->ids.count + 1, sizeof *reading->task_of_id);
    for (size_t i = 0; i < job->ids.count; i++)
        reading->task_of_id[i] = SIZE_MAX;
    if (pdnn_merge_find_tasks(job, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < job->session.n_tasks; i++)
        if (job->id_of_task[i] != SIZE_MAX)
            reading->task_of_id[job->id_of_task[i]] = i;
    for (size_t i = 0; i < reading->n_seen; i++) {
        size_t task = reading->task_of_id[reading->seen[i].id];
        if (task != SIZE_MAX)
            reading->pace[reading->seen[i].source].predicted_s += reading->visit_s[task];
    }
    return PDNN_OK;
}

/* Whether a process that can be seen from here has locked the file. Locks are only looked at: taking one
 * would get in the way of a sweep that begins. */
static bool is_locked(const struct stat *file) {
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    bool found = false;
    while (locks && !found && fgets(line, sizeof line, locks)) {
        unsigned long long inode = 0;
        found = strstr(line, "FLOCK") && sscanf(line, "%*s %*s %*s WRITE %*d %*x:%*x:%llu", &inode) == 1 &&
                inode == file->st_ino;
    }
    if (locks)
        fclose(locks);
    return found;
}

static void note_source(struct reading *reading, const struct pdnn_host *host, size_t number) {
    const struct pdnn_merge_source *source = &reading->job.source[number];
    struct pace *pace = &reading->pace[number];
    struct stat info;
    if (fstat(source->scan.visits.fd, &info) != 0)
        return;
    pace->written_s = (int64_t)info.st_mtime;
    pace->is_here =
        source->host != UINT32_MAX && strcmp(reading->job.hosts.text[source->host], host->name) == 0;
    pace->is_locked = pace->is_here && is_locked(&info);
    pace->is_top = reading->job.n_sources > 1 && strcmp(source->path, reading->job.request->sources[0]) == 0;
}

static enum pdnn_status read_journals(struct reading *reading, struct pdnn_err *err) {
    struct pdnn_host host;
    enum pdnn_status status = pdnn_host_read(&host, err);
    for (size_t i = 0; i < reading->job.n_sources && status == PDNN_OK; i++) {
        note_source(reading, &host, i);
        status = pdnn_merge_scan(&reading->job, i, note_visit, reading, err);
    }
    return status;
}

/* The spec's tasks with their predicted visits. */
static void prepare(struct reading *reading) {
    const struct pdnn_session *session = &reading->job.session;
    reading->visit_s = pdnn_alloc(session->n_tasks + 1, sizeof *reading->visit_s);
    reading->pace = pdnn_alloc(reading->job.n_sources + 1, sizeof *reading->pace);
    for (size_t i = 0; i < session->n_tasks; i++)
        if (!session->tasks[i].closed)
            reading->visit_s[i] =
                pdnn_predict(NULL, &session->spec, &session->tasks[i].instance, &session->rows[i].totals)
                    .visit;
}

static void count_instances(const struct reading *reading, struct pdnn_status_report *report,
                            double *missing_s) {
    static const struct pdnn_standing none = {0};
    const struct pdnn_session *session = &reading->job.session;
    size_t rounds = (size_t)session->spec.measure.rounds;
    for (size_t i = 0; i < session->n_tasks; i++) {
        size_t id = reading->job.id_of_task[i];
        const struct pdnn_standing *standing = id == SIZE_MAX ? &none : &reading->standing[id];
        if (pdnn_tally_add(&report->tally, session, i, standing) != PDNN_STAGE_DONE)
            *missing_s += (double)(rounds - pdnn_standing_rounds(standing)) * reading->visit_s[i];
    }
    for (size_t id = 0; id < reading->job.ids.count; id++)
        if (reading->task_of_id[id] == SIZE_MAX)
            pdnn_tally_add(&report->tally, session, SIZE_MAX, &reading->standing[id]);
}

static void count_holders(struct pdnn_status_report *report) {
    report->working = 0;
    for (size_t i = 0; i < report->n_holders; i++)
        report->working += !report->holder[i].is_stale;
}

/* Only times of one clock are compared: of the file system with each other, and of a journal's host. */
static void measure_pace(const struct reading *reading, struct pdnn_status_report *report, double missing_s) {
    enum { REST_S = 600 };
    size_t n_sources = reading->job.n_sources;
    int64_t newest = 0;
    double span_s = 0, predicted_s = 0;
    size_t visits = 0;
    for (size_t i = 0; i < n_sources; i++)
        newest = reading->pace[i].written_s > newest ? reading->pace[i].written_s : newest;
    for (size_t i = 0; i < n_sources; i++) {
        const struct pace *pace = &reading->pace[i];
        if (pace->is_top)
            continue;
        report->directories++;
        report->visits += pace->visits;
        report->working += pace->is_here ? pace->is_locked : newest - pace->written_s < REST_S;
        report->last_unix_ms = pace->last_ms > report->last_unix_ms ? pace->last_ms : report->last_unix_ms;
        if (pace->visits < 2)
            continue;
        /* The last visit's own time is not in the span, so neither is the visit. */
        double share = (double)(pace->visits - 1) / (double)pace->visits;
        span_s += (double)(pace->last_ms - pace->first_ms) / 1e3;
        predicted_s += pace->predicted_s * share;
        visits += pace->visits - 1;
    }
    if (report->tally.stage[PDNN_STAGE_DONE] == report->tally.instances)
        report->working = 0;
    if (report->is_joined)
        count_holders(report);
    report->visits_per_hour = report->seconds_left = NAN;
    if (span_s > 0 && visits && report->working)
        report->visits_per_hour = (double)visits / span_s * 3600 * (double)report->working;
    if (missing_s <= 0)
        report->seconds_left = 0;
    else if (span_s > 0 && predicted_s > 0 && report->working)
        report->seconds_left = missing_s * span_s / predicted_s / (double)report->working;
}

static enum pdnn_status read_leases(const struct pdnn_session *session, const char *directory,
                                    struct pdnn_status_report *report, struct pdnn_err *err) {
    struct pdnn_leases leases;
    struct pdnn_holder self;
    if (!pdnn_leases_exist(directory))
        return PDNN_OK;
    if (!pdnn_holder_init(&self, "status"))
        return pdnn_fail(err, PDNN_IO, "no random numbers");
    enum pdnn_status status = pdnn_leases_open(&leases, directory, NULL, &self, err);
    report->holder = pdnn_alloc(leases.count + 1, sizeof *report->holder);
    if (status == PDNN_OK)
        pdnn_leases_judge(&leases);
    for (size_t i = 0; i < leases.count && status == PDNN_OK; i++) {
        const struct pdnn_lease *lease = &leases.lease[i];
        report->leases_ended += lease->state == PDNN_LEASE_ENDED;
        report->leases_lost += lease->state == PDNN_LEASE_LOST;
        if (lease->state != PDNN_LEASE_HELD)
            continue;
        struct pdnn_status_holder *holder = &report->holder[report->n_holders++];
        memcpy(holder->part, lease->holder.part, sizeof holder->part);
        holder->instances = lease->count;
        holder->is_stale = lease->is_stale;
        report->held += lease->count;
    }
    for (size_t i = 0; status == PDNN_OK && i < session->n_tasks && i < leases.plan.instances; i++)
        report->free += leases.state_of[i] == PDNN_LEASE_FREE && !session->tasks[i].closed;
    report->is_joined = true;
    pdnn_leases_close(&leases);
    return status;
}

void pdnn_status_finish(struct pdnn_status_report *report) {
    free(report->holder);
    *report = (struct pdnn_status_report){.directories = 0};
}

/* What was imported has rows and no journal: nothing is missing, and nobody works on it. */
static enum pdnn_status read_import(const char *directory, struct pdnn_status_report *report,
                                    struct pdnn_err *err) {
    struct pdnn_results results;
    if (pdnn_results_open(&results, &directory, 1, err) != PDNN_OK)
        return err->status;
    *report = (struct pdnn_status_report){.visits_per_hour = NAN, .seconds_left = NAN};
    for (size_t row = 0; row < results.table.n_rows; row++) {
        const char *status = pdnn_results_text(&results, row, results.at[PDNN_RESULT_STATUS]);
        if (pdnn_outcome_find(status) < PDNN_OUTCOME_COUNT)
            report->tally.counts[pdnn_outcome_find(status)]++;
    }
    report->tally.instances = report->tally.stage[PDNN_STAGE_DONE] = results.table.n_rows;
    pdnn_results_close(&results);
    return PDNN_OK;
}

/* Where no tables are written yet, there are no intervals either. */
static size_t count_unusable(const char *directory) {
    static const char *const only[] = {"row_flags=unusable"};
    struct pdnn_selection selection;
    if (pdnn_selection_open_all(&selection, &directory, 1, only, 1, NULL) != PDNN_OK)
        return 0;
    const size_t count = selection.count;
    pdnn_selection_close(&selection);
    return count;
}

enum pdnn_status pdnn_status_read(const char *directory, struct pdnn_status_report *report,
                                  struct pdnn_err *err) {
    struct pdnn_str imported_from = {0};
    pdnn_environment_get(directory, "imported_from", &imported_from);
    const bool is_import = imported_from.length > 0;
    pdnn_str_finish(&imported_from);
    if (is_import)
        return read_import(directory, report, err);
    const struct pdnn_merge_request request = {.sources = &directory, .n_sources = 1, .note = ignore};
    struct reading reading = {.job = {.request = &request, .output.fd = -1}};
    struct pdnn_merge_job *job = &reading.job;
    double missing_s = 0;
    *report = (struct pdnn_status_report){.directories = 0};
    enum pdnn_status status = pdnn_merge_find_sources(job, err);
    /* The directory of a shard is complete with the shard's instances. */
    if (status == PDNN_OK)
        status = pdnn_merge_open_session(job, job->n_sources == 1, err);
    if (status == PDNN_OK)
        prepare(&reading);
    if (status == PDNN_OK)
        status = read_journals(&reading, err);
    if (status == PDNN_OK)
        status = find_tasks(&reading, err);
    if (status == PDNN_OK)
        status = read_leases(&job->session, directory, report, err);
    if (status == PDNN_OK) {
        judge(&reading);
        count_instances(&reading, report, &missing_s);
        measure_pace(&reading, report, missing_s);
        report->unusable = count_unusable(directory);
    }
    pdnn_session_finish(&job->session);
    pdnn_merge_close_sources(job);
    pdnn_texts_finish(&job->hosts);
    pdnn_arena_finish(&job->arena);
    pdnn_texts_finish(&job->ids);
    free(job->id_of_task);
    free(reading.seen);
    free(reading.standing);
    free(reading.task_of_id);
    if (status != PDNN_OK)
        pdnn_status_finish(report);
    free(reading.pace);
    free(reading.visit_s);
    return status;
}
