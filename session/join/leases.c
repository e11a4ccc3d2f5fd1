#define _POSIX_C_SOURCE 200809L
#include "session/join/leases.h"

#include "base/memory.h"
#include "base/units.h"
#include "session/join/leases_log.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Signs of life in the time of the expiry. */
enum { BEATS_IN_EXPIRY = 12, BEAT_BYTES = 21 };

/* The name of the file with a part's counter. Returns name. */
static const char *beat_name(const char *part, char name[PDNN_PART_TEXT + 8]) {
    snprintf(name, PDNN_PART_TEXT + 8, "beat-%s", part);
    return name;
}

/* Always in the same place, so that a full disk does not matter. Closing the file is what takes the counter
 * to a server; nothing has to survive a crash. */
static bool write_beat(const struct pdnn_leases *leases, uint64_t count) {
    char text[BEAT_BYTES + 1], name[PDNN_PART_TEXT + 8];
    int fd = openat(leases->folder.fd, beat_name(leases->self.part, name),
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
    int fd = openat(leases->folder.fd, beat_name(part, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
    return fstatat(leases->folder.fd, beat_name(lease->holder.part, name), &info, 0) == 0
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

static const uint64_t usual_expiry_ns = UINT64_C(120000000000);

bool pdnn_leases_exist(const char *directory) {
    char path[PDNN_FOLDER_TEXT];
    struct stat info;
    return pdnn_path_join(path, directory, "leases/00000000") && stat(path, &info) == 0;
}

enum pdnn_status pdnn_leases_read(struct pdnn_leases *leases, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (bool found = true; found && status == PDNN_OK;)
        status = pdnn_leases_step(leases, &found, err);
    return status;
}

/* The plan that is there counts; *plan is what this process would have. */
static enum pdnn_status compare_plans(const struct pdnn_leases *leases, const struct pdnn_lease_plan *plan,
                                      struct pdnn_err *err) {
    const struct pdnn_lease_plan *there = &leases->plan;
    const char *path = leases->folder.path;
    char was[PDNN_UNIT_TEXT], is[PDNN_UNIT_TEXT];
    if (there->instances != plan->instances)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: the spec has %" PRIu64 " instances on the host that joined first and %" PRIu64
                         " here; hosts that join must expand it alike",
                         path, there->instances, plan->instances);
    if (there->instances_hash != plan->instances_hash)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: the spec has other instances here than on the host that joined first; hosts "
                         "that join must expand it alike",
                         path);
    if (there->allow_slow != plan->allow_slow)
        return pdnn_fail(err, PDNN_INVALID, "%s: the others have joined %s --allow-slow", path,
                         there->allow_slow ? "with" : "without");
    if (plan->expiry_ns && there->expiry_ns != plan->expiry_ns)
        return pdnn_fail(err, PDNN_INVALID, "%s: --lease-expiry is %s, and the others have %s", path,
                         pdnn_format_ns(is, (double)plan->expiry_ns),
                         pdnn_format_ns(was, (double)there->expiry_ns));
    return PDNN_OK;
}

enum pdnn_status pdnn_leases_open(struct pdnn_leases *leases, const char *directory,
                                  const struct pdnn_lease_plan *plan, const struct pdnn_holder *self,
                                  struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    *leases = (struct pdnn_leases){.folder.fd = -1, .self = *self};
    if (!pdnn_path_join(path, directory, "leases"))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    if (plan && mkdir(path, 0777) != 0 && errno != EEXIST)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be created: %s", path, strerror(errno));
    enum pdnn_status status = pdnn_folder_open(&leases->folder, path, err);
    if (status == PDNN_OK)
        status = pdnn_leases_read(leases, err);
    if (status == PDNN_OK && plan && !leases->next) {
        struct pdnn_lease_record record = {.event = PDNN_LEASE_PLAN, .plan = *plan};
        bool added;
        if (!record.plan.expiry_ns)
            record.plan.expiry_ns = usual_expiry_ns;
        status = pdnn_leases_add(leases, &record, &added, err);
        if (status == PDNN_OK && !added)
            status = pdnn_leases_read(leases, err);
    }
    if (status == PDNN_OK && !leases->next)
        status = pdnn_fail(err, PDNN_INVALID, "%s: nobody has joined yet", path);
    return status == PDNN_OK && plan ? compare_plans(leases, plan, err) : status;
}

void pdnn_leases_close(struct pdnn_leases *leases) {
    char name[PDNN_PART_TEXT + 8];
    for (size_t i = 0; i < leases->count; i++) {
        free(leases->lease[i].instance);
        free(leases->lease[i].finished);
    }
    free(leases->lease);
    free(leases->state_of);
    if (leases->beats)
        unlinkat(leases->folder.fd, beat_name(leases->self.part, name), 0);
    pdnn_folder_close(&leases->folder);
    *leases = (struct pdnn_leases){.folder.fd = -1};
}

static int compare_numbers(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* A copy in ascending order. */
static uint32_t *sort_list(const uint32_t *list, size_t count) {
    uint32_t *sorted = pdnn_alloc(count + 1, sizeof *sorted);
    if (count)
        memcpy(sorted, list, count * sizeof *list);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    return sorted;
}

enum pdnn_status pdnn_leases_claim(struct pdnn_leases *leases, const uint32_t *instances, size_t count,
                                   uint64_t cost_us, size_t *lease, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.event = PDNN_LEASE_CLAIM,
                                       .cost_us = cost_us,
                                       .instance = sort_list(instances, count),
                                       .count = count};
    bool added = false;
    *lease = SIZE_MAX;
    pdnn_leases_beat(leases);
    enum pdnn_status status = pdnn_leases_add(leases, &record, &added, err);
    if (status == PDNN_OK && added)
        *lease = leases->count - 1;
    free(record.instance);
    return status;
}

/* Adds a record about a lease as long as it is held. A holder that turns out to be there meanwhile has not
 * lost it: what was found of it is out of date. */
static enum pdnn_status add_about(struct pdnn_leases *leases, size_t lease, enum pdnn_lease_event event,
                                  const uint32_t *done, size_t n_done, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.event = event,
                                       .lease = leases->lease[lease].number,
                                       .instance = sort_list(done, n_done),
                                       .count = n_done};
    const uint64_t kept = leases->lease[lease].kept;
    enum pdnn_status status = PDNN_OK;
    for (bool added = false; status == PDNN_OK && !added;) {
        const struct pdnn_lease *now = &leases->lease[lease];
        if (now->state != PDNN_LEASE_HELD || (event == PDNN_LEASE_LOSS && now->kept != kept))
            break;
        status = pdnn_leases_add(leases, &record, &added, err);
    }
    free(record.instance);
    return status;
}

enum pdnn_status pdnn_leases_end(struct pdnn_leases *leases, size_t lease, const uint32_t *done,
                                 size_t n_done, struct pdnn_err *err) {
    bool is_own = strcmp(leases->lease[lease].holder.part, leases->self.part) == 0;
    char name[PDNN_PART_TEXT + 8];
    enum pdnn_status status =
        add_about(leases, lease, is_own ? PDNN_LEASE_END : PDNN_LEASE_LOSS, done, n_done, err);
    /* What a killed process left. If it lives after all, it makes the file anew. */
    if (status == PDNN_OK && !is_own && leases->lease[lease].state == PDNN_LEASE_LOST &&
        pdnn_holder_is_gone(&leases->lease[lease].holder, &leases->self)) {
        unlinkat(leases->folder.fd, beat_name(leases->lease[lease].holder.part, name), 0);
        snprintf(name, sizeof name, "new-%s", leases->lease[lease].holder.part);
        unlinkat(leases->folder.fd, name, 0);
    }
    return status;
}

enum pdnn_status pdnn_leases_void(struct pdnn_leases *leases, size_t lease, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.event = PDNN_LEASE_LOSS, .lease = leases->lease[lease].number};
    enum pdnn_status status = PDNN_OK;
    for (bool added = false; status == PDNN_OK && !added && leases->lease[lease].done;)
        status = pdnn_leases_add(leases, &record, &added, err);
    return status;
}

enum pdnn_status pdnn_leases_check(struct pdnn_leases *leases, size_t lease, bool *is_held,
                                   struct pdnn_err *err) {
    *is_held = false;
    enum pdnn_status status = pdnn_leases_read(leases, err);
    pdnn_leases_beat(leases);
    if (status == PDNN_OK && leases->was_late) {
        status = add_about(leases, lease, PDNN_LEASE_KEPT, NULL, 0, err);
        leases->was_late = status != PDNN_OK;
    }
    *is_held = status == PDNN_OK && leases->lease[lease].state == PDNN_LEASE_HELD;
    return status;
}
