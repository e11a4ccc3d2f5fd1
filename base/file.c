#define _DEFAULT_SOURCE /* getentropy */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
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

/* A descriptor that whoever started the program opened for it, as a shell does for <(command). A link of
 * another name to one is a file like any other. */
static bool is_own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    }
    return strcmp(path, "/dev/stdin") == 0;
}

/* Opened without waiting for the other end; from here on reads and writes wait. */
static enum pdnn_status make_blocking(int fd, const char *path, struct pdnn_err *err) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", path, strerror(errno));
    return PDNN_OK;
}

static enum pdnn_status check_kind(int fd, const char *path, struct pdnn_err *err) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISREG(info.st_mode))
        return PDNN_OK;
    if (S_ISFIFO(info.st_mode) && is_own_descriptor(path))
        return make_blocking(fd, path, err);
    return pdnn_fail(err, PDNN_INVALID, "%s: is a %s, expected a file", path,
                     S_ISDIR(info.st_mode)    ? "directory"
                     : S_ISFIFO(info.st_mode) ? "pipe"
                                              : "device");
}

enum pdnn_status pdnn_file_read(const char *path, size_t limit_bytes, char **text, size_t *length,
                                struct pdnn_err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
    enum pdnn_status status = check_kind(fd, path, err);
    if (status == PDNN_OK)
        status = read_open_file(fd, path, limit_bytes, text, length, err);
    close(fd);
    return status;
}

/* Creates a file of an unpredictable name in the directory of path. Whatever is there already, a link among
 * others, is neither followed nor overwritten. */
static int create_beside(const char *path, char temporary[PATH_MAX], struct pdnn_err *err) {
    enum { TRIES = 16 };
    const char *slash = strrchr(path, '/');
    int fd = -1, directory = slash ? (int)(slash - path) + 1 : 0;
    for (int try = 0; fd < 0 && try < TRIES; try++) {
        uint64_t random;
        if (getentropy(&random, sizeof random) != 0)
            break;
        int written =
            snprintf(temporary, PATH_MAX, "%.*sparadnn-%016" PRIx64 ".tmp", directory, path, random);
        if (written < 0 || written >= PATH_MAX) {
            pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", path);
            return -1;
        }
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    return fd;
}

enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err) {
    char temporary[PATH_MAX];
    struct pdnn_err own = {0};
    if (!err)
        err = &own;
    int fd = create_beside(path, temporary, err);
    if (fd < 0)
        return err->status;
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

void pdnn_file_clean(const char *directory) {
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS = 16 };
    DIR *entries = opendir(directory);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (strncmp(name, "paradnn-", 8) == 0 && strspn(name + 8, digits) == DIGITS &&
            strcmp(name + 8 + DIGITS, ".tmp") == 0)
            unlinkat(dirfd(entries), name, 0);
    }
    if (entries)
        closedir(entries);
}

/* A pipe without a reader is an error, not a reason to wait. */
static enum pdnn_status write_into(const char *path, const char *text, size_t length, struct pdnn_err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    enum pdnn_status status = make_blocking(fd, path, err);
    if (status == PDNN_OK && pdnn_fd_write(fd, text, length, err) != PDNN_OK)
        status = pdnn_wrap(err, "%s", path);
    close(fd);
    return status;
}

enum pdnn_status pdnn_file_write(const char *path, const char *text, size_t length, struct pdnn_err *err) {
    struct stat info;
    char target[PATH_MAX];
    if (stat(path, &info) != 0 || S_ISDIR(info.st_mode))
        return pdnn_file_replace(path, text, length, err);
    if (!S_ISREG(info.st_mode))
        return write_into(path, text, length, err);
    return pdnn_file_replace(realpath(path, target) ? target : path, text, length, err);
}
