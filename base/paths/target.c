#define _POSIX_C_SOURCE 200809L
#include "base/paths/target.h"

#include "base/file.h"
#include "base/paths/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* As many as the kernel follows; how long a pipe's reader may take to come. */
enum { LINKS_MAX = 40, READER_WAIT_MS = 2000, READER_POLL_MS = 10 };

/* Follows one link; false if the path is not a link. The path it makes may be too long: then it is cut, and
 * no file is found there. */
static bool follow(char path[PDNN_TARGET_TEXT]) {
    char link[PDNN_TARGET_TEXT], joined[2 * PDNN_TARGET_TEXT];
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length <= 0)
        return false;
    link[length] = 0;
    const char *slash = strrchr(path, '/');
    int directory = *link != '/' && slash ? (int)(slash - path) + 1 : 0;
    snprintf(joined, sizeof joined, "%.*s%s", directory, path, link);
    snprintf(path, PDNN_TARGET_TEXT, "%.*s", PDNN_TARGET_TEXT - 1, joined);
    return true;
}

/* Sets `file` to where the links lead to. */
static void resolve(const char *path, char file[PDNN_TARGET_TEXT]) {
    snprintf(file, PDNN_TARGET_TEXT, "%s", path);
    for (int i = 0; i < LINKS_MAX && pdnn_file_descriptor(file) < 0 && follow(file); i++) {
    }
}

static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool pdnn_target_is_stream(const char *path) {
    char file[PDNN_TARGET_TEXT];
    resolve(path, file);
    return pdnn_file_descriptor(file) >= 0 || is_special(path);
}

static enum pdnn_status open_descriptor(struct pdnn_target *target, int fd, struct pdnn_err *err) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        return pdnn_fail(err, PDNN_INVALID, "%s: is not open for writing", target->path);
    target->fd = flags < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (target->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be written: %s", target->path, strerror(errno));
    return PDNN_OK;
}

/* Kept open from here on: a reader that saw the pipe closed would go. */
static enum pdnn_status open_special(struct pdnn_target *target, struct pdnn_err *err) {
    const struct timespec pause = {.tv_nsec = READER_POLL_MS * 1000000L};
    struct stat info;
    bool is_pipe = stat(target->path, &info) == 0 && S_ISFIFO(info.st_mode);
    for (int waited_ms = 0;; waited_ms += READER_POLL_MS) {
        target->fd = open(target->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (target->fd >= 0 || !is_pipe || errno != ENXIO || waited_ms >= READER_WAIT_MS)
            break;
        nanosleep(&pause, NULL);
    }
    if (target->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be written: %s", target->path,
                         is_pipe && errno == ENXIO ? "nobody reads this pipe" : strerror(errno));
    return pdnn_fd_make_blocking(target->fd, target->path, err);
}

enum pdnn_status pdnn_target_open(struct pdnn_target *target, const char *path, struct pdnn_err *err) {
    target->fd = -1;
    int written = snprintf(target->path, sizeof target->path, "%s", path);
    if (written < 0 || (size_t)written >= sizeof target->path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", path);
    struct stat info;
    if (stat(path, &info) != 0 && errno == ELOOP)
        return pdnn_fail(err, PDNN_INVALID, "%s: is a link that goes in circles", path);
    resolve(path, target->file);
    int fd = pdnn_file_descriptor(target->file);
    if (fd >= 0)
        return open_descriptor(target, fd, err);
    if (is_special(path))
        return open_special(target, err);
    enum pdnn_status status = pdnn_file_try_at(AT_FDCWD, target->file, target->path, err);
    if (status != PDNN_OK)
        pdnn_link_check(path, err);
    return status;
}

enum pdnn_status pdnn_target_open_own(struct pdnn_target *target, const char *path, struct pdnn_err *err) {
    target->fd = -1;
    int written = snprintf(target->path, sizeof target->path, "%s", path);
    if (written < 0 || (size_t)written >= sizeof target->path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", path);
    memcpy(target->file, target->path, sizeof target->file);
    return pdnn_file_try_at(AT_FDCWD, target->file, target->path, err);
}

enum pdnn_status pdnn_target_write(const struct pdnn_target *target, const char *text, size_t length,
                                   struct pdnn_err *err) {
    if (target->fd < 0)
        return pdnn_file_replace_at(AT_FDCWD, target->file, target->path, text, length, err);
    enum pdnn_status status = pdnn_fd_write(target->fd, text, length, err);
    if (status != PDNN_OK)
        pdnn_wrap(err, "%s", target->path);
    return status;
}

void pdnn_target_close(struct pdnn_target *target) {
    if (target->fd >= 0)
        close(target->fd);
    target->fd = -1;
}
