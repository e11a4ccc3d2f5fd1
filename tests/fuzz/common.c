#define _GNU_SOURCE /* memmem */
#include "tests/fuzz/common.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 256, PATHS = 4 };

_Noreturn void fuzz_die(const char *file, int line, const char *condition, const char *detail) {
    fprintf(stderr, "%s:%d: does not hold: %s%s%s\n", file, line, condition, *detail ? ": " : "", detail);
    abort();
}

bool fuzz_is_ok(enum pdnn_status status, const struct pdnn_err *err) {
    FUZZ_CHECK(status >= PDNN_OK && status < PDNN_STATUS_COUNT);
    FUZZ_CHECK(status == err->status);
    size_t length = strnlen(err->text, sizeof err->text);
    FUZZ_CHECK(length < sizeof err->text);
    FUZZ_CHECK((status == PDNN_OK) == (length == 0));
    return status == PDNN_OK;
}

void fuzz_must(enum pdnn_status status, const struct pdnn_err *err) {
    if (status != PDNN_OK)
        fuzz_die("fuzz", 0, "must be accepted", err->text);
}

char *fuzz_text(const uint8_t *bytes, size_t length) {
    char *text = malloc(length + 1);
    FUZZ_CHECK(text);
    if (length)
        memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

void *fuzz_bytes(const uint8_t *bytes, size_t length) {
    void *copy = malloc(length ? length : 1);
    FUZZ_CHECK(copy);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

static char directory[PATH_TEXT];

/* Files that stay open from one input to the next. Names are literals. */
static struct {
    const char *name;
    int fd;
} files[PATHS];

static void remove_directory(void) {
    for (size_t i = 0; i < PATHS; i++) {
        if (files[i].name)
            fuzz_remove(files[i].name);
    }
    rmdir(directory);
}

const char *fuzz_directory(void) {
    if (*directory)
        return directory;
    struct stat info;
    const char *given = getenv("TMPDIR"), *memory = "/dev/shm";
    const char *root = given && *given                                     ? given
                       : stat(memory, &info) == 0 && S_ISDIR(info.st_mode) ? memory
                                                                           : "/tmp";
    snprintf(directory, sizeof directory, "%s/paradnn-fuzz-XXXXXX", root);
    FUZZ_CHECK(mkdtemp(directory));
    atexit(remove_directory);
    return directory;
}

const struct pdnn_folder *fuzz_folder(void) {
    static struct pdnn_folder folder;
    static bool is_open;
    if (!is_open)
        FUZZ_CHECK(pdnn_folder_open(&folder, fuzz_directory(), NULL) == PDNN_OK);
    is_open = true;
    return &folder;
}

const char *fuzz_path(const char *name) {
    static char path[PATHS][2 * PATH_TEXT];
    static unsigned next;
    char *at = path[next++ % PATHS];
    snprintf(at, sizeof path[0], "%s/%s", fuzz_directory(), name);
    return at;
}

static size_t find_file(const char *name) {
    for (size_t i = 0; i < PATHS; i++) {
        if (files[i].name && strcmp(files[i].name, name) == 0)
            return i;
    }
    return PATHS;
}

static size_t open_file(const char *name) {
    size_t at = 0;
    while (at < PATHS && files[at].name)
        at++;
    FUZZ_CHECK(at < PATHS);
    files[at].name = name;
    files[at].fd = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FUZZ_CHECK(files[at].fd >= 0);
    return at;
}

void fuzz_write(const char *name, const void *bytes, size_t length) {
    size_t at = find_file(name);
    if (at == PATHS)
        at = open_file(name);
    FUZZ_CHECK(pwrite(files[at].fd, bytes, length, 0) == (ssize_t)length);
    FUZZ_CHECK(ftruncate(files[at].fd, (off_t)length) == 0);
}

void fuzz_remove(const char *name) {
    size_t at = find_file(name);
    if (at < PATHS) {
        close(files[at].fd);
        files[at].name = NULL;
    }
    unlink(fuzz_path(name));
}

struct fuzz_halves fuzz_split(const uint8_t *bytes, size_t length, const char *separator) {
    const uint8_t *end = bytes + length;
    const uint8_t *at = length ? memmem(bytes, length, separator, strlen(separator)) : NULL;
    if (!at)
        return (struct fuzz_halves){bytes, end, length, 0};
    const uint8_t *rest = at + strlen(separator);
    return (struct fuzz_halves){bytes, rest, (size_t)(at - bytes), (size_t)(end - rest)};
}
