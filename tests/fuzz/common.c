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

static char directory[PATH_TEXT];

static void remove_directory(void) {
    static const char *const names[] = {"journal.csv", "journal-ops.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fuzz_remove(names[i]);
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

void fuzz_write(const char *name, const void *bytes, size_t length) {
    int fd = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(write(fd, bytes, length) == (ssize_t)length);
    close(fd);
}

void fuzz_remove(const char *name) {
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
