#define _POSIX_C_SOURCE 200809L
/* The rows of a merge. The sources are scanned once to find the instances, and where each visit lies; then
 * the journal is written instance by instance. There is room for a fixed number of places of visits: if there
 * are more, instances are taken in batches, and each batch scans the sources again. */
#include "base/file.h"
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

/* Where a visit lies. */
struct place {
    uint64_t offset, ops_offset, ops_length;
    uint32_t length, source;
    size_t instance;
};

/* 320 MiB of them at most. */
enum { PLACES_MAX = 1 << 23 };

/* An output file, written from front to back. */
struct writer {
    int fd; /* -1: not open */
    char path[PDNN_FOLDER_TEXT];
    char *block;
    size_t used;
    uint64_t length;
};

/* One visit of the instance at hand; spans point into rows->text. */
struct row {
    struct pdnn_row_fields fields;
    const struct place *place;
    struct pdnn_visit visit; /* what its fields say */
    uint32_t host;
    bool is_copy;
};

struct rows {
    struct pdnn_merge_job *job;
    size_t most_places;
    struct place *places;
    size_t n_places, places_room;
    bool is_first;                      /* the scan that finds the instances */
    bool overflowed;                    /* there were more visits than places */
    uint32_t *sorted;                   /* places by instance, in the order of scanning */
    size_t n_instances, instances_room; /* that the job has counts of */
    size_t batch_from, batch_end; /* places in the order of the merged journal; instances in it get places */
    struct row *row;              /* of the instance at hand */
    size_t row_room;
    char *text;
    size_t text_room;
    struct pdnn_str ops;
    double *medians;
    size_t conflicts_noted;
    struct writer visits_file, ops_file;
};

static void note_place(struct rows *rows, size_t source, size_t instance,
                       const struct pdnn_scanned_visit *visit) {
    if (rows->n_places == rows->most_places) {
        rows->overflowed = true;
        return;
    }
    rows->places = pdnn_grow(rows->places, &rows->places_room, rows->n_places, sizeof *rows->places);
    rows->places[rows->n_places++] =
        (struct place){visit->offset,    visit->ops_offset, visit->ops_length, (uint32_t)visit->line.length,
                       (uint32_t)source, instance};
}

/* The first scan counts; later ones look for the instances of a batch. Visits that came after the first are
 * left for another merge. */
static bool take_visit(void *user, size_t number, size_t instance, const struct pdnn_scanned_visit *visit) {
    struct rows *rows = user;
    struct pdnn_merge_job *job = rows->job;
    struct pdnn_merge_source *source = &job->source[number];
    if (instance == rows->n_instances) {
        job->of = pdnn_grow(job->of, &rows->instances_room, instance, sizeof *job->of);
        job->of[rows->n_instances++] = (struct pdnn_merge_instance){0};
    }
    if (rows->is_first) {
        job->of[instance].found++;
        source->end = visit->offset + visit->line.length;
    } else if (visit->offset >= source->end) {
        return false;
    }
    size_t at = job->of[instance].start;
    if (rows->is_first || (at >= rows->batch_from && at < rows->batch_end))
        note_place(rows, number, instance, visit);
    return true;
}

static enum pdnn_status scan_all(struct rows *rows, bool is_first, struct pdnn_err *err) {
    struct pdnn_merge_job *job = rows->job;
    enum pdnn_status status = PDNN_OK;
    rows->n_places = 0;
    rows->overflowed = false;
    rows->is_first = is_first;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        status = pdnn_merge_scan(job, i, take_visit, rows, err);
        if (status == PDNN_OK && is_first && job->source[i].scan.torn)
            pdnn_merge_note(job, "%s/journal.csv: an incomplete last row was left out", job->source[i].path);
        if (status == PDNN_OK && pdnn_merge_is_stopped(job))
            status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted; nothing was written");
    }
    return status;
}

static enum pdnn_status open_writer(struct writer *writer, const struct pdnn_folder *folder, const char *name,
                                    struct pdnn_err *err) {
    pdnn_folder_path(folder, name, writer->path);
    writer->fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", writer->path, strerror(errno));
    writer->block = pdnn_alloc(WRITER_BYTES, 1);
    return PDNN_OK;
}

static enum pdnn_status flush(struct writer *writer, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_fd_write(writer->fd, writer->block, writer->used, err);
    writer->used = 0;
    return status == PDNN_OK ? status : pdnn_wrap(err, "%s", writer->path);
}

static enum pdnn_status put(struct writer *writer, const char *bytes, size_t length, struct pdnn_err *err) {
    writer->length += length;
    while (length) {
        size_t fits = WRITER_BYTES - writer->used < length ? WRITER_BYTES - writer->used : length;
        memcpy(writer->block + writer->used, bytes, fits);
        writer->used += fits;
        bytes += fits;
        length -= fits;
        if (writer->used == WRITER_BYTES && flush(writer, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

static enum pdnn_status put_header(struct writer *writer, const struct pdnn_table_def *def,
                                   struct pdnn_err *err) {
    struct pdnn_str header = {0};
    pdnn_table_csv_header(&header, def);
    enum pdnn_status status = put(writer, header.text, header.length, err);
    pdnn_str_finish(&header);
    return status;
}

static enum pdnn_status close_writer(struct writer *writer, struct pdnn_err *err) {
    enum pdnn_status status = flush(writer, err);
    if (status == PDNN_OK && fsync(writer->fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot sync: %s", writer->path, strerror(errno));
    return status;
}

static void drop_writer(struct writer *writer) {
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->block);
    *writer = (struct writer){.fd = -1};
}

/* Reads the rows of an instance. */
static enum pdnn_status load(struct rows *rows, size_t number, struct pdnn_err *err) {
    const struct pdnn_merge_job *job = rows->job;
    const struct pdnn_merge_instance *of = &job->of[number];
    const uint32_t *at = rows->sorted + (of->start - rows->batch_from);
    size_t bytes = 0;
    for (size_t i = 0; i < of->found; i++)
        bytes += rows->places[at[i]].length;
    if (of->found > rows->row_room) {
        free(rows->row);
        free(rows->medians);
        rows->row = pdnn_alloc(of->found, sizeof *rows->row);
        rows->medians = pdnn_alloc(of->found, sizeof *rows->medians);
        rows->row_room = of->found;
    }
    if (bytes > rows->text_room) {
        free(rows->text);
        rows->text = pdnn_alloc(bytes, 1);
        rows->text_room = bytes;
    }
    char *text = rows->text;
    for (size_t i = 0; i < of->found; i++) {
        const struct place *place = &rows->places[at[i]];
        const struct pdnn_merge_source *source = &job->source[place->source];
        if (pdnn_merge_read_at(source->scan.visits.fd, source->scan.visits.path, place->offset, text,
                               place->length, err) != PDNN_OK)
            return err->status;
        rows->row[i] =
            (struct row){.place = place, .host = pdnn_merge_host_of(source, job->ids.text[number])};
        if (pdnn_row_split(text, place->length - 1, &rows->row[i].fields) != PDNN_JOURNAL_COLUMNS)
            return pdnn_fail(err, PDNN_IO, "%s: changed while it was read", source->scan.visits.path);
        rows->row[i].visit = pdnn_row_visit(&rows->row[i].fields);
        if (rows->row[i].host == UINT32_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s/hosts.csv: does not name the host of %s", source->path,
                             job->ids.text[number]);
        text += place->length;
    }
    return PDNN_OK;
}

static int compare_spans(struct pdnn_piece left, struct pdnn_piece right) {
    int order = memcmp(left.text, right.text, left.length < right.length ? left.length : right.length);
    return order ? order : (left.length > right.length) - (left.length < right.length);
}

/* By host, start, and what else the row says. */
static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    int order = compare_spans(a->fields.started, b->fields.started);
    return order ? order : compare_spans(a->fields.rest, b->fields.rest);
}

/* One host's rows among the sorted ones. */
struct share {
    size_t from, end;
    struct pdnn_standing standing; /* of its visits */
};

static struct share next_share(const struct rows *rows, size_t from, size_t count) {
    struct share share = {.from = from, .end = from};
    for (; share.end < count && rows->row[share.end].host == rows->row[from].host; share.end++) {
        if (!rows->row[share.end].is_copy)
            pdnn_standing_add(&share.standing, &rows->row[share.end].visit);
    }
    return share;
}

/* The rows that are kept: those of one host, which has the best. */
static struct share choose_host(struct rows *rows, size_t number) {
    struct pdnn_merge_job *job = rows->job;
    const struct pdnn_merge_instance *of = &job->of[number];
    struct share kept = next_share(rows, 0, of->found);
    size_t visits = kept.standing.visits, n_hosts = 1;
    for (struct share other = kept; other.end < of->found; n_hosts++) {
        other = next_share(rows, other.end, of->found);
        visits += other.standing.visits;
        const char *name = job->hosts.text[rows->row[other.from].host];
        bool first = strcmp(name, job->hosts.text[rows->row[kept.from].host]) < 0;
        int order = pdnn_standing_compare(&other.standing, &kept.standing);
        if (order > 0 || (order == 0 && first))
            kept = other;
    }
    job->result.left_out += visits - kept.standing.visits;
    if (n_hosts > 1 && rows->conflicts_noted++ < PDNN_MERGE_NOTES)
        pdnn_merge_note(job, "%s: measured on %zu hosts; kept the %zu visits of %s, left out %zu of others",
                        job->ids.text[number], n_hosts, kept.standing.visits,
                        job->hosts.text[rows->row[kept.from].host], visits - kept.standing.visits);
    job->result.conflicts += n_hosts > 1;
    return kept;
}

/* Ops of the visit, whose number may have changed. */
static enum pdnn_status write_ops(struct rows *rows, const struct row *row, struct pdnn_piece number,
                                  struct pdnn_err *err) {
    const struct pdnn_row_fields *fields = &row->fields;
    uint64_t length = row->place->ops_length;
    struct pdnn_str *ops = &rows->ops;
    if (length > ops->room) {
        free(ops->text);
        *ops = (struct pdnn_str){.text = pdnn_alloc(length, 1), .room = length};
    }
    const struct pdnn_scan_file *file = &rows->job->source[row->place->source].scan.ops;
    if (length &&
        pdnn_merge_read_at(file->fd, file->path, row->place->ops_offset, ops->text, length, err) != PDNN_OK)
        return err->status;
    if (compare_spans(fields->number, number) == 0)
        return put(&rows->ops_file, ops->text, length, err);
    size_t key = fields->id.length + 1;
    enum pdnn_status status = PDNN_OK;
    for (const char *line = ops->text, *end = line + length; line < end && status == PDNN_OK;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *after = line + key + fields->number.length;
        if (!newline || newline < after)
            return pdnn_fail(err, PDNN_IO, "%s: changed while it was read", file->path);
        status = put(&rows->ops_file, line, key, err);
        if (status == PDNN_OK)
            status = put(&rows->ops_file, number.text, number.length, err);
        if (status == PDNN_OK)
            status = put(&rows->ops_file, after, (size_t)(newline - after) + 1, err);
        line = newline + 1;
    }
    return status;
}

static enum pdnn_status write_row(struct rows *rows, const struct row *row, size_t number,
                                  struct pdnn_err *err) {
    char digits[24];
    const struct pdnn_row_fields *fields = &row->fields;
    const struct pdnn_piece text = {digits, (size_t)snprintf(digits, sizeof digits, "%zu", number)};
    enum pdnn_status status = write_ops(rows, row, text, err);
    if (status == PDNN_OK)
        status = put(&rows->visits_file, fields->schema.text,
                     (size_t)(fields->number.text - fields->schema.text), err);
    if (status == PDNN_OK)
        status = put(&rows->visits_file, text.text, text.length, err);
    /* The newline lies behind the rest. */
    if (status == PDNN_OK)
        status = put(&rows->visits_file, fields->rest.text, fields->rest.length + 1, err);
    return status;
}

static enum pdnn_status write_instance(struct rows *rows, size_t number, struct pdnn_err *err) {
    struct pdnn_merge_job *job = rows->job;
    struct pdnn_merge_instance *of = &job->of[number];
    size_t n_medians = 0;
    enum pdnn_status status = load(rows, number, err);
    if (status != PDNN_OK)
        return status;
    qsort(rows->row, of->found, sizeof *rows->row, compare_rows);
    for (size_t i = 1; i < of->found; i++) {
        rows->row[i].is_copy = compare_rows(&rows->row[i - 1], &rows->row[i]) == 0;
        job->result.copies += rows->row[i].is_copy;
    }
    struct share kept = choose_host(rows, number);
    of->host = rows->row[kept.from].host;
    of->visits.offset = rows->visits_file.length;
    of->ops.offset = rows->ops_file.length;
    for (size_t i = kept.from; i < kept.end && status == PDNN_OK; i++) {
        if (rows->row[i].is_copy)
            continue;
        if (pdnn_visit_is(&rows->row[i].visit, PDNN_VISITS_ROW, &kept.standing))
            rows->medians[n_medians++] = rows->row[i].visit.median_ns;
        status = write_row(rows, &rows->row[i], ++of->kept, err);
    }
    of->visits.length = rows->visits_file.length - of->visits.offset;
    of->ops.length = rows->ops_file.length - of->ops.offset;
    of->scatter = pdnn_visits_scatter(rows->medians, n_medians);
    job->result.visits += of->kept;
    return status;
}

/* Places of a batch by instance, in the order they were scanned. */
static void sort_places(struct rows *rows) {
    struct pdnn_merge_job *job = rows->job;
    free(rows->sorted);
    rows->sorted = pdnn_alloc(rows->n_places + 1, sizeof *rows->sorted);
    size_t *next = pdnn_alloc(job->ids.count + 1, sizeof *next);
    for (size_t i = 0; i < rows->n_places; i++) {
        size_t instance = rows->places[i].instance;
        rows->sorted[job->of[instance].start - rows->batch_from + next[instance]++] = (uint32_t)i;
    }
    free(next);
}

/* Writes the instances order[from..) that have room together, at least one; returns the end in *end. */
static enum pdnn_status write_batch(struct rows *rows, size_t from, size_t *end, struct pdnn_err *err) {
    const struct pdnn_merge_job *job = rows->job;
    rows->batch_from = rows->batch_end = job->of[job->order[from]].start;
    *end = from;
    do
        rows->batch_end += job->of[job->order[(*end)++]].found;
    while (*end < job->ids.count &&
           rows->batch_end - rows->batch_from + job->of[job->order[*end]].found <= rows->most_places);
    enum pdnn_status status = PDNN_OK;
    if (rows->batch_end - rows->batch_from > rows->most_places)
        return pdnn_fail(err, PDNN_INVALID, "%s: more than %zu visits", job->ids.text[job->order[from]],
                         rows->most_places);
    bool is_scanned = from == 0 && *end == job->ids.count && !rows->overflowed;
    if (!is_scanned)
        status = scan_all(rows, false, err);
    if (status == PDNN_OK && rows->n_places != rows->batch_end - rows->batch_from)
        status = pdnn_fail(err, PDNN_IO, "the sources changed while they were read; nothing was written");
    if (status == PDNN_OK)
        sort_places(rows);
    for (size_t i = from; i < *end && status == PDNN_OK; i++) {
        status = write_instance(rows, job->order[i], err);
        if (status == PDNN_OK && pdnn_merge_is_stopped(job))
            status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted; nothing was written");
    }
    return status;
}

static enum pdnn_status write_all(struct rows *rows, struct pdnn_err *err) {
    struct pdnn_merge_job *job = rows->job;
    size_t visits = 0;
    for (size_t i = 0; i < job->ids.count; i++) {
        job->of[job->order[i]].start = visits;
        visits += job->of[job->order[i]].found;
    }
    enum pdnn_status status = open_writer(&rows->visits_file, &job->output, "journal.csv", err);
    if (status == PDNN_OK)
        status = open_writer(&rows->ops_file, &job->output, "journal-ops.csv", err);
    if (status == PDNN_OK)
        status = put_header(&rows->visits_file, &pdnn_journal_def, err);
    if (status == PDNN_OK)
        status = put_header(&rows->ops_file, &pdnn_journal_ops_def, err);
    for (size_t from = 0; from < job->ids.count && status == PDNN_OK;)
        status = write_batch(rows, from, &from, err);
    if (status == PDNN_OK)
        status = close_writer(&rows->ops_file, err);
    if (status == PDNN_OK)
        status = close_writer(&rows->visits_file, err);
    if (rows->conflicts_noted > PDNN_MERGE_NOTES)
        pdnn_merge_note(job, "%zu more instances were measured on several hosts",
                        rows->conflicts_noted - PDNN_MERGE_NOTES);
    return status;
}

enum pdnn_status pdnn_merge_write_journal(struct pdnn_merge_job *job, struct pdnn_err *err) {
    const size_t asked = job->request->most_visits;
    struct rows rows = {
        .job = job, .most_places = asked ? asked : PLACES_MAX, .visits_file.fd = -1, .ops_file.fd = -1};
    enum pdnn_status status = scan_all(&rows, true, err);
    if (status == PDNN_OK)
        status = pdnn_merge_order(job, err);
    if (status == PDNN_OK)
        status = write_all(&rows, err);
    drop_writer(&rows.visits_file);
    drop_writer(&rows.ops_file);
    free(rows.places);
    free(rows.sorted);
    free(rows.row);
    free(rows.medians);
    free(rows.text);
    free(rows.ops.text);
    return status;
}
