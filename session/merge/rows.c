#define _POSIX_C_SOURCE 200809L
/* The visits of a merge: where they lie, which of them are kept, and their rows. */
#include "base/memory.h"
#include "base/rng.h"
#include "results/store/journal.h"
#include "session/merge/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of the visit's instance among job->ids. */
static enum pdnn_status find_instance(struct pdnn_merge_job *job, const struct pdnn_scanned_visit *visit,
                                      size_t *number, struct pdnn_err *err) {
    const struct pdnn_piece id = visit->field[PDNN_JOURNAL_ID];
    char spelt[PDNN_ID_TEXT + 2], today[PDNN_ID_TEXT];
    if (id.length >= sizeof spelt)
        return pdnn_fail(err, PDNN_INVALID, "the id '%.60s...' is too long", id.text);
    snprintf(spelt, sizeof spelt, "%.*s", (int)id.length, id.text);
    const size_t before = job->spellings.count, spelling = pdnn_texts_add(&job->spellings, spelt);
    if (spelling == before) {
        job->of_spelling =
            pdnn_grow(job->of_spelling, &job->spellings_room, before, sizeof *job->of_spelling);
        job->of_spelling[before] =
            pdnn_texts_add(&job->ids, pdnn_piece_id(visit->field[PDNN_JOURNAL_ID], today));
    }
    *number = job->of_spelling[spelling];
    return PDNN_OK;
}

static uint64_t hash_of(struct pdnn_piece piece) {
    struct pdnn_str text = {0};
    pdnn_str_append(&text, piece.text, piece.length);
    const uint64_t hash = pdnn_rng_seed(0, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return hash;
}

static void note_visit(struct pdnn_merge_job *job, size_t source, size_t instance,
                       const struct pdnn_scanned_visit *scanned) {
    const struct pdnn_visit visit = pdnn_row_visit(scanned->field);
    job->visits = pdnn_grow(job->visits, &job->visits_room, job->n_visits, sizeof *job->visits);
    job->visits[job->n_visits++] = (struct pdnn_merge_visit){
        .instance = (uint32_t)instance,
        .source = (uint32_t)source,
        .host = pdnn_merge_host_of(&job->source[source], job->ids.text[instance]),
        .started_ms = visit.started_unix_ms,
        .hash = hash_of(pdnn_row_rest(scanned->field)),
        .median_ns = visit.median_ns,
        .outcome = visit.outcome,
        .flags = visit.flags,
        .offset = scanned->offset,
        .length = scanned->line.length,
        .ops_offset = scanned->ops_offset,
        .ops_length = scanned->ops_length,
    };
}

static enum pdnn_status scan(struct pdnn_merge_job *job, size_t source, struct pdnn_err *err) {
    struct pdnn_journal_scan *scan = &job->source[source].scan;
    enum pdnn_status status = PDNN_OK;
    for (bool done = false; status == PDNN_OK && !done;) {
        struct pdnn_scanned_visit visit;
        size_t instance = 0;
        status = pdnn_journal_scan_next(scan, &visit, &done, err);
        if (status == PDNN_OK && !done)
            status = find_instance(job, &visit, &instance, err);
        if (status == PDNN_OK && !done)
            note_visit(job, source, instance, &visit);
    }
    pdnn_journal_scan_rewind(scan);
    return status;
}

/* By instance, host, start, and what else the row says. */
static int compare_visits(const void *left, const void *right) {
    const struct pdnn_merge_visit *a = left, *b = right;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->started_ms != b->started_ms)
        return a->started_ms < b->started_ms ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

struct pdnn_visit pdnn_merge_visit_of(const struct pdnn_merge_visit *visit) {
    return (struct pdnn_visit){.outcome = visit->outcome,
                               .started_unix_ms = visit->started_ms,
                               .median_ns = visit->median_ns,
                               .flags = visit->flags};
}

/* The visits of one host to an instance, from `from` on. */
static struct pdnn_merge_instance next_share(struct pdnn_merge_job *job, size_t from) {
    const struct pdnn_merge_visit *first = &job->visits[from];
    struct pdnn_merge_instance share = {.host = first->host, .from = from, .end = from};
    for (; share.end < job->n_visits && job->visits[share.end].instance == first->instance &&
           job->visits[share.end].host == first->host;
         share.end++) {
        struct pdnn_merge_visit *visit = &job->visits[share.end];
        visit->is_copy = share.end > from && compare_visits(visit - 1, visit) == 0;
        job->result.copies += visit->is_copy;
        const struct pdnn_visit plain = pdnn_merge_visit_of(visit);
        if (!visit->is_copy)
            pdnn_standing_add(&share.standing, &plain);
    }
    return share;
}

static const char *name_host(const struct pdnn_merge_job *job, uint32_t host) {
    return host < job->hosts.count ? job->hosts.text[host] : "";
}

/* Keeps the visits of one host, which has the best. Returns where those of the next instance begin. */
static size_t choose_host(struct pdnn_merge_job *job, size_t from) {
    const size_t number = job->visits[from].instance;
    struct pdnn_merge_instance kept = next_share(job, from), other = kept;
    size_t visits = kept.standing.visits, n_hosts = 1;
    for (; other.end < job->n_visits && job->visits[other.end].instance == number; n_hosts++) {
        other = next_share(job, other.end);
        visits += other.standing.visits;
        bool first = strcmp(name_host(job, other.host), name_host(job, kept.host)) < 0;
        int order = pdnn_standing_compare(&other.standing, &kept.standing);
        if (order > 0 || (order == 0 && first))
            kept = other;
    }
    job->result.visits += kept.standing.visits;
    job->result.left_out += visits - kept.standing.visits;
    if (n_hosts > 1 && job->result.conflicts++ < PDNN_MERGE_NOTES)
        pdnn_session_warn(&job->session,
                          "%s: measured on %zu hosts; kept the %zu visits of %s, left out %zu of others",
                          job->ids.text[number], n_hosts, kept.standing.visits, name_host(job, kept.host),
                          visits - kept.standing.visits);
    job->of[number] = kept;
    return other.end;
}

enum pdnn_status pdnn_merge_find_visits(struct pdnn_merge_job *job, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        status = scan(job, i, err);
        if (status == PDNN_OK && job->source[i].scan.visits.torn)
            pdnn_session_warn(&job->session, "%s/journal.csv: an incomplete last row was left out",
                              job->source[i].path);
        if (status == PDNN_OK)
            status = pdnn_merge_check_stop(job, err);
    }
    job->of = pdnn_alloc(job->ids.count + 1, sizeof *job->of);
    qsort(job->visits, job->n_visits, sizeof *job->visits, compare_visits);
    for (size_t from = 0; from < job->n_visits && status == PDNN_OK;)
        from = choose_host(job, from);
    if (job->result.conflicts > PDNN_MERGE_NOTES)
        pdnn_session_warn(&job->session, "%zu more instances were measured on several hosts",
                          job->result.conflicts - PDNN_MERGE_NOTES);
    return status;
}

/* A part of a source's file, which is there. The caller frees *bytes, also after a failure. */
static enum pdnn_status read_part(const struct pdnn_log_scan *file, uint64_t offset, size_t length,
                                  char **bytes, struct pdnn_err *err) {
    size_t used = 0;
    *bytes = pdnn_alloc(length + 1, 1);
    while (used < length) {
        ssize_t got = pread(file->fd, *bytes + used, length - used, (off_t)(offset + used));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pdnn_fail(err, PDNN_IO, "%s: %s", file->path,
                             got ? strerror(errno) : "became shorter while it was read");
        used += (size_t)got;
    }
    return PDNN_OK;
}

/* Appends the row under another number; `from` and `to`: where the old one is in the line. */
static void append_row(struct pdnn_str *out, const char *line, size_t length, size_t from, size_t to,
                       size_t number) {
    pdnn_str_append(out, line, from);
    pdnn_str_printf(out, "%zu", number);
    pdnn_str_append(out, line + to, length - to);
}

static enum pdnn_status append_visit(const struct pdnn_merge_source *source,
                                     const struct pdnn_merge_visit *visit, size_t number,
                                     struct pdnn_str *rows, struct pdnn_str *ops, struct pdnn_err *err) {
    const struct pdnn_log_scan *file = &source->scan.visits;
    struct pdnn_piece field[PDNN_JOURNAL_COLUMNS], old = {NULL, 0};
    char *line, *of_ops = NULL;
    enum pdnn_status status = read_part(file, visit->offset, visit->length, &line, err);
    if (status == PDNN_OK &&
        pdnn_csv_split(line, visit->length - 1, field, PDNN_JOURNAL_COLUMNS) != PDNN_JOURNAL_COLUMNS)
        status = pdnn_fail(err, PDNN_IO, "%s: changed while it was read", file->path);
    if (status == PDNN_OK) {
        old = field[PDNN_JOURNAL_VISIT];
        const size_t from = (size_t)(old.text - line);
        append_row(rows, line, visit->length, from, from + old.length, number);
        status = read_part(&source->scan.ops, visit->ops_offset, visit->ops_length, &of_ops, err);
    }
    for (size_t at = 0; status == PDNN_OK && at < visit->ops_length;) {
        const char *newline = memchr(of_ops + at, '\n', visit->ops_length - at);
        const size_t key = field[PDNN_JOURNAL_ID].length + 1,
                     length = newline ? (size_t)(newline - of_ops) + 1 - at : 0;
        if (length <= key + old.length)
            status = pdnn_fail(err, PDNN_IO, "%s: changed while it was read", source->scan.ops.path);
        else
            append_row(ops, of_ops + at, length, key, key + old.length, number);
        at += length;
    }
    free(line);
    free(of_ops);
    return status;
}

enum pdnn_status pdnn_merge_append_instance(const struct pdnn_merge_job *job, size_t instance,
                                            struct pdnn_str *rows, struct pdnn_str *ops,
                                            struct pdnn_err *err) {
    const struct pdnn_merge_instance *of = &job->of[instance];
    enum pdnn_status status = PDNN_OK;
    size_t number = 0;
    for (size_t i = of->from; i < of->end && status == PDNN_OK; i++) {
        const struct pdnn_merge_source *source = &job->source[job->visits[i].source];
        if (of->host == UINT32_MAX)
            status = pdnn_fail(err, PDNN_INVALID, "%s/hosts.csv: does not name the host of %s", source->path,
                               job->ids.text[instance]);
        else if (!job->visits[i].is_copy)
            status = append_visit(source, &job->visits[i], ++number, rows, ops, err);
    }
    return status;
}
