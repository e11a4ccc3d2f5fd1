#define _POSIX_C_SOURCE 200809L
#include "session/status.h"

#include "results/tables/record.h"
#include "results/tables/tables.h"
#include "session/leases.h"
#include "session/merge_job.h"
#include "session/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the journals say about a task. */
struct state {
    size_t ok, visits, crashes;
    enum pdnn_outcome last;
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
    struct state *state;   /* by task */
    struct state *top;     /* the same of what was merged of the parts */
    struct pace *pace;     /* by source */
    double *visit_s;       /* by task: predicted */
    struct pdnn_texts ids; /* of the tasks, by task */
};

static void ignore(void *user, const char *text) {
    (void)user;
    (void)text;
}

/* A piece as a text of its own. */
static const char *plain(struct pdnn_piece piece, char *buffer, size_t size) {
    size_t quoted = piece.length > 1 && *piece.text == '"', length = piece.length - 2 * quoted;
    length = length < size ? length : size - 1;
    memcpy(buffer, piece.text + quoted, length);
    buffer[length] = 0;
    return buffer;
}

static void note_visit(struct reading *reading, struct pace *pace, const struct pdnn_scanned_visit *visit) {
    char text[PDNN_ID_TEXT], today[PDNN_ID_TEXT];
    size_t task = pdnn_texts_find(&reading->ids,
                                  pdnn_instance_reprint(plain(visit->fields.id, text, sizeof text), today));
    int64_t started;
    if (pdnn_utc_parse(plain(visit->fields.started, text, sizeof text), &started)) {
        pace->first_ms = pace->visits ? (started < pace->first_ms ? started : pace->first_ms) : started;
        pace->last_ms = pace->visits && started < pace->last_ms ? pace->last_ms : started;
    }
    pace->visits++;
    if (task == SIZE_MAX)
        return;
    struct state *state = pace->is_top ? &reading->top[task] : &reading->state[task];
    state->last = pdnn_outcome_find(plain(visit->fields.status, text, sizeof text));
    state->visits++;
    state->ok += state->last == PDNN_OUTCOME_OK;
    state->crashes = state->last == PDNN_OUTCOME_CRASH ? state->crashes + 1 : 0;
    pace->predicted_s += reading->visit_s[task];
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
        struct pdnn_journal_scan *scan = &reading->job.source[i].scan;
        note_source(reading, &host, i);
        pdnn_journal_scan_rewind(scan);
        for (bool done = false; status == PDNN_OK && !done;) {
            struct pdnn_scanned_visit visit;
            status = pdnn_journal_scan_next(scan, &visit, &done, err);
            if (status == PDNN_OK && !done)
                note_visit(reading, &reading->pace[i], &visit);
        }
        pdnn_journal_scan_rest(scan);
    }
    return status;
}

/* The spec's tasks with their predicted visits. */
static enum pdnn_status prepare(struct reading *reading, struct pdnn_err *err) {
    struct pdnn_session *session = &reading->job.session;
    size_t n_tasks = session->n_tasks;
    reading->state = calloc(n_tasks + 1, sizeof *reading->state);
    reading->top = calloc(n_tasks + 1, sizeof *reading->top);
    reading->visit_s = calloc(n_tasks + 1, sizeof *reading->visit_s);
    reading->pace = calloc(reading->job.n_sources + 1, sizeof *reading->pace);
    if (!reading->state || !reading->top || !reading->visit_s || !reading->pace)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu instances", n_tasks);
    for (size_t i = 0; i < n_tasks; i++) {
        if (pdnn_texts_add(&reading->ids, session->tasks[i].id) != i)
            return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu instances", n_tasks);
        if (!session->tasks[i].closed)
            reading->visit_s[i] =
                pdnn_predict(NULL, &session->spec, &session->tasks[i].instance, &session->rows[i].totals)
                    .visit;
    }
    return PDNN_OK;
}

static void count_instances(const struct reading *reading, struct pdnn_status_report *report,
                            double *missing_s) {
    const struct pdnn_session *session = &reading->job.session;
    size_t rounds = (size_t)session->spec.measure.rounds;
    report->instances = session->n_tasks;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct state *state =
            reading->top[i].visits > reading->state[i].visits ? &reading->top[i] : &reading->state[i];
        bool closed =
            state->visits ? pdnn_outcome_is_final(state->last, state->crashes) : session->tasks[i].closed;
        if (!closed && state->ok < rounds) {
            report->begun += state->visits > 0;
            *missing_s += (double)(rounds - state->ok) * reading->visit_s[i];
            continue;
        }
        enum pdnn_outcome outcome = state->ok       ? PDNN_OUTCOME_OK
                                    : state->visits ? state->last
                                                    : session->rows[i].outcome;
        report->counts[outcome]++;
        report->done++;
    }
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
    if (report->done == report->instances)
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
    report->holder = calloc(leases.count + 1, sizeof *report->holder);
    if (status == PDNN_OK && !report->holder)
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu leases", leases.count);
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

/* The directory of a shard is complete with the shard's instances. */
static enum pdnn_status take_shard(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    pdnn_environment_value(job->source[0].environment, "shard", &text);
    enum pdnn_status status = PDNN_OK;
    if (text.length)
        status = pdnn_shard_parse(pdnn_str_text(&text), NULL, getenv, &job->session.shard, err);
    pdnn_str_finish(&text);
    return status;
}

enum pdnn_status pdnn_status_read(const char *directory, struct pdnn_status_report *report,
                                  struct pdnn_err *err) {
    const struct pdnn_merge_request request = {.sources = &directory, .n_sources = 1, .note = ignore};
    struct reading reading = {.job = {.request = &request, .output.fd = -1}};
    struct pdnn_merge_job *job = &reading.job;
    double missing_s = 0;
    *report = (struct pdnn_status_report){.directories = 0};
    enum pdnn_status status = pdnn_merge_find_sources(job, err);
    if (status == PDNN_OK && job->n_sources == 1)
        status = take_shard(job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_open_session(job, err);
    if (status == PDNN_OK)
        status = prepare(&reading, err);
    if (status == PDNN_OK)
        status = read_journals(&reading, err);
    if (status == PDNN_OK)
        status = read_leases(&job->session, directory, report, err);
    if (status == PDNN_OK) {
        count_instances(&reading, report, &missing_s);
        measure_pace(&reading, report, missing_s);
    }
    pdnn_session_finish(&job->session);
    pdnn_merge_close_sources(job);
    pdnn_texts_finish(&job->hosts);
    pdnn_arena_finish(&job->arena);
    pdnn_texts_finish(&reading.ids);
    free(reading.state);
    free(reading.top);
    if (status != PDNN_OK)
        pdnn_status_finish(report);
    free(reading.pace);
    free(reading.visit_s);
    return status;
}
