#define _GNU_SOURCE /* flock, O_NOFOLLOW */
#include "session/join/presence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_TRIED = 16, LOCK_TRIES = 100, FILE_BYTES = 16384, OTHERS_MAX = 16, SCANNED_MAX = 4096 };

static const char prefix[] = "paradnn-sweep-";

/* "123\n0,1,\n/a/b.results\n": process, cores, directory. */
static void describe(struct pdnn_str *text, const int *cores, int64_t n_cores, const char *directory) {
    char here[PATH_MAX];
    const bool is_whole = *directory == '/' || !getcwd(here, sizeof here);
    pdnn_str_printf(text, "%ld\n", (long)getpid());
    for (int64_t i = 0; i < n_cores; i++)
        pdnn_str_printf(text, "%d,", cores[i]);
    pdnn_str_printf(text, "\n%s%s%s\n", is_whole ? "" : here, is_whole ? "" : "/", directory);
}

/* Another sweep may hold the lock for the moment in which it looks whether this one does. */
static bool take_lock(int fd) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&millisecond, NULL);
    }
    return false;
}

/* A new file that only this process can have opened. Its name is taken if its creator has this process's
 * number in another container, or if somebody planted it. */
static void announce(struct pdnn_presence *presence, const char *place, const struct pdnn_str *text) {
    struct pdnn_presence made = {.fd = -1};
    for (int i = 0; i < NAMES_TRIED && made.fd < 0; i++) {
        int length = snprintf(made.path, sizeof made.path, "%s/%s%ld-%d", place, prefix, (long)getpid(), i);
        if (length < 0 || (size_t)length >= sizeof made.path)
            return;
        made.fd = open(made.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (made.fd < 0 && errno != EEXIST)
            return;
    }
    if (made.fd < 0)
        return;
    fchmod(made.fd, 0644); /* whatever the umask: sweeps of other users look */
    if (take_lock(made.fd) && write(made.fd, text->text, text->length) == (ssize_t)text->length)
        *presence = made;
    else
        pdnn_presence_end(&made);
}

/* Reads the file if its creator still holds the lock; removes it otherwise, as far as that is allowed. */
static bool read_live(int place, const char *name, char text[FILE_BYTES]) {
    struct stat info;
    ssize_t length = 0;
    bool is_live = false;
    int fd = openat(place, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < FILE_BYTES) {
        is_live = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        length = read(fd, text, FILE_BYTES - 1);
        if (!is_live && length > 0 && info.st_uid == geteuid())
            unlinkat(place, name, 0);
    }
    close(fd);
    text[length > 0 ? length : 0] = 0;
    return is_live && length > 0;
}

/* A live sweep, as its file has it. */
struct other {
    char text[FILE_BYTES];
    const char *cores, *directory; /* "0,1,\n"; up to the end of its line */
};

/* Calls `see` for each other live sweep, until it has returned true OTHERS_MAX times. own: the file's name
 * that is not another's. */
static void look(const char *place, const char *own, bool (*see)(void *user, const struct other *other),
                 void *user) {
    struct other other;
    DIR *files = opendir(place);
    int found = 0, scanned = 0;
    for (struct dirent *file = files ? readdir(files) : NULL;
         file && found < OTHERS_MAX && scanned < SCANNED_MAX; file = readdir(files)) {
        if (strncmp(file->d_name, prefix, strlen(prefix)) != 0 || strcmp(file->d_name, own) == 0)
            continue;
        scanned++;
        if (!read_live(dirfd(files), file->d_name, other.text))
            continue;
        const char *cores = strchr(other.text, '\n'), *directory = cores ? strchr(cores + 1, '\n') : NULL;
        other.cores = cores ? cores + 1 : NULL;
        other.directory = directory ? directory + 1 : NULL;
        found += directory && see(user, &other);
    }
    if (files)
        closedir(files);
}

static bool has_core(const struct other *other, int core) {
    char *end;
    for (const char *at = other->cores; *at >= '0' && *at <= '9'; at = end + (*end == ','))
        if (strtol(at, &end, 10) == core)
            return true;
    return false;
}

struct cores {
    const int *core;
    int64_t count;
    bool *is_taken;          /* by core */
    struct pdnn_str *others; /* one line a sweep that has one of them */
};

static bool note_taken(void *user, const struct other *other) {
    const struct cores *cores = user;
    for (int64_t i = 0; i < cores->count; i++)
        cores->is_taken[i] = cores->is_taken[i] || has_core(other, cores->core[i]);
    return false;
}

static bool tell_sharing(void *user, const struct other *other) {
    const struct cores *cores = user;
    bool shares = false;
    for (int64_t i = 0; i < cores->count; i++)
        shares = shares || has_core(other, cores->core[i]);
    if (shares)
        pdnn_str_printf(cores->others, "pid %ld in %.*s\n", strtol(other->text, NULL, 10),
                        (int)strcspn(other->directory, "\n"), other->directory);
    return shares;
}

/* Puts cores that no other sweep has before those that one has. */
static void put_free_first(const char *place, struct pdnn_host *host) {
    bool is_taken[PDNN_HOST_CORES_MAX] = {false};
    int sorted[PDNN_HOST_CORES_MAX];
    size_t count = 0;
    look(place, "", note_taken, &(struct cores){host->core_pu, host->threads, is_taken, NULL});
    for (int taken = 0; taken < 2; taken++)
        for (int64_t i = 0; i < host->threads; i++)
            if (is_taken[i] == taken)
                sorted[count++] = host->core_pu[i];
    memcpy(host->core_pu, sorted, count * sizeof *sorted);
}

/* Containers with a /dev/shm each can be given one directory. */
static const char *find_place(void) {
    const char *place = getenv("PARADNN_PRESENCE_DIR");
    return place && *place ? place : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

void pdnn_presence_begin(struct pdnn_presence *presence, const int *cores, int64_t n_cores,
                         const char *directory, struct pdnn_str *others) {
    struct pdnn_str text = {0};
    const char *place = find_place();
    *presence = (struct pdnn_presence){0};
    describe(&text, cores, n_cores, directory);
    announce(presence, place,
             &text); /* before looking, so that of two that begin at once, one sees the other */
    pdnn_str_finish(&text);
    const char *own = presence->path[0] ? strrchr(presence->path, '/') + 1 : "";
    look(place, own, tell_sharing, &(struct cores){cores, n_cores, NULL, others});
}

void pdnn_presence_begin_beside(struct pdnn_presence *presence, struct pdnn_host *host, int64_t n_cores,
                                const char *directory, struct pdnn_str *others) {
    const char *place = find_place();
    const int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_alone = fd >= 0 && take_lock(fd);
    put_free_first(place, host);
    pdnn_presence_begin(presence, host->core_pu, n_cores, directory, others);
    if (is_alone)
        flock(fd, LOCK_UN);
    if (fd >= 0)
        close(fd);
}

void pdnn_presence_end(struct pdnn_presence *presence) {
    if (!presence->path[0])
        return;
    unlink(presence->path);
    close(presence->fd);
    *presence = (struct pdnn_presence){0};
}
