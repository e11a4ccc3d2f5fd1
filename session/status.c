#define _POSIX_C_SOURCE 200809L
#include "session/status.h"

#include "base/memory.h"
#include "results/query/selection.h"
#include "results/store/tables.h"
#include "session/join/leases.h"
#include "session/merge/merge.h"
#include "session/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    double *visit_s;   /* by id: predicted; 0: the spec does not have it */
    struct pace *pace; /* by source */
};

static void note_visits(struct reading *reading) {
    for (size_t i = 0; i < reading->job.n_visits; i++) {
        const struct pdnn_merge_visit *visit = &reading->job.visits[i];
        struct pace *pace = &reading->pace[visit->source];
        pace->visits++;
        pace->predicted_s += reading->visit_s[visit->instance];
        if (!visit->started_ms)
            continue;
        pace->first_ms =
            !pace->last_ms || visit->started_ms < pace->first_ms ? visit->started_ms : pace->first_ms;
        pace->last_ms = visit->started_ms > pace->last_ms ? visit->started_ms : pace->last_ms;
    }
}

/* How long visits to the task take; {0}: it cannot run. */
static struct pdnn_prediction predict(const struct pdnn_session *session, size_t task) {
    const struct pdnn_task *of = &session->tasks[task];
    const struct pdnn_totals *totals = &session->rows[task].totals;
    return of->closed ? (struct pdnn_prediction){.step = 0}
                      : pdnn_predict(NULL, &session->spec, &of->instance, totals);
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
    if (stat(source->scan.visits.path, &info) != 0)
        return;
    pace->written_s = (int64_t)info.st_mtime;
    pace->is_here =
        source->host != UINT32_MAX && strcmp(reading->job.hosts.text[source->host], host->name) == 0;
    pace->is_locked = pace->is_here && is_locked(&info);
    pace->is_top = reading->job.n_sources > 1 && strcmp(source->path, reading->job.request->sources[0]) == 0;
}

static enum pdnn_status read_journals(struct reading *reading, struct pdnn_err *err) {
    struct pdnn_merge_job *job = &reading->job;
    struct pdnn_host host;
    if (pdnn_host_read(&host, err) != PDNN_OK)
        return err->status;
    reading->pace = pdnn_alloc(job->n_sources + 1, sizeof *reading->pace);
    for (size_t i = 0; i < job->n_sources; i++)
        note_source(reading, &host, i);
    if (pdnn_merge_find_visits(job, err) != PDNN_OK || pdnn_merge_order(job, err) != PDNN_OK)
        return err->status;
    reading->visit_s = pdnn_alloc(job->ids.count + 1, sizeof *reading->visit_s);
    for (size_t i = 0; i < job->session.n_tasks; i++)
        if (job->id_of_task[i] != SIZE_MAX)
            reading->visit_s[job->id_of_task[i]] = predict(&job->session, i).visit;
    note_visits(reading);
    return PDNN_OK;
}

/* Returns the predicted time of the missing visits, with those that are likely beyond the rounds. */
static double count_instances(const struct reading *reading, struct pdnn_status_report *report) {
    static const struct pdnn_standing none = {0};
    const struct pdnn_merge_job *job = &reading->job;
    double missing_s = 0;
    for (size_t i = 0; i < job->session.n_tasks; i++) {
        size_t id = job->id_of_task[i];
        const struct pdnn_standing *standing = id == SIZE_MAX ? &none : &job->of[id].standing;
        const struct pdnn_prediction all = predict(&job->session, i);
        if (pdnn_tally_add(&report->tally, &job->session, i, standing) != PDNN_STAGE_DONE)
            missing_s += all.usual - (double)pdnn_standing_rounds(standing) * all.visit;
    }
    for (size_t id = 0; id < job->ids.count; id++)
        if (!job->of[id].is_listed)
            pdnn_tally_add(&report->tally, &job->session, SIZE_MAX, &job->of[id].standing);
    return missing_s;
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
    if (report->is_joined || report->tally.stage[PDNN_STAGE_DONE] == report->tally.instances)
        report->working = 0;
    for (size_t i = 0; i < report->leases.count; i++)
        report->working +=
            report->leases.lease[i].state == PDNN_LEASE_HELD && !report->leases.lease[i].is_stale;
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
    struct pdnn_leases *leases = &report->leases;
    const struct pdnn_holder self = pdnn_holder_self("status");
    report->is_joined = pdnn_leases_exist(directory);
    if (!report->is_joined)
        return PDNN_OK;
    if (pdnn_leases_open(leases, directory, NULL, &self, err) != PDNN_OK)
        return err->status;
    pdnn_leases_judge(leases);
    for (size_t i = 0; i < session->n_tasks && i < leases->plan.instances; i++)
        report->free += leases->state_of[i] == PDNN_LEASE_FREE && !session->tasks[i].closed;
    return PDNN_OK;
}

/* What was imported has rows and no journal: nothing is missing, and nobody works on it. */
static enum pdnn_status read_import(const char *directory, struct pdnn_status_report *report,
                                    struct pdnn_err *err) {
    struct pdnn_results results;
    if (pdnn_results_open(&results, &directory, 1, NULL, err) != PDNN_OK)
        return err->status;
    report->visits_per_hour = report->seconds_left = NAN;
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
    *report = (struct pdnn_status_report){.leases.folder.fd = -1};
    if (is_import)
        return read_import(directory, report, err);
    const struct pdnn_merge_request request = {.sources = &directory, .n_sources = 1};
    /* The directory of a shard is complete with the shard's instances. */
    struct reading reading = {.job = {.request = &request, .output.fd = -1, .takes_shard = true}};
    struct pdnn_merge_job *job = &reading.job;
    const bool is_read = pdnn_merge_find_sources(job, err) == PDNN_OK &&
                         pdnn_merge_open_session(job, err) == PDNN_OK &&
                         read_journals(&reading, err) == PDNN_OK &&
                         read_leases(&job->session, directory, report, err) == PDNN_OK;
    if (is_read) {
        measure_pace(&reading, report, count_instances(&reading, report));
        report->unusable = count_unusable(directory);
    } else {
        pdnn_leases_close(&report->leases);
    }
    pdnn_merge_finish(job);
    free(reading.visit_s);
    free(reading.pace);
    return is_read ? PDNN_OK : err->status;
}
