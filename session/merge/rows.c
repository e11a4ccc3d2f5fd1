#define _POSIX_C_SOURCE 200809L
/* The visits of a merge, instance by instance: the sources are scanned once to find where each visit lies,
 * and then read visit by visit. */
#include "base/memory.h"
#include "results/store/journal_table.h"
#include "results/table/write.h"
#include "session/merge/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITER_BYTES = 1 << 20 };

static void note_place(struct pdnn_merge_job *job, size_t source, size_t instance,
                       const struct pdnn_scanned_visit *visit) {
    if (instance == job->n_instances) {
        job->of = pdnn_grow(job->of, &job->instances_room, instance, sizeof *job->of);
        job->of[job->n_instances++] = (struct pdnn_merge_instance){0};
    }
    struct pdnn_merge_instance *of = &job->of[instance];
    job->places = pdnn_grow(job->places, &job->places_room, job->n_places, sizeof *job->places);
    job->places[job->n_places] = (struct pdnn_merge_place){.offset = visit->offset,
                                                           .ops_offset = visit->ops_offset,
                                                           .ops_length = visit->ops_length,
                                                           .length = (uint32_t)visit->line.length,
                                                           .source = (uint32_t)source};
    *(of->found++ ? &job->places[of->last].next : &of->first) = job->n_places;
    of->last = job->n_places++;
}

static enum pdnn_status scan(struct pdnn_merge_job *job, size_t source, struct pdnn_err *err) {
    struct pdnn_journal_scan *scan = &job->source[source].scan;
    enum pdnn_status status = PDNN_OK;
    pdnn_journal_scan_rewind(scan);
    for (bool done = false; status == PDNN_OK && !done;) {
        struct pdnn_scanned_visit visit;
        size_t instance;
        status = pdnn_journal_scan_next(scan, &visit, &done, err);
        if (status == PDNN_OK && !done)
            status = pdnn_merge_find_instance(job, visit.field[PDNN_JOURNAL_ID], &instance, err);
        if (status == PDNN_OK && !done)
            note_place(job, source, instance, &visit);
    }
    pdnn_journal_scan_rest(scan);
    return status;
}

enum pdnn_status pdnn_merge_find_visits(struct pdnn_merge_job *job, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        status = scan(job, i, err);
        if (status == PDNN_OK && job->source[i].scan.torn)
            pdnn_merge_note(job, "%s/journal.csv: an incomplete last row was left out", job->source[i].path);
        if (status == PDNN_OK)
            status = pdnn_merge_check_stop(job, err);
    }
    return status;
}

/* Reads the rows of an instance into `text`, which has room for them. */
static enum pdnn_status load(const struct pdnn_merge_job *job, size_t number, struct pdnn_merge_row *row,
                             char *text, struct pdnn_err *err) {
    size_t at = job->of[number].first;
    for (size_t i = 0; i < job->of[number].found; i++) {
        const struct pdnn_merge_place *place = &job->places[at];
        const struct pdnn_merge_source *source = &job->source[place->source];
        if (pdnn_merge_read_at(source->scan.visits.fd, source->scan.visits.path, place->offset, text,
                               place->length, err) != PDNN_OK)
            return err->status;
        row[i] = (struct pdnn_merge_row){.place = place,
                                         .host = pdnn_merge_host_of(source, job->ids.text[number])};
        if (pdnn_csv_split(text, place->length - 1, row[i].field, PDNN_JOURNAL_COLUMNS) !=
            PDNN_JOURNAL_COLUMNS)
            return pdnn_fail(err, PDNN_IO, "%s: changed while it was read", source->scan.visits.path);
        row[i].visit = pdnn_row_visit(row[i].field);
        text += place->length;
        at = place->next;
    }
    return PDNN_OK;
}

static int compare_spans(struct pdnn_piece left, struct pdnn_piece right) {
    int order = memcmp(left.text, right.text, left.length < right.length ? left.length : right.length);
    return order ? order : (left.length > right.length) - (left.length < right.length);
}

/* By host, start, and what else the row says. */
static int compare_rows(const void *left, const void *right) {
    const struct pdnn_merge_row *a = left, *b = right;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    int order = compare_spans(a->field[PDNN_JOURNAL_STARTED_UTC], b->field[PDNN_JOURNAL_STARTED_UTC]);
    return order ? order : compare_spans(pdnn_row_rest(a->field), pdnn_row_rest(b->field));
}

/* One host's rows among the sorted ones. */
struct share {
    size_t from, end;
    struct pdnn_standing standing; /* of its visits */
};

static struct share next_share(const struct pdnn_merge_rows *rows, size_t from) {
    struct share share = {.from = from, .end = from};
    for (; share.end < rows->count && rows->row[share.end].host == rows->row[from].host; share.end++) {
        if (!rows->row[share.end].is_copy)
            pdnn_standing_add(&share.standing, &rows->row[share.end].visit);
    }
    return share;
}

static const char *host_of(const struct pdnn_merge_job *job, const struct pdnn_merge_row *row) {
    return row->host < job->hosts.count ? job->hosts.text[row->host] : "";
}

/* Keeps the rows of one host, which has the best. */
static void choose_host(struct pdnn_merge_job *job, size_t number, struct pdnn_merge_rows *rows) {
    struct share kept = next_share(rows, 0);
    size_t visits = kept.standing.visits, n_hosts = 1;
    for (struct share other = kept; other.end < rows->count; n_hosts++) {
        other = next_share(rows, other.end);
        visits += other.standing.visits;
        bool first = strcmp(host_of(job, &rows->row[other.from]), host_of(job, &rows->row[kept.from])) < 0;
        int order = pdnn_standing_compare(&other.standing, &kept.standing);
        if (order > 0 || (order == 0 && first))
            kept = other;
    }
    job->result.left_out += visits - kept.standing.visits;
    if (n_hosts > 1 && job->result.conflicts++ < PDNN_MERGE_NOTES)
        pdnn_merge_note(job, "%s: measured on %zu hosts; kept the %zu visits of %s, left out %zu of others",
                        job->ids.text[number], n_hosts, kept.standing.visits,
                        host_of(job, &rows->row[kept.from]), visits - kept.standing.visits);
    rows->from = kept.from;
    rows->end = kept.end;
    rows->standing = kept.standing;
}

enum pdnn_status pdnn_merge_each_instance(struct pdnn_merge_job *job, pdnn_merge_each *each, void *user,
                                          struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->ids.count && status == PDNN_OK; i++) {
        const size_t number = job->order[i];
        const struct pdnn_merge_instance *of = &job->of[number];
        struct pdnn_merge_rows rows = {.row = pdnn_alloc(of->found, sizeof *rows.row), .count = of->found};
        size_t bytes = 0;
        for (size_t k = 0, at = of->first; k < of->found; k++, at = job->places[at].next)
            bytes += job->places[at].length;
        char *text = pdnn_alloc(bytes, 1);
        status = load(job, number, rows.row, text, err);
        if (status == PDNN_OK) {
            qsort(rows.row, rows.count, sizeof *rows.row, compare_rows);
            for (size_t k = 1; k < rows.count; k++) {
                rows.row[k].is_copy = compare_rows(&rows.row[k - 1], &rows.row[k]) == 0;
                job->result.copies += rows.row[k].is_copy;
            }
            choose_host(job, number, &rows);
            status = each(user, number, &rows, err);
        }
        if (status == PDNN_OK)
            status = pdnn_merge_check_stop(job, err);
        free(rows.row);
        free(text);
    }
    if (job->result.conflicts > PDNN_MERGE_NOTES)
        pdnn_merge_note(job, "%zu more instances were measured on several hosts",
                        job->result.conflicts - PDNN_MERGE_NOTES);
    return status;
}

static enum pdnn_status fail(const struct pdnn_merge_file *file, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_IO, "%s: cannot write: %s", file->path, strerror(errno));
}

static enum pdnn_status put(struct pdnn_merge_file *file, const char *bytes, size_t length,
                            struct pdnn_err *err) {
    file->length += length;
    return fwrite(bytes, 1, length, file->stream) == length ? PDNN_OK : fail(file, err);
}

static enum pdnn_status begin(const struct pdnn_merge_job *job, const char *name,
                              const struct pdnn_table_def *def, struct pdnn_merge_file *file,
                              struct pdnn_err *err) {
    struct pdnn_str header = {0};
    pdnn_folder_path(&job->output, name, file->path);
    int fd = openat(job->output.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->stream = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file->stream)
        return fail(file, err);
    setvbuf(file->stream, NULL, _IOFBF, WRITER_BYTES);
    pdnn_table_csv_header(&header, def);
    enum pdnn_status status = put(file, header.text, header.length, err);
    pdnn_str_finish(&header);
    return status;
}

/* Ops of the visit, whose number may have changed. */
static enum pdnn_status write_ops(struct pdnn_merge_job *job, const struct pdnn_merge_row *row,
                                  struct pdnn_piece number, struct pdnn_err *err) {
    const struct pdnn_scan_file *file = &job->source[row->place->source].scan.ops;
    const size_t length = row->place->ops_length, key = row->field[PDNN_JOURNAL_ID].length + 1;
    char *ops = pdnn_alloc(length, 1);
    enum pdnn_status status =
        pdnn_merge_read_at(file->fd, file->path, row->place->ops_offset, ops, length, err);
    for (const char *line = ops, *end = ops + length; line < end && status == PDNN_OK;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *after = line + key + row->field[PDNN_JOURNAL_VISIT].length;
        if (!newline || newline < after) {
            status = pdnn_fail(err, PDNN_IO, "%s: changed while it was read", file->path);
            break;
        }
        status = put(&job->ops_file, line, key, err);
        if (status == PDNN_OK)
            status = put(&job->ops_file, number.text, number.length, err);
        if (status == PDNN_OK)
            status = put(&job->ops_file, after, (size_t)(newline - after) + 1, err);
        line = newline + 1;
    }
    free(ops);
    return status;
}

static enum pdnn_status write_row(struct pdnn_merge_job *job, const struct pdnn_merge_row *row, size_t number,
                                  struct pdnn_err *err) {
    char digits[24];
    const struct pdnn_piece *field = row->field, rest = pdnn_row_rest(field);
    const struct pdnn_piece text = {digits, (size_t)snprintf(digits, sizeof digits, "%zu", number)};
    enum pdnn_status status = write_ops(job, row, text, err);
    if (status == PDNN_OK)
        status =
            put(&job->visits_file, field->text, (size_t)(field[PDNN_JOURNAL_VISIT].text - field->text), err);
    if (status == PDNN_OK)
        status = put(&job->visits_file, text.text, text.length, err);
    /* The newline lies behind the rest. */
    if (status == PDNN_OK)
        status = put(&job->visits_file, rest.text, rest.length + 1, err);
    return status;
}

static enum pdnn_status write_instance(void *user, size_t number, const struct pdnn_merge_rows *rows,
                                       struct pdnn_err *err) {
    struct pdnn_merge_job *job = user;
    struct pdnn_merge_instance *of = &job->of[number];
    double *medians = pdnn_alloc(rows->count, sizeof *medians);
    size_t kept = 0, n_medians = 0;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < rows->count && status == PDNN_OK; i++)
        if (rows->row[i].host == UINT32_MAX)
            status = pdnn_fail(err, PDNN_INVALID, "%s/hosts.csv: does not name the host of %s",
                               job->source[rows->row[i].place->source].path, job->ids.text[number]);
    of->host = rows->row[rows->from].host;
    of->visits.offset = job->visits_file.length;
    of->ops.offset = job->ops_file.length;
    for (size_t i = rows->from; i < rows->end && status == PDNN_OK; i++) {
        if (rows->row[i].is_copy)
            continue;
        if (pdnn_visit_is(&rows->row[i].visit, PDNN_VISITS_ROW, &rows->standing))
            medians[n_medians++] = rows->row[i].visit.median_ns;
        status = write_row(job, &rows->row[i], ++kept, err);
    }
    of->visits.length = job->visits_file.length - of->visits.offset;
    of->ops.length = job->ops_file.length - of->ops.offset;
    of->scatter = pdnn_visits_scatter(medians, n_medians);
    job->result.visits += kept;
    free(medians);
    return status;
}

enum pdnn_status pdnn_merge_write_journal(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_merge_file *const files[] = {&job->ops_file, &job->visits_file};
    enum pdnn_status status = begin(job, "journal.csv", &pdnn_journal_def, &job->visits_file, err);
    if (status == PDNN_OK)
        status = begin(job, "journal-ops.csv", &pdnn_journal_ops_def, &job->ops_file, err);
    if (status == PDNN_OK)
        status = pdnn_merge_each_instance(job, write_instance, job, err);
    for (size_t i = 0; i < 2 && status == PDNN_OK; i++)
        if (fflush(files[i]->stream) != 0 || fsync(fileno(files[i]->stream)) != 0)
            status = fail(files[i], err);
    return status;
}
