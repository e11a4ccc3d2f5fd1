#define _POSIX_C_SOURCE 200809L
#include "session/join/leases_watch.h"

#include "base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Signs of life in the time of the expiry. */
enum { BEATS_IN_EXPIRY = 12, BEAT_BYTES = 21 };

const char *pdnn_lease_beat_name(const char *part, char name[PDNN_PART_TEXT + 8]) {
    snprintf(name, PDNN_PART_TEXT + 8, "beat-%s", part);
    return name;
}

/* Always in the same place, so that a full disk does not matter. Closing the file is what takes the counter
 * to a server; nothing has to survive a crash. */
static bool write_beat(const struct pdnn_leases *leases, uint64_t count) {
    char text[BEAT_BYTES + 1], name[PDNN_PART_TEXT + 8];
    int fd = openat(leases->folder.fd, pdnn_lease_beat_name(leases->self.part, name),
                    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    snprintf(text, sizeof text, "%020" PRIu64 "\n", count);
    bool is_written = pwrite(fd, text, BEAT_BYTES, 0) == BEAT_BYTES;
    return close(fd) == 0 && is_written;
}

void pdnn_leases_beat(struct pdnn_leases *leases) {
    uint64_t now_ns = pdnn_clock_ns();
    if (leases->beat_ns && now_ns - leases->beat_ns < leases->plan.expiry_ns / BEATS_IN_EXPIRY)
        return;
    leases->was_late =
        leases->was_late || (leases->beat_ns && now_ns - leases->beat_ns > leases->plan.expiry_ns / 2);
    if (!write_beat(leases, leases->beats + 1)) {
        leases->was_late = leases->was_late || !leases->beats; /* nobody has seen any sign so far */
        return;
    }
    leases->beats++;
    leases->beat_ns = now_ns;
}

/* 0 if there was none yet. */
static uint64_t read_beat(const struct pdnn_leases *leases, const char *part) {
    char text[BEAT_BYTES + 1] = "", name[PDNN_PART_TEXT + 8];
    int fd = openat(leases->folder.fd, pdnn_lease_beat_name(part, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, BEAT_BYTES);
    close(fd);
    return got > 0 ? strtoull(text, NULL, 10) : 0;
}

void pdnn_leases_watch(struct pdnn_leases *leases) {
    for (size_t i = 0; i < leases->count; i++) {
        struct pdnn_lease *lease = &leases->lease[i];
        if (lease->state != PDNN_LEASE_HELD || strcmp(lease->holder.part, leases->self.part) == 0)
            continue;
        uint64_t beat = read_beat(leases, lease->holder.part), now_ns = pdnn_clock_ns();
        bool has_changed = lease->is_seen && beat != lease->beat;
        if (!lease->is_seen || has_changed)
            lease->seen_ns = now_ns;
        lease->has_beaten = lease->has_beaten || has_changed;
        lease->is_seen = true;
        lease->beat = beat;
        lease->is_stale = now_ns - lease->seen_ns > leases->plan.expiry_ns ||
                          pdnn_holder_is_gone(&lease->holder, &leases->self);
    }
}

/* When the holder gave a sign of life, by the clock of the file system; 0 if it never did. */
static int64_t beat_time(const struct pdnn_leases *leases, const struct pdnn_lease *lease) {
    char name[PDNN_PART_TEXT + 8];
    struct stat info;
    return fstatat(leases->folder.fd, pdnn_lease_beat_name(lease->holder.part, name), &info, 0) == 0
               ? (int64_t)info.st_mtime
               : 0;
}

void pdnn_leases_judge(struct pdnn_leases *leases) {
    int64_t now_s = pdnn_clock_unix_ms() / 1000, expiry_s = (int64_t)(leases->plan.expiry_ns / 1000000000);
    for (size_t i = 0; i < leases->count; i++) {
        int64_t beat_s = leases->lease[i].state == PDNN_LEASE_HELD ? beat_time(leases, &leases->lease[i]) : 0;
        now_s = beat_s > now_s ? beat_s : now_s;
    }
    for (size_t i = 0; i < leases->count; i++) {
        struct pdnn_lease *lease = &leases->lease[i];
        if (lease->state == PDNN_LEASE_HELD)
            lease->is_stale = pdnn_holder_is_gone(&lease->holder, &leases->self) ||
                              now_s - beat_time(leases, lease) > expiry_s + 1;
    }
}
