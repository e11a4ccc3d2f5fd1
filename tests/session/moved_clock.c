/* Preloaded into a program: the clock that it reads is the real one, moved by a test. MOVED_CLOCK names a
 * file of three int64_t, which the test writes at any moment: nanoseconds to add to the monotonic clock;
 * nanoseconds by which each further look at it moves it on; and nanoseconds to add to the time of day. A
 * limit of hours then ends when the test wants it to, however fast the machine is, and none ends before. Only
 * the driver's clock is moved: the worker measures with the real one. What the driver waits for between two
 * looks it waits for shortly: a pause that is a share of hours would be minutes, and looks that take time
 * should follow each other. */
#define _GNU_SOURCE
#include "tests/session/preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct moved {
    _Atomic int64_t monotonic_ns, look_ns, unix_ns;
};

enum { PAUSE_NS = 10000000, LOOK_MS = 10 };

static const struct moved *moved;
static _Atomic int64_t looked_ns; /* by all looks so far */

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("MOVED_CLOCK");
    if (!path || strcmp(program_invocation_short_name, "paradnn") != 0)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        abort();
    close(fd);
    moved = bytes;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (status != 0 || !moved || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
        return status;
    int64_t added_ns = atomic_load(clock == CLOCK_MONOTONIC ? &moved->monotonic_ns : &moved->unix_ns);
    if (clock == CLOCK_MONOTONIC) {
        int64_t look_ns = atomic_load(&moved->look_ns);
        added_ns += atomic_fetch_add(&looked_ns, look_ns) + look_ns;
    }
    int64_t ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + added_ns;
    *now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

/* What else tells the time of day. */
time_t time(time_t *seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}

int nanosleep(const struct timespec *pause, struct timespec *left) {
    const struct timespec most = {.tv_nsec = PAUSE_NS};
    bool is_long = moved && (pause->tv_sec > 0 || pause->tv_nsec > PAUSE_NS);
    return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, is_long ? &most : pause, left);
}

int poll(struct pollfd *fds, nfds_t count, int ms) {
    bool looks = moved && atomic_load(&moved->look_ns) && (ms < 0 || ms > LOOK_MS);
    const struct timespec most = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
                          shortly = {.tv_nsec = LOOK_MS * 1000000};
    return (int)syscall(SYS_ppoll, fds, count, looks ? &shortly : ms < 0 ? NULL : &most, NULL, 0);
}
