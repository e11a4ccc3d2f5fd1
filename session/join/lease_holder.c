#define _DEFAULT_SOURCE /* getentropy */
#include "session/join/lease_holder.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HOST_LETTERS = 40 };

/* Reads a short file; "" if it cannot be read. */
static void read_line(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
    text[got > 0 ? got : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    if (fd >= 0)
        close(fd);
}

/* State and start of a process; false if there is none. */
static bool read_process(const char *directory, char *state, uint64_t *started) {
    enum { FIELDS_BEFORE_START = 19 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", directory);
    read_line(path, text, sizeof text);
    const char *at = strrchr(text, ')');
    if (!at || !at[1])
        return false;
    at += 2;
    *state = *at;
    for (int i = 0; i < FIELDS_BEFORE_START && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : at;
    }
    *started = at ? strtoull(at, NULL, 10) : 0;
    return at != NULL;
}

/* False if /proc shows another PID namespace, whose processes have other pids. */
static bool is_own_proc(uint64_t pid) {
    char text[24];
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    return strtoull(text, NULL, 10) == pid;
}

bool pdnn_holder_init(struct pdnn_holder *holder, const char *host) {
    struct pdnn_holder made = {.pid = (uint64_t)getpid()};
    char name[HOST_LETTERS + 1], when[24], state;
    struct stat space;
    struct tm utc;
    uint16_t random;
    time_t now = (time_t)(pdnn_clock_unix_ms() / 1000);
    if (getentropy(&random, sizeof random) != 0 || !gmtime_r(&now, &utc))
        return false;
    snprintf(name, sizeof name, "%.*s", HOST_LETTERS, *host ? host : "host");
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.')
            *at = '_';
    *name = *name == '.' ? '_' : *name;
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(made.part, sizeof made.part, "%s-%" PRIu64 "-%s-%04x", name, made.pid, when, (unsigned)random);
    read_line("/proc/sys/kernel/random/boot_id", made.boot, sizeof made.boot);
    if (stat("/proc/self/ns/pid", &space) == 0)
        made.pid_space = (uint64_t)space.st_ino;
    if (!is_own_proc(made.pid) || !read_process("self", &state, &made.started))
        made.pid_space = 0;
    *holder = made;
    return true;
}

bool pdnn_holder_is_gone(const struct pdnn_holder *holder, const struct pdnn_holder *self) {
    char directory[24], state;
    uint64_t started;
    if (!*self->boot || !self->pid_space || strcmp(holder->boot, self->boot) != 0 ||
        holder->pid_space != self->pid_space)
        return false;
    snprintf(directory, sizeof directory, "%" PRIu64, holder->pid);
    if (!read_process(directory, &state, &started))
        return kill((pid_t)holder->pid, 0) != 0 && errno == ESRCH;
    return started != holder->started || state == 'Z' || state == 'X';
}
