#define _DEFAULT_SOURCE /* flock */
#include "results/store/log_file.h"

#include "base/file.h"
#include "results/store/results.h"
#include "results/table/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_LIMIT_BYTES ((size_t)1 << 36)

enum pdnn_status pdnn_header_check(const struct pdnn_table_def *def, const char *path, const char *text,
                                   size_t length, bool *is_whole, struct pdnn_err *err) {
    struct pdnn_str header = {0};
    pdnn_table_csv_header(&header, def);
    *is_whole = length >= header.length;
    bool matches = memcmp(text, header.text, *is_whole ? header.length : length) == 0;
    pdnn_str_finish(&header);
    if (matches)
        return PDNN_OK;
    static const char first[] = "schema,";
    const char *row = memchr(text, '\n', length);
    bool has_schema = length > sizeof first && memcmp(text, first, sizeof first - 1) == 0;
    if (has_schema && row && text + length - row > 2 && row[1] < '0' + PDNN_SCHEMA && row[2] == ',')
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s: written by an older version of paradnn (schema %c, now %d); use another directory", path,
            row[1], PDNN_SCHEMA);
    return pdnn_fail(err, PDNN_INVALID,
                     "%s:1: not a %s.csv of this version of paradnn (schema %d); use another directory", path,
                     def->name, PDNN_SCHEMA);
}

void pdnn_log_row_flatten(struct pdnn_table *table, size_t row) {
    for (size_t column = 0; column < table->n_columns; column++) {
        if (table->column[column].def.kind != PDNN_KIND_TEXT)
            continue;
        struct pdnn_str line = {0};
        pdnn_table_append(table, row, column, &line);
        for (size_t i = 0; i < line.length; i++)
            if ((unsigned char)line.text[i] < 0x20)
                line.text[i] = ' ';
        pdnn_table_set_text(table, row, column, pdnn_str_text(&line));
        pdnn_str_finish(&line);
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
    bool locked = !exclusive || flock(file->fd, LOCK_EX | LOCK_NB) == 0;
    /* Whoever held the lock may have replaced the file. */
    bool replaced = locked && exclusive && pdnn_log_file_check(file, NULL) != PDNN_OK;
    if (locked && !replaced)
        return PDNN_OK;
    if (replaced || errno == EWOULDBLOCK)
        return pdnn_fail(err, PDNN_BUSY, "%s: another paradnn is writing there; wait for it or use -o",
                         file->folder->path);
    bool lacks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
    return pdnn_fail(err, PDNN_IO, "%s: cannot be locked: %s%s", file->path, strerror(errno),
                     lacks
                         ? "; this file system has no locks: mount it with them (Lustre: -o flock), or use a "
                           "directory on another one with -o"
                         : "");
}

/* Without a last line that a crash cut short: it has no newline, or not all fields. */
static size_t complete_length(const struct pdnn_table_def *def, const char *text, size_t length) {
    size_t complete = length;
    while (text[complete - 1] != '\n')
        complete--;
    size_t start = complete - 1;
    while (start && text[start - 1] != '\n')
        start--;
    return pdnn_csv_split(text + start, complete - 1 - start, NULL, 0) == def->count ? complete : start;
}

enum pdnn_status pdnn_log_file_load(struct pdnn_log_file *file,
                                    enum pdnn_status (*check)(const struct pdnn_table *table, size_t row,
                                                              struct pdnn_err *err),
                                    struct pdnn_table *table, struct pdnn_err *err) {
    struct pdnn_table_file read = {.path = file->path, .check = check};
    char *text;
    size_t length;
    pdnn_table_init(table, file->def);
    if (access(file->path, F_OK) != 0)
        return PDNN_OK;
    enum pdnn_status status = pdnn_file_read(file->path, LOG_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    bool is_whole = false;
    status = pdnn_header_check(file->def, file->path, text, length, &is_whole, err);
    if (status != PDNN_OK || !is_whole) {
        free(text);
        file->torn = status == PDNN_OK && length > 0;
        return status;
    }
    struct pdnn_table rows;
    file->length = complete_length(file->def, text, length);
    file->torn = file->length < length;
    text[file->length] = 0;
    status = pdnn_table_read_text(&read, text, file->length, file->def, &rows, err);
    free(text);
    if (status == PDNN_OK) {
        pdnn_table_finish(table);
        *table = rows;
    }
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
