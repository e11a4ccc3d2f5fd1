#define _GNU_SOURCE /* flock, memfd_create */
#include "results/store/log_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/store/results.h"
#include "results/table/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows are far shorter: a longer line is no row. */
enum { BLOCK_BYTES = 1 << 20, LINE_MAX_BYTES = 1 << 24 };

/* The header line, of this schema or of the one before. */
static void make_header(const struct pdnn_table_def *def, bool is_older, struct pdnn_str *header) {
    for (size_t i = 0; i < def->count; i++)
        if (!is_older || def->column[i].since != PDNN_SCHEMA)
            pdnn_str_printf(header, "%s%s", header->length ? "," : "", def->column[i].name);
    pdnn_str_append(header, "\n", 1);
}

/* A file that was killed before its header was complete ends within it. */
static bool has_header(const struct pdnn_table_def *def, bool is_older, const char *text, size_t length) {
    struct pdnn_str header = {0};
    make_header(def, is_older, &header);
    const bool is_whole = length >= header.length;
    const bool matches =
        (is_whole || !is_older) && memcmp(text, header.text, is_whole ? header.length : length) == 0;
    pdnn_str_finish(&header);
    return matches;
}

static enum pdnn_status refuse_header(const struct pdnn_table_def *def, const char *path, const char *text,
                                      size_t length, struct pdnn_err *err) {
    static const char first[] = "schema,";
    const char *row = memchr(text, '\n', length);
    bool has_schema = length > sizeof first && memcmp(text, first, sizeof first - 1) == 0;
    const int schema = has_schema && row ? atoi(row + 1) : 0;
    if (schema > 0 && schema < PDNN_SCHEMA)
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s: written by an older version of paradnn (schema %d, now %d); use another directory", path,
            schema, PDNN_SCHEMA);
    return pdnn_fail(err, PDNN_INVALID,
                     "%s:1: not a %s.csv of this version of paradnn (schema %d); use another directory", path,
                     def->name, PDNN_SCHEMA);
}

/* The rows of the schema before with the columns that have come, empty. What is not such a row, stays. */
static void convert(const struct pdnn_table_def *def, const char *text, size_t length, struct pdnn_str *out) {
    struct pdnn_piece *field = pdnn_alloc(def->count, sizeof *field);
    char before[PDNN_U64_DIGITS];
    const size_t digits = (size_t)snprintf(before, sizeof before, "%d", PDNN_SCHEMA - 1);
    size_t older = 0;
    for (size_t i = 0; i < def->count; i++)
        older += def->column[i].since != PDNN_SCHEMA;
    const char *end = text + length, *line = memchr(text, '\n', length);
    make_header(def, false, out);
    for (line = line ? line + 1 : end; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const size_t whole = next ? (size_t)(next - line) : 0;
        const bool is_row = next && pdnn_csv_split(line, whole, field, def->count) == older;
        size_t at = 0;
        for (size_t i = 0; is_row && i < def->count; i++) {
            if (i)
                pdnn_str_append(out, ",", 1);
            if (def->column[i].since == PDNN_SCHEMA)
                continue;
            const bool is_schema = strcmp(def->column[i].name, "schema") == 0;
            if (is_schema && field[at].length == digits && memcmp(field[at].text, before, digits) == 0)
                pdnn_str_printf(out, "%d", PDNN_SCHEMA);
            else
                pdnn_str_append(out, field[at].text, field[at].length);
            at++;
        }
        if (is_row)
            pdnn_str_append(out, "\n", 1);
        else
            pdnn_str_append(out, line, next ? whole + 1 : (size_t)(end - line));
        line = next ? next + 1 : end;
    }
    free(field);
}

static enum pdnn_status read_converted(const struct pdnn_table_def *def, const char *path,
                                       struct pdnn_str *old, struct pdnn_str *text, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_file_read(path, SIZE_MAX, &old->text, &old->length, err);
    if (status == PDNN_OK)
        convert(def, old->text, old->length, text);
    return status;
}

/* Goes on with the converted text, in memory. */
static enum pdnn_status scan_converted(struct pdnn_log_scan *scan, struct pdnn_err *err) {
    struct pdnn_str old = {0}, text = {0};
    enum pdnn_status status = read_converted(scan->def, scan->path, &old, &text, err);
    const int fd = status == PDNN_OK ? memfd_create(scan->def->name, MFD_CLOEXEC) : -1;
    if (status == PDNN_OK)
        status = fd < 0 ? pdnn_fail(err, PDNN_IO, "%s: cannot be converted: %s", scan->path, strerror(errno))
                        : pdnn_fd_write(fd, text.text, text.length, err);
    pdnn_str_finish(&old);
    pdnn_str_finish(&text);
    if (fd >= 0) {
        close(scan->fd);
        scan->fd = fd;
    }
    scan->is_older = true;
    scan->header = scan->mark = 0;
    pdnn_log_scan_rewind(scan);
    return status;
}

/* Moves what is left to the front of the block and reads on. *more is false at the end of the file. */
static enum pdnn_status fill(struct pdnn_log_scan *scan, bool *more, struct pdnn_err *err) {
    memmove(scan->block, scan->block + scan->at, scan->used - scan->at);
    scan->offset += scan->at;
    scan->used -= scan->at;
    scan->at = 0;
    if (scan->used == scan->room) {
        if (scan->room >= LINE_MAX_BYTES)
            return pdnn_fail(err, PDNN_INVALID, "%s:%" PRIu64 ": a line too long for a row", scan->path,
                             scan->line + 1);
        scan->room *= 2;
        scan->block = pdnn_resize(scan->block, scan->room, 1);
    }
    ssize_t got;
    do
        got = pread(scan->fd, scan->block + scan->used, scan->room - scan->used,
                    (off_t)(scan->offset + scan->used));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be read: %s", scan->path, strerror(errno));
    scan->used += (size_t)got;
    *more = got > 0;
    return PDNN_OK;
}

enum pdnn_status pdnn_log_scan_line(struct pdnn_log_scan *scan, struct pdnn_piece *line,
                                    struct pdnn_err *err) {
    size_t searched = 0;
    *line = (struct pdnn_piece){NULL, 0};
    if (scan->fd < 0)
        return PDNN_OK;
    /* Blocks are there only while a scan is under way: a merge keeps the files of many directories open. */
    if (!scan->block) {
        scan->block = pdnn_alloc(BLOCK_BYTES, 1);
        scan->room = BLOCK_BYTES;
    }
    for (bool more = true; more;) {
        const char *from = scan->block + scan->at;
        const char *end = memchr(from + searched, '\n', scan->used - scan->at - searched);
        if (end) {
            *line = (struct pdnn_piece){from, (size_t)(end - from) + 1};
            scan->at += line->length;
            scan->line++;
            return PDNN_OK;
        }
        searched = scan->used - scan->at;
        if (fill(scan, &more, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_log_scan_open(struct pdnn_log_scan *scan, const char *directory,
                                    const struct pdnn_table_def *def, struct pdnn_err *err) {
    char name[PDNN_LOG_FILE_TEXT];
    struct stat info;
    struct pdnn_piece header;
    *scan = (struct pdnn_log_scan){.def = def, .fd = -1};
    snprintf(name, sizeof name, "%s.csv", def->name);
    if (!pdnn_path_join(scan->path, directory, name))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    scan->fd = open(scan->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (scan->fd < 0 && errno == ENOENT)
        return PDNN_OK;
    if (scan->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", scan->path, strerror(errno));
    if (fstat(scan->fd, &info) != 0 || !S_ISREG(info.st_mode))
        return pdnn_fail(err, PDNN_INVALID, "%s: is not a file", scan->path);
    enum pdnn_status status = pdnn_log_scan_line(scan, &header, err);
    scan->mark = status == PDNN_OK ? pdnn_text_mark(scan->block, scan->used) : 0;
    if (status == PDNN_OK && !has_header(def, false, scan->block + scan->mark, scan->used - scan->mark)) {
        if (!has_header(def, true, scan->block + scan->mark, scan->used - scan->mark))
            return refuse_header(def, scan->path, scan->block + scan->mark, scan->used - scan->mark, err);
        status = scan_converted(scan, err);
        if (status == PDNN_OK)
            status = pdnn_log_scan_line(scan, &header, err);
    }
    scan->header = header.length;
    return status;
}

/* Whether nothing but an incomplete line follows. */
static bool is_last(struct pdnn_log_scan *scan) {
    struct pdnn_piece line;
    struct pdnn_err ignored = {0};
    return pdnn_log_scan_line(scan, &line, &ignored) == PDNN_OK && !line.text;
}

enum pdnn_status pdnn_log_scan_row(struct pdnn_log_scan *scan, struct pdnn_piece *line,
                                   struct pdnn_piece *fields, size_t room, struct pdnn_err *err) {
    if (pdnn_log_scan_line(scan, line, err) != PDNN_OK)
        return err->status;
    if (!line->text) {
        scan->torn = scan->used > scan->at;
        return PDNN_OK;
    }
    const size_t number = scan->line, count = pdnn_csv_split(line->text, line->length - 1, fields, room);
    if (count == scan->def->count)
        return PDNN_OK;
    *line = (struct pdnn_piece){NULL, 0};
    scan->torn = is_last(scan);
    return scan->torn ? PDNN_OK
           : count    ? pdnn_fail(err, PDNN_INVALID, "%s:%zu: %zu fields, the header has %zu", scan->path,
                                  number, count, scan->def->count)
                      : pdnn_fail(err, PDNN_INVALID, "%s:%zu: a NUL byte, or a quote that is never closed",
                                  scan->path, number);
}

void pdnn_log_scan_rewind(struct pdnn_log_scan *scan) {
    free(scan->block);
    scan->block = NULL;
    scan->at = scan->used = 0;
    scan->offset = scan->header;
    scan->line = scan->header > 0;
}

void pdnn_log_scan_close(struct pdnn_log_scan *scan) {
    if (scan->fd >= 0)
        close(scan->fd);
    scan->fd = -1;
    pdnn_log_scan_rewind(scan);
}

void pdnn_log_row_flatten(struct pdnn_table *table, size_t row) {
    for (size_t column = 0; column < table->n_columns; column++) {
        if (table->column[column].def.kind != PDNN_KIND_TEXT)
            continue;
        char *line = pdnn_strdup(pdnn_table_text(table, row, column));
        for (char *at = line; *at; at++)
            *at = (unsigned char)*at < 0x20 ? ' ' : *at;
        pdnn_table_set_text(table, row, column, line);
        free(line);
    }
}

void pdnn_log_file_init(struct pdnn_log_file *file, const struct pdnn_folder *folder,
                        const struct pdnn_table_def *def) {
    *file = (struct pdnn_log_file){.folder = folder, .def = def, .fd = -1};
    snprintf(file->name, sizeof file->name, "%s.csv", def->name);
    pdnn_folder_path(folder, file->name, file->path);
}

enum pdnn_status pdnn_log_file_open(struct pdnn_log_file *file, bool exclusive, struct pdnn_err *err) {
    file->fd = openat(file->folder->fd, file->name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be opened for writing: %s", file->path,
                         strerror(errno));
    if (!exclusive)
        return PDNN_OK;
    const bool is_locked = flock(file->fd, LOCK_EX | LOCK_NB) == 0;
    /* Whoever held the lock may have replaced the file. */
    if (is_locked && pdnn_log_file_check(file, NULL) == PDNN_OK)
        return PDNN_OK;
    if (is_locked || errno == EWOULDBLOCK)
        return pdnn_fail(err, PDNN_BUSY, "%s: another paradnn is writing there; wait for it or use -o",
                         file->folder->path);
    bool lacks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
    return pdnn_fail(err, PDNN_IO, "%s: cannot be locked: %s%s", file->path, strerror(errno),
                     lacks
                         ? "; this file system has no locks: mount it with them (Lustre: -o flock), or use a "
                           "directory on another one with -o"
                         : "");
}

void pdnn_log_file_keep(struct pdnn_log_file *file, const struct pdnn_log_scan *scan, uint64_t length) {
    struct stat info;
    file->length = scan->line ? length : 0;
    file->torn = scan->fd >= 0 && fstat(scan->fd, &info) == 0 && (uint64_t)info.st_size > file->length;
}

enum pdnn_status pdnn_log_file_convert(const struct pdnn_folder *folder, const struct pdnn_table_def *def,
                                       struct pdnn_err *err) {
    struct pdnn_log_scan scan;
    struct pdnn_str old = {0}, text = {0};
    char name[PDNN_LOG_FILE_TEXT], aside[2 * PDNN_LOG_FILE_TEXT];
    enum pdnn_status status = pdnn_log_scan_open(&scan, folder->path, def, err);
    const bool is_older = scan.is_older;
    pdnn_log_scan_close(&scan);
    if (status != PDNN_OK || !is_older)
        return status;
    status = read_converted(def, scan.path, &old, &text, err);
    snprintf(name, sizeof name, "%s.csv", def->name);
    snprintf(aside, sizeof aside, "%s-schema-%d.csv", def->name, PDNN_SCHEMA - 1);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(folder, aside, old.text, old.length, err);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(folder, name, text.text, text.length, err);
    pdnn_str_finish(&old);
    pdnn_str_finish(&text);
    return status;
}

static enum pdnn_status cut_back(const struct pdnn_log_file *file, struct pdnn_err *err) {
    if (ftruncate(file->fd, (off_t)file->length) != 0 || fdatasync(file->fd) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be cut to its complete rows: %s", file->path,
                         strerror(errno));
    return PDNN_OK;
}

enum pdnn_status pdnn_log_file_settle(struct pdnn_log_file *file, struct pdnn_err *err) {
    if (file->torn && cut_back(file, err) != PDNN_OK)
        return err->status;
    if (file->length)
        return PDNN_OK;
    struct pdnn_str header = {0};
    pdnn_table_csv_header(&header, file->def);
    enum pdnn_status status = pdnn_log_file_append(file, &header, err);
    pdnn_str_finish(&header);
    /* A new file survives a crash only once its directory is synced. */
    if (status == PDNN_OK)
        fsync(file->folder->fd);
    return status;
}

enum pdnn_status pdnn_log_file_append(struct pdnn_log_file *file, const struct pdnn_str *lines,
                                      struct pdnn_err *err) {
    enum pdnn_status status = pdnn_fd_write(file->fd, lines->text, lines->length, err);
    if (status == PDNN_OK && fdatasync(file->fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "cannot sync: %s", strerror(errno));
    if (status != PDNN_OK) {
        cut_back(file, NULL);
        return pdnn_wrap(err, "%s", file->path);
    }
    file->length += lines->length;
    return PDNN_OK;
}

/* If this fails too, the next opening drops them. */
void pdnn_log_file_take_back(struct pdnn_log_file *file, uint64_t length) {
    file->length = length;
    cut_back(file, NULL);
}

enum pdnn_status pdnn_log_file_check(const struct pdnn_log_file *file, struct pdnn_err *err) {
    struct stat here, named;
    if (fstat(file->fd, &here) == 0 && fstatat(file->folder->fd, file->name, &named, 0) == 0 &&
        here.st_dev == named.st_dev && here.st_ino == named.st_ino)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_IO, "%s: the file was deleted, moved or replaced meanwhile", file->path);
}

void pdnn_log_file_close(struct pdnn_log_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
