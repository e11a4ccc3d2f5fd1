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
static void describe(struct pdnn_str *text, const struct pdnn_host *host, const char *directory) {
    char here[PATH_MAX];
    const bool is_whole = *directory == '/' || !getcwd(here, sizeof here);
    pdnn_str_printf(text, "%ld\n", (long)getpid());
    for (int64_t i = 0; i < host->threads; i++)
        pdnn_str_printf(text, "%d,", host->core_pu[i]);
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

/* Appends the line if the file is that of another live sweep on one of the host's cores. */
static bool add_other(int place, const char *name, const struct pdnn_host *host, struct pdnn_str *others) {
    char text[FILE_BYTES];
    if (!read_live(place, name, text))
        return false;
    char *cores = strchr(text, '\n'), *directory = cores ? strchr(cores + 1, '\n') : NULL;
    bool shares = false;
    if (!directory)
        return false;
    for (char *at = cores + 1, *end; *at >= '0' && *at <= '9'; at = end + (*end == ',')) {
        const long core = strtol(at, &end, 10);
        for (int64_t i = 0; i < host->threads; i++)
            shares = shares || host->core_pu[i] == core;
    }
    if (!shares)
        return false;
    pdnn_str_printf(others, "pid %ld in %.*s\n", strtol(text, NULL, 10), (int)strcspn(directory + 1, "\n"),
                    directory + 1);
    return true;
}

void pdnn_presence_begin(struct pdnn_presence *presence, const struct pdnn_host *host, const char *directory,
                         struct pdnn_str *others) {
    struct pdnn_str text = {0};
    *presence = (struct pdnn_presence){0};
    /* Containers with a /dev/shm each can be given one directory. */
    const char *place = getenv("PARADNN_PRESENCE_DIR");
    if (!place || !*place)
        place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    describe(&text, host, directory);
    announce(presence, place,
             &text); /* before looking, so that of two that begin at once, one sees the other */
    pdnn_str_finish(&text);
    const char *own = presence->path[0] ? strrchr(presence->path, '/') + 1 : "";
    DIR *files = opendir(place);
    int found = 0, scanned = 0;
    for (struct dirent *file = files ? readdir(files) : NULL;
         file && found < OTHERS_MAX && scanned < SCANNED_MAX; file = readdir(files)) {
        bool is_other = strncmp(file->d_name, prefix, strlen(prefix)) == 0 && strcmp(file->d_name, own) != 0;
        scanned += is_other;
        found += is_other && add_other(dirfd(files), file->d_name, host, others);
    }
    if (files)
        closedir(files);
}

void pdnn_presence_end(struct pdnn_presence *presence) {
    if (!presence->path[0])
        return;
    unlink(presence->path);
    close(presence->fd);
    *presence = (struct pdnn_presence){0};
}
