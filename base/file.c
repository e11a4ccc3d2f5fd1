#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum pdnn_status pdnn_fd_write(int fd, const void *bytes, size_t length, struct pdnn_err *err) {
    const char *at = bytes;
    while (length) {
        ssize_t done = write(fd, at, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return pdnn_fail(err, PDNN_IO, "cannot write: %s", strerror(errno));
        at += done;
        length -= (size_t)done;
    }
    return PDNN_OK;
}

static enum pdnn_status read_open_file(int fd, const char *path, size_t limit_bytes, char **text,
                                       size_t *length, struct pdnn_err *err) {
    size_t room = 65536, used = 0;
    char *buffer = malloc(room);
    while (buffer) {
        ssize_t done = read(fd, buffer + used, room - used - 1);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            free(buffer);
            return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", path, strerror(errno));
        }
        if (done == 0) {
            buffer[used] = 0;
            *text = buffer;
            if (length)
                *length = used;
            return PDNN_OK;
        }
        used += (size_t)done;
        if (used > limit_bytes) {
            free(buffer);
            return pdnn_fail(err, PDNN_INVALID, "%s: larger than the %zu bytes allowed here", path,
                             limit_bytes);
        }
        if (room - used < 2) {
            char *larger = realloc(buffer, room * 2);
            if (!larger)
                free(buffer);
            buffer = larger;
            room *= 2;
        }
    }
    return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory while reading", path);
}

enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
    struct stat info;
    enum pdnn_status status;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = pdnn_fail(err, PDNN_INVALID, "%s: is a directory, expected a file", path);
    else
        status = read_open_file(fd, path, limit_bytes, text, length, err);
    close(fd);
    return status;
}

enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err) {
    char temporary[PATH_MAX];
    int written = snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (written < 0 || (size_t)written >= sizeof temporary)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", temporary, strerror(errno));
    enum pdnn_status status = pdnn_fd_write(fd, text, length, err);
    if (status == PDNN_OK && fsync(fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "cannot sync: %s", strerror(errno));
    if (close(fd) != 0 && status == PDNN_OK)
        status = pdnn_fail(err, PDNN_IO, "cannot close: %s", strerror(errno));
    if (status == PDNN_OK && rename(temporary, path) != 0)
        status = pdnn_fail(err, PDNN_IO, "cannot rename: %s", strerror(errno));
    if (status != PDNN_OK) {
        unlink(temporary);
        return pdnn_wrap(err, "%s", path);
    }
    return PDNN_OK;
}
