#define _DEFAULT_SOURCE /* flock */
#include "results/store/log_file.h"

#include "base/file.h"
#include "results/store/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_LIMIT_BYTES ((size_t)1 << 36)

void pdnn_log_file_init(struct pdnn_log_file *file, const struct pdnn_folder *folder,
                        const struct pdnn_columns *columns) {
    *file = (struct pdnn_log_file){.folder = folder, .columns = columns, .fd = -1};
    pdnn_folder_path(folder, columns->table, file->path);
}

enum pdnn_status pdnn_log_file_open(struct pdnn_log_file *file, bool exclusive, struct pdnn_err *err) {
    file->fd = openat(file->folder->fd, file->columns->table, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
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

enum pdnn_status pdnn_log_file_load(struct pdnn_log_file *file, struct pdnn_csv *csv, struct pdnn_err *err) {
    char *text;
    size_t length;
    *csv = (struct pdnn_csv){0};
    if (access(file->path, F_OK) != 0)
        return PDNN_OK;
    enum pdnn_status status = pdnn_file_read(file->path, LOG_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    enum pdnn_header_match match = pdnn_columns_match(file->columns, text, length);
    if (match == PDNN_HEADER_OTHER)
        status = pdnn_columns_refuse(file->columns, file->path, text, length, err);
    if (match != PDNN_HEADER_WHOLE) {
        free(text);
        file->torn = match == PDNN_HEADER_CUT && length > 0;
        return status;
    }
    status = pdnn_csv_parse(file->path, text, length, PDNN_CSV_JOURNAL, csv, err);
    if (status == PDNN_OK) {
        file->torn = csv->torn;
        file->length = csv->complete_bytes;
    }
    return status;
}

void pdnn_log_file_keep(struct pdnn_log_file *file, uint64_t length) {
    file->torn = file->torn || length < file->length;
    file->length = length;
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
    pdnn_columns_header(file->columns, &header);
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
    if (fstat(file->fd, &here) == 0 && fstatat(file->folder->fd, file->columns->table, &named, 0) == 0 &&
        here.st_dev == named.st_dev && here.st_ino == named.st_ino)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_IO, "%s: the file was deleted, moved or replaced meanwhile", file->path);
}

void pdnn_log_file_close(struct pdnn_log_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
