/* Preloaded into a driver: kills it just before its N-th call (KILL_AT=N) of those that change files, so that
 * a test can end it at every instant that makes a difference. Its worker, which has the same environment, is
 * left alone. */
#define _GNU_SOURCE
#include "tests/session/preloaded.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void count(void) {
    static long calls;
    const char *at = getenv("KILL_AT");
    if (at && strcmp(program_invocation_short_name, "paradnn") == 0 && ++calls == strtol(at, NULL, 10)) {
        raise(SIGKILL);
        _exit(128 + SIGKILL); /* the first process of a PID namespace survives its own signals */
    }
}

/* Every other one takes half of what was asked for, so that a file can end in the middle. */
ssize_t write(int fd, const void *bytes, size_t length) {
    static int calls;
    count();
    return syscall(SYS_write, fd, bytes, length > 1 && calls++ % 2 == 0 ? length / 2 : length);
}

int renameat(int from, const char *name, int to, const char *other) {
    count();
    return (int)syscall(SYS_renameat, from, name, to, other);
}

int unlinkat(int directory, const char *name, int flags) {
    count();
    return (int)syscall(SYS_unlinkat, directory, name, flags);
}

int fsync(int fd) {
    count();
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    count();
    return (int)syscall(SYS_fdatasync, fd);
}
