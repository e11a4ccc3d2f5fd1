#define _POSIX_C_SOURCE 200809L
#include "results/store/journal_scan.h"

#include "base/memory.h"
#include "results/store/journal_table.h"
#include "results/store/log_file.h"
#include "results/store/results.h"
#include "results/table/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows are far shorter: a longer line is no row. */
enum { BLOCK_BYTES = 1 << 20, LINE_MAX_BYTES = 1 << 24 };

static enum pdnn_status open_file(struct pdnn_scan_file *file, const char *directory, const char *name,
                                  struct pdnn_err *err) {
    struct stat info;
    if (!pdnn_path_join(file->path, directory, name))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", file->path, strerror(errno));
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode))
        return pdnn_fail(err, PDNN_INVALID, "%s: is not a file", file->path);
    return PDNN_OK;
}

/* Moves what is left to the front of the block and reads on. *more is false at the end of the file. */
static enum pdnn_status fill(struct pdnn_scan_file *file, bool *more, struct pdnn_err *err) {
    memmove(file->block, file->block + file->at, file->used - file->at);
    file->offset += file->at;
    file->used -= file->at;
    file->at = 0;
    if (file->used == file->room) {
        char *larger = file->room < LINE_MAX_BYTES ? pdnn_resize(file->block, 2, file->room) : NULL;
        if (!larger)
            return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": a line too long for a row", file->path,
                             file->line + 1);
        file->block = larger;
        file->room *= 2;
    }
    for (;;) {
        ssize_t got = pread(file->fd, file->block + file->used, file->room - file->used,
                            (off_t)(file->offset + file->used));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pdnn_fail(err, PDNN_IO, "%s: cannot be read: %s", file->path, strerror(errno));
        file->used += (size_t)got;
        *more = got > 0;
        return PDNN_OK;
    }
}

/* The next line that ends with a newline; text NULL if there is none. */
static enum pdnn_status next_line(struct pdnn_scan_file *file, struct pdnn_piece *line,
                                  struct pdnn_err *err) {
    size_t searched = 0;
    *line = (struct pdnn_piece){NULL, 0};
    if (file->fd < 0)
        return PDNN_OK;
    /* Blocks are there only while a scan is under way: a merge keeps the files of many directories open. */
    if (!file->block) {
        file->block = pdnn_alloc(BLOCK_BYTES, 1);
        file->room = BLOCK_BYTES;
    }
    for (bool more = true; more;) {
        const char *from = file->block + file->at;
        const char *end = memchr(from + searched, '\n', file->used - file->at - searched);
        if (end) {
            *line = (struct pdnn_piece){from, (size_t)(end - from) + 1};
            file->at += line->length;
            file->line++;
            return PDNN_OK;
        }
        searched = file->used - file->at;
        if (fill(file, &more, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

/* Cut short, it was killed before its header was complete. */
static enum pdnn_status check_header(struct pdnn_scan_file *file, const struct pdnn_table_def *def,
                                     struct pdnn_err *err) {
    struct pdnn_piece line;
    bool is_whole;
    enum pdnn_status status = next_line(file, &line, err);
    return status == PDNN_OK ? pdnn_header_check(def, file->path, file->block ? file->block : "", file->used,
                                                 &is_whole, err)
                             : status;
}

enum pdnn_status pdnn_journal_scan_open(struct pdnn_journal_scan *scan, const char *directory,
                                        struct pdnn_err *err) {
    *scan = (struct pdnn_journal_scan){.visits.fd = -1, .ops.fd = -1};
    enum pdnn_status status = open_file(&scan->visits, directory, "journal.csv", err);
    if (status == PDNN_OK)
        status = check_header(&scan->visits, &pdnn_journal_def, err);
    if (status != PDNN_OK || !pdnn_path_has(directory, "journal-ops.csv"))
        return status;
    status = open_file(&scan->ops, directory, "journal-ops.csv", err);
    return status == PDNN_OK ? check_header(&scan->ops, &pdnn_journal_ops_def, err) : status;
}

static void rewind_file(struct pdnn_scan_file *file) {
    struct pdnn_piece header;
    struct pdnn_err ignored = {0};
    file->at = file->used = 0;
    file->offset = file->line = 0;
    next_line(file, &header, &ignored);
}

void pdnn_journal_scan_rewind(struct pdnn_journal_scan *scan) {
    rewind_file(&scan->visits);
    rewind_file(&scan->ops);
    scan->torn = false;
}

void pdnn_journal_scan_rest(struct pdnn_journal_scan *scan) {
    free(scan->visits.block);
    free(scan->ops.block);
    scan->visits.block = scan->ops.block = NULL;
}

void pdnn_journal_scan_close(struct pdnn_journal_scan *scan) {
    struct pdnn_scan_file *const files[] = {&scan->visits, &scan->ops};
    for (size_t i = 0; i < 2; i++) {
        if (files[i]->fd >= 0)
            close(files[i]->fd);
        files[i]->fd = -1;
    }
    pdnn_journal_scan_rest(scan);
}

/* A piece as a text of its own, without its quotes. */
static const char *plain(struct pdnn_piece piece, char *buffer, size_t size) {
    size_t quoted = piece.length > 1 && *piece.text == '"', length = piece.length - 2 * quoted;
    length = length < size ? length : size - 1;
    memcpy(buffer, piece.text + quoted, length);
    buffer[length] = 0;
    return buffer;
}

const char *pdnn_row_id(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS], char today[PDNN_ID_TEXT]) {
    char text[PDNN_ID_TEXT];
    return pdnn_instance_reprint(plain(field[PDNN_JOURNAL_ID], text, sizeof text), today);
}

struct pdnn_visit pdnn_row_visit(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]) {
    char text[PDNN_FLAGS_TEXT];
    struct pdnn_visit visit = {.outcome =
                                   pdnn_outcome_find(plain(field[PDNN_JOURNAL_STATUS], text, sizeof text))};
    visit.flags = pdnn_flags_parse(plain(field[PDNN_JOURNAL_ROW_FLAGS], text, sizeof text));
    visit.median_ns = strtod(plain(field[PDNN_JOURNAL_TIME_NS_MEDIAN], text, sizeof text), NULL);
    if (!pdnn_utc_parse(plain(field[PDNN_JOURNAL_STARTED_UTC], text, sizeof text), &visit.started_unix_ms))
        visit.started_unix_ms = 0;
    return visit;
}

struct pdnn_piece pdnn_row_rest(const struct pdnn_piece field[PDNN_JOURNAL_COLUMNS]) {
    const struct pdnn_piece number = field[PDNN_JOURNAL_VISIT], last = field[PDNN_JOURNAL_COLUMNS - 1];
    const char *rest = number.text + number.length;
    return (struct pdnn_piece){rest, (size_t)(last.text + last.length - rest)};
}

/* At most nine digits: no visit has more ops. */
static bool parse_small(struct pdnn_piece span, size_t *value) {
    *value = 0;
    for (size_t i = 0; i < span.length; i++) {
        if (span.text[i] < '0' || span.text[i] > '9')
            return false;
        *value = *value * 10 + (size_t)(span.text[i] - '0');
    }
    return span.length > 0 && span.length < 10;
}

static void append(struct pdnn_str *rows, struct pdnn_piece line) {
    if (rows && line.text)
        pdnn_str_append(rows, line.text, line.length);
}

/* Ops begin with the visit's id and number, as its own row has them behind its schema. Rows of other
 * instances before the first of them were left by a killed prune. */
static enum pdnn_status take_ops(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                 size_t count, struct pdnn_err *err) {
    const struct pdnn_piece id = visit->field[PDNN_JOURNAL_ID], number = visit->field[PDNN_JOURNAL_VISIT];
    struct pdnn_scan_file *file = &scan->ops;
    const size_t key = (size_t)(number.text + number.length - id.text) + 1;
    char name[PDNN_ID_TEXT];
    plain(id, name, sizeof name);
    visit->ops_offset = file->offset + file->at;
    visit->ops_length = 0;
    for (size_t taken = 0; taken < count;) {
        struct pdnn_piece line;
        if (next_line(file, &line, err) != PDNN_OK)
            return err->status;
        if (!line.text)
            return pdnn_fail(err, PDNN_INVALID, "%s: ends before visit %.*s of %s has its %zu ops",
                             file->path, (int)number.length, number.text, name, count);
        bool is_of_id = line.length > id.length && memcmp(line.text, id.text, id.length) == 0 &&
                        line.text[id.length] == ',';
        if (!taken && !is_of_id) {
            append(scan->strays, line);
            continue;
        }
        if (line.length <= key || memcmp(line.text, id.text, key) != 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": is not op %zu of visit %.*s of %s",
                             file->path, file->line, taken + 1, (int)number.length, number.text, name);
        if (!taken++)
            visit->ops_offset = file->offset + file->at - line.length;
        append(scan->ops_rows, line);
        visit->ops_length += line.length;
    }
    return PDNN_OK;
}

/* Whether nothing but an incomplete line follows. */
static bool is_last(struct pdnn_scan_file *file) {
    struct pdnn_piece line;
    struct pdnn_err ignored = {0};
    return next_line(file, &line, &ignored) == PDNN_OK && !line.text;
}

enum pdnn_status pdnn_journal_scan_next(struct pdnn_journal_scan *scan, struct pdnn_scanned_visit *visit,
                                        bool *done, struct pdnn_err *err) {
    struct pdnn_scan_file *file = &scan->visits;
    size_t n_ops, schema;
    *done = false;
    if (next_line(file, &visit->line, err) != PDNN_OK)
        return err->status;
    if (!visit->line.text) {
        scan->torn = file->used > file->at;
        *done = true;
        return PDNN_OK;
    }
    visit->offset = file->offset + file->at - visit->line.length;
    const size_t count =
        pdnn_csv_split(visit->line.text, visit->line.length - 1, visit->field, PDNN_JOURNAL_COLUMNS);
    if (count != PDNN_JOURNAL_COLUMNS) {
        const size_t number = file->line;
        scan->torn = *done = is_last(file);
        return *done   ? PDNN_OK
               : count ? pdnn_csv_fail_count(file->path, number, count, PDNN_JOURNAL_COLUMNS, err)
                       : pdnn_fail(err, PDNN_INVALID, "%s:%zu: a NUL byte, or a quote that is never closed",
                                   file->path, number);
    }
    const struct pdnn_piece first = visit->field[PDNN_JOURNAL_SCHEMA], last = visit->field[PDNN_JOURNAL_OPS];
    if (!parse_small(first, &schema) || schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": schema %.*s, this program reads %d", file->path,
                         file->line, (int)first.length, first.text, PDNN_SCHEMA);
    if (!parse_small(last, &n_ops))
        return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": ops: '%.*s' is not a count", file->path,
                         file->line, (int)last.length, last.text);
    return take_ops(scan, visit, n_ops, err);
}
