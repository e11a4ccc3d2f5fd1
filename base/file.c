#define _DEFAULT_SOURCE /* getentropy */
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

size_t pdnn_text_mark(const char *text, size_t length) {
    static const char mark[] = "\xef\xbb\xbf";
    return length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
}

/* size_bytes: what the file is said to have; 0 for pipes and for files that the kernel makes up. */
static enum pdnn_status read_open_file(int fd, const char *path, size_t limit_bytes, size_t size_bytes,
                                       char **text, size_t *length, struct pdnn_err *err) {
    size_t expected = size_bytes < limit_bytes ? size_bytes : limit_bytes;
    size_t room = expected ? expected + 2 : 65536, used = 0;
    char *buffer = pdnn_alloc(room, 1);
    for (;;) {
        ssize_t done = read(fd, buffer + used, room - used - 1);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", path, strerror(errno));
            free(buffer);
            return PDNN_INVALID;
        }
        if (done == 0) {
            const size_t mark = pdnn_text_mark(buffer, used);
            buffer[used] = 0;
            memmove(buffer, buffer + mark, used - mark + 1);
            *text = buffer;
            if (length)
                *length = used - mark;
            return PDNN_OK;
        }
        used += (size_t)done;
        if (used > limit_bytes) {
            free(buffer);
            return pdnn_fail(err, PDNN_INVALID, "%s: larger than the %zu bytes allowed here", path,
                             limit_bytes);
        }
        if (room - used < 2) {
            buffer = pdnn_resize(buffer, room, 2);
            room *= 2;
        }
    }
}

enum pdnn_status pdnn_fd_read(int fd, const char *name, size_t limit_bytes, char **text, size_t *length,
                              struct pdnn_err *err) {
    return read_open_file(fd, name, limit_bytes, 0, text, length, err);
}

/* A descriptor that whoever started the program opened for it, as a shell does for <(command). A link of
 * another name to one is a file like any other. */
int pdnn_file_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int fd = 0; fd < 3; fd++) {
        if (strcmp(path, names[fd]) == 0)
            return fd;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int64_t number;
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0 && pdnn_parse_i64(path + length, &number) && number >= 0 &&
            number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* Opened without waiting for the other end; from here on reads and writes wait. */
enum pdnn_status pdnn_fd_make_blocking(int fd, const char *path, struct pdnn_err *err) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be opened: %s", path, strerror(errno));
    return PDNN_OK;
}

static enum pdnn_status check_kind(int fd, const char *path, size_t *size_bytes, struct pdnn_err *err) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISREG(info.st_mode)) {
        *size_bytes = (size_t)info.st_size;
        return PDNN_OK;
    }
    int own = S_ISFIFO(info.st_mode) ? pdnn_file_descriptor(path) : -1;
    if (own >= 0 && (fcntl(own, F_GETFL) & O_ACCMODE) != O_WRONLY)
        return pdnn_fd_make_blocking(fd, path, err);
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
    size_t size_bytes = 0;
    enum pdnn_status status = check_kind(fd, path, &size_bytes, err);
    if (status == PDNN_OK)
        status = read_open_file(fd, path, limit_bytes, size_bytes, text, length, err);
    close(fd);
    return status;
}

/* Creates a file of an unpredictable name in the directory of `name`. Whatever is there already, a link among
 * others, is neither followed nor overwritten. Returns -1 and sets errno on failure. */
static int create_beside(int directory, const char *name, char temporary[PATH_MAX]) {
    enum { TRIES = 16 };
    const char *slash = strrchr(name, '/');
    int fd = -1, prefix = slash ? (int)(slash - name) + 1 : 0;
    for (int try = 0; fd < 0 && try < TRIES; try++) {
        uint64_t random;
        if (getentropy(&random, sizeof random) != 0)
            break;
        int written = snprintf(temporary, PATH_MAX, "%.*sparadnn-%016" PRIx64 ".tmp", prefix, name, random);
        if (written < 0 || written >= PATH_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Writes such a file, and syncs it; none is left after a failure. */
static enum pdnn_status write_beside(int directory, const char *name, char temporary[PATH_MAX],
                                     const char *text, size_t length, struct pdnn_err *err) {
    int fd = create_beside(directory, name, temporary);
    if (fd < 0)
        return pdnn_fail(err, PDNN_IO, "cannot be written: %s", strerror(errno));
    enum pdnn_status status = pdnn_fd_write(fd, text, length, err);
    if (status == PDNN_OK && fsync(fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "cannot sync: %s", strerror(errno));
    if (close(fd) != 0 && status == PDNN_OK)
        status = pdnn_fail(err, PDNN_IO, "cannot close: %s", strerror(errno));
    if (status != PDNN_OK)
        unlinkat(directory, temporary, 0);
    return status;
}

enum pdnn_status pdnn_file_replace_at(int directory, const char *name, const char *path, const char *text,
                                      size_t length, struct pdnn_err *err) {
    char temporary[PATH_MAX];
    enum pdnn_status status = write_beside(directory, name, temporary, text, length, err);
    if (status == PDNN_OK && renameat(directory, temporary, directory, name) != 0) {
        status = pdnn_fail(err, PDNN_IO, "cannot rename: %s", strerror(errno));
        unlinkat(directory, temporary, 0);
    }
    return status == PDNN_OK ? status : pdnn_wrap(err, "%s", path);
}

enum pdnn_status pdnn_file_add_at(int directory, const char *name, const char *path, const char *text,
                                  size_t length, struct pdnn_err *err) {
    char temporary[PATH_MAX];
    struct stat info;
    int cause;
    do {
        if (write_beside(directory, name, temporary, text, length, err) != PDNN_OK)
            return pdnn_wrap(err, "%s", path);
        cause = linkat(directory, temporary, directory, name, 0) == 0 ? 0 : errno;
        unlinkat(directory, temporary, 0);
    } while (cause == ENOENT);
    if (!cause)
        return PDNN_OK;
    if (fstatat(directory, name, &info, 0) == 0)
        return PDNN_BUSY;
    bool lacks = cause == EPERM || cause == EMLINK || cause == ENOSYS || cause == EOPNOTSUPP;
    return pdnn_fail(err, lacks ? PDNN_UNSUPPORTED : PDNN_IO, "%s: cannot be created: %s", path,
                     strerror(cause));
}

enum pdnn_status pdnn_file_replace(const char *path, const char *text, size_t length, struct pdnn_err *err) {
    return pdnn_file_replace_at(AT_FDCWD, path, path, text, length, err);
}

enum pdnn_status pdnn_file_try_at(int directory, const char *name, const char *path, struct pdnn_err *err) {
    char temporary[PATH_MAX];
    struct stat info;
    if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
        return pdnn_fail(err, PDNN_INVALID, "%s: is a directory, expected a file", path);
    int fd = create_beside(directory, name, temporary);
    if (fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be written: %s", path, strerror(errno));
    close(fd);
    unlinkat(directory, temporary, 0);
    return PDNN_OK;
}
