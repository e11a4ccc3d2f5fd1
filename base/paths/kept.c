#define _DEFAULT_SOURCE
#include "base/paths/kept.h"

#include "base/file.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 16 };

/* FNV-1a. It guards against accidents; who can write the file could as well change the program. */
static uint64_t hash(uint64_t seed, const char *text, size_t length) {
    uint64_t value = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return value;
}

static const char *value_of(char *const *variables, const char *name) {
    size_t length = strlen(name);
    for (; *variables; variables++) {
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return *variables + length + 1;
    }
    return "";
}

void pdnn_kept_directory(char *const *variables, char directory[PDNN_KEPT_PATH]) {
    const char *cache = value_of(variables, "XDG_CACHE_HOME"), *home = value_of(variables, "HOME");
    int length = 0;
    directory[0] = 0;
    if (cache[0] == '/')
        length = snprintf(directory, PDNN_KEPT_PATH, "%s/paradnn", cache);
    else if (home[0] == '/')
        length = snprintf(directory, PDNN_KEPT_PATH, "%s/.cache/paradnn", home);
    if (length < 0 || length >= PDNN_KEPT_PATH)
        directory[0] = 0;
}

static void make_directories(const char *directory) {
    char path[PDNN_KEPT_PATH];
    snprintf(path, sizeof path, "%s", directory);
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    mkdir(path, 0700);
}

static bool is_of_kind(const char *name, const char *kind) {
    size_t length = strlen(kind);
    return strncmp(name, kind, length) == 0 && name[length] == '-' &&
           strspn(name + length + 1, "0123456789abcdef") == DIGITS && name[length + 1 + DIGITS] == '.';
}

/* The number of files of the kind, and the name of the oldest. */
static size_t find_oldest(DIR *entries, const char *kind, char oldest[NAME_MAX + 1]) {
    struct timespec least = {0};
    size_t count = 0;
    rewinddir(entries);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        struct stat info;
        if (!is_of_kind(entry->d_name, kind) ||
            fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool is_older = info.st_mtim.tv_sec < least.tv_sec ||
                        (info.st_mtim.tv_sec == least.tv_sec && info.st_mtim.tv_nsec < least.tv_nsec);
        if (!count++ || is_older) {
            least = info.st_mtim;
            snprintf(oldest, NAME_MAX + 1, "%s", entry->d_name);
        }
    }
    return count;
}

/* Creates the directory and its parents, and removes the oldest files of the kind beyond the bound. */
static void prepare(const char *directory, const char *kind) {
    char oldest[NAME_MAX + 1];
    make_directories(directory);
    DIR *entries = opendir(directory);
    while (entries && find_oldest(entries, kind, oldest) > PDNN_KEPT_FILES &&
           unlinkat(dirfd(entries), oldest, 0) == 0)
        continue;
    if (entries)
        closedir(entries);
}

/* An entry starts with a line break if the file does not end in one, as after a write that was cut short. */
static void add_line(const struct pdnn_kept *cache, const char *line, size_t length) {
    struct pdnn_str text = {0};
    struct stat info;
    char last = '\n';
    int fd =
        open(cache->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool has_room = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_size + (off_t)length < (off_t)PDNN_KEPT_BYTES;
    if (has_room && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) != 1)
        has_room = false;
    pdnn_str_printf(&text, "%s%.*s\n", last == '\n' ? "" : "\n", (int)length, line);
    if (has_room && write(fd, text.text, text.length) < 0)
        has_room = false; /* a full disk: not kept */
    pdnn_str_finish(&text);
    close(fd);
}

void pdnn_kept_open(struct pdnn_kept *cache, const char *directory, const char *kind, const char *context) {
    struct stat info;
    size_t length = strlen(context);
    *cache = (struct pdnn_kept){.seal = hash(1, context, length)};
    int path_length = snprintf(cache->path, PDNN_KEPT_FILE, "%s/%s-%016" PRIx64 ".txt", directory, kind,
                               hash(0, context, length));
    if (!directory[0] || path_length < 0 || path_length >= PDNN_KEPT_FILE) {
        cache->path[0] = 0;
        return;
    }
    prepare(directory, kind);
    bool is_there = stat(cache->path, &info) == 0;
    if (is_there && S_ISREG(info.st_mode) && info.st_size > (off_t)PDNN_KEPT_BYTES / 8 * 7)
        is_there = unlink(cache->path) != 0;
    if (!is_there)
        add_line(cache, context, length);
}

/* The line's entry if its seal is intact, or NULL. */
static const char *open_line(const struct pdnn_kept *cache, const char *line) {
    char digits[DIGITS + 1];
    if (strlen(line) <= DIGITS || line[DIGITS] != ' ')
        return NULL;
    const char *text = line + DIGITS + 1;
    snprintf(digits, sizeof digits, "%016" PRIx64, hash(cache->seal, text, strlen(text)));
    return memcmp(digits, line, DIGITS) == 0 ? text : NULL;
}

void pdnn_kept_read(const struct pdnn_kept *cache, void (*entry)(void *user, const char *text), void *user) {
    char *text = NULL;
    size_t length = 0;
    if (!cache->path[0] || pdnn_file_read(cache->path, PDNN_KEPT_BYTES, &text, &length, NULL) != PDNN_OK)
        return;
    for (char *line = text, *end; line < text + length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + length - line));
        if (!end)
            break; /* torn, or still being written */
        *end = 0;
        const char *found = open_line(cache, line);
        if (found)
            entry(user, found);
    }
    free(text);
}

void pdnn_kept_add(const struct pdnn_kept *cache, const char *text) {
    struct pdnn_str line = {0};
    if (!cache->path[0])
        return;
    pdnn_str_printf(&line, "%016" PRIx64 " %s", hash(cache->seal, text, strlen(text)), text);
    add_line(cache, line.text, line.length);
    pdnn_str_finish(&line);
}
