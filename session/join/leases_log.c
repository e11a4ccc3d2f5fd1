#define _POSIX_C_SOURCE 200809L
#include "session/join/leases_log.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_LIMIT_BYTES = 1 << 26 };

/* *text is NULL if there is no such file. */
static enum pdnn_status read_text(const struct pdnn_leases *leases, const char *name, char **text,
                                  struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    struct stat info;
    *text = NULL;
    int fd = openat(leases->folder.fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return PDNN_OK;
    pdnn_folder_path(&leases->folder, name, path);
    bool is_file = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (!is_file || info.st_size > RECORD_LIMIT_BYTES) {
        const char *cause = fd < 0 ? strerror(errno) : "is not a record of leases";
        if (fd >= 0)
            close(fd);
        return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, cause);
    }
    size_t size = (size_t)info.st_size, used = 0;
    char *made = pdnn_alloc(size + 1, 1);
    for (ssize_t got = 1; got && used < size;) {
        got = read(fd, made + used, size - used);
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    made[used] = 0;
    *text = made;
    return PDNN_OK;
}

static struct pdnn_lease *find_lease(const struct pdnn_leases *leases, uint64_t number) {
    for (size_t i = leases->count; i-- > 0;)
        if (leases->lease[i].number == number)
            return &leases->lease[i];
    return NULL;
}

/* The lease takes over the record's list. */
static enum pdnn_status take_claim(struct pdnn_leases *leases, struct pdnn_lease_record *record,
                                   struct pdnn_err *err) {
    for (size_t i = 0; i < record->count; i++)
        if (leases->state_of[record->instance[i]] != PDNN_LEASE_FREE)
            return pdnn_fail(err, PDNN_INVALID, "claims instance %" PRIu32 ", which was not free",
                             record->instance[i]);
    leases->lease = pdnn_grow(leases->lease, &leases->room, leases->count, sizeof *leases->lease);
    for (size_t i = 0; i < record->count; i++)
        leases->state_of[record->instance[i]] = (int32_t)leases->count;
    leases->lease[leases->count++] = (struct pdnn_lease){.number = record->number,
                                                         .holder = record->author,
                                                         .cost_us = record->cost_us,
                                                         .instance = record->instance,
                                                         .count = record->count};
    record->instance = NULL;
    return PDNN_OK;
}

/* What the lease had done is free again. */
static void take_void(struct pdnn_leases *leases, struct pdnn_lease *lease) {
    for (size_t i = 0; i < lease->done; i++)
        leases->state_of[lease->finished[i]] = PDNN_LEASE_FREE;
    lease->state = PDNN_LEASE_LOST;
    lease->done = 0;
    lease->is_void = true;
}

/* The lease takes over the record's list. */
static enum pdnn_status take_end(struct pdnn_leases *leases, struct pdnn_lease_record *record,
                                 struct pdnn_err *err) {
    struct pdnn_lease *lease = find_lease(leases, record->lease);
    if (lease && lease->state != PDNN_LEASE_HELD && lease->done && record->event == PDNN_LEASE_LOSS &&
        !record->count) {
        take_void(leases, lease);
        return PDNN_OK;
    }
    if (!lease || lease->state != PDNN_LEASE_HELD)
        return pdnn_fail(err, PDNN_INVALID, "is about lease %" PRIu64 ", which nobody held", record->lease);
    const int32_t index = (int32_t)(lease - leases->lease);
    for (size_t i = 0; i < record->count; i++) {
        if (leases->state_of[record->instance[i]] != index)
            return pdnn_fail(err, PDNN_INVALID, "is about instance %" PRIu32 ", which was not in its lease",
                             record->instance[i]);
        leases->state_of[record->instance[i]] = PDNN_LEASE_DONE;
    }
    for (size_t i = 0; i < lease->count; i++)
        if (leases->state_of[lease->instance[i]] == index)
            leases->state_of[lease->instance[i]] = PDNN_LEASE_FREE;
    lease->state = record->event == PDNN_LEASE_END ? PDNN_LEASE_ENDED : PDNN_LEASE_LOST;
    lease->done = record->count;
    lease->finished = record->instance;
    record->instance = NULL;
    return PDNN_OK;
}

static enum pdnn_status take_kept(struct pdnn_leases *leases, const struct pdnn_lease_record *record,
                                  struct pdnn_err *err) {
    struct pdnn_lease *lease = find_lease(leases, record->lease);
    if (!lease || lease->state != PDNN_LEASE_HELD)
        return pdnn_fail(err, PDNN_INVALID, "is about lease %" PRIu64 ", which nobody held", record->lease);
    lease->kept++;
    lease->is_stale = lease->is_seen = false;
    return PDNN_OK;
}

static void take_plan(struct pdnn_leases *leases, const struct pdnn_lease_plan *plan) {
    leases->plan = *plan;
    leases->state_of = pdnn_alloc(plan->instances + 1, sizeof *leases->state_of);
    for (size_t i = 0; i < plan->instances; i++)
        leases->state_of[i] = PDNN_LEASE_FREE;
}

static enum pdnn_status take(struct pdnn_leases *leases, const char *text, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.number = 0};
    char name[PDNN_LEASE_NAME_TEXT];
    pdnn_lease_name(leases->next, name);
    enum pdnn_status status =
        pdnn_lease_record_parse(text, leases->next, leases->plan.instances, &record, err);
    if (status == PDNN_OK && record.event == PDNN_LEASE_PLAN)
        take_plan(leases, &record.plan);
    else if (status == PDNN_OK && record.event == PDNN_LEASE_CLAIM)
        status = take_claim(leases, &record, err);
    else if (status == PDNN_OK && record.event == PDNN_LEASE_KEPT)
        status = take_kept(leases, &record, err);
    else if (status == PDNN_OK)
        status = take_end(leases, &record, err);
    free(record.instance);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s/%s", leases->folder.path, name);
    leases->next++;
    return PDNN_OK;
}

enum pdnn_status pdnn_leases_step(struct pdnn_leases *leases, bool *found, struct pdnn_err *err) {
    char name[PDNN_LEASE_NAME_TEXT], *text;
    enum pdnn_status status = read_text(leases, pdnn_lease_name(leases->next, name), &text, err);
    *found = text != NULL;
    if (status == PDNN_OK && text)
        status = take(leases, text, err);
    free(text);
    return status;
}

/* Makes a complete file that nobody else reads or writes. */
static enum pdnn_status write_apart(const struct pdnn_leases *leases, const char *name,
                                    const struct pdnn_str *text, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    pdnn_folder_path(&leases->folder, name, path);
    int fd = openat(leases->folder.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", path, strerror(errno));
    enum pdnn_status status = pdnn_fd_write(fd, pdnn_str_text(text), text->length, err);
    if (status != PDNN_OK)
        pdnn_wrap(err, "%s", path);
    else if (fsync(fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot sync: %s", path, strerror(errno));
    /* NFS may say only now that the disk is full. */
    if (close(fd) != 0 && status == PDNN_OK)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    return status;
}

enum pdnn_status pdnn_leases_link(const struct pdnn_folder *folder, const char *name, const char *to,
                                  struct pdnn_err *err) {
    static const int lacking[] = {EPERM, EMLINK, ENOSYS, EOPNOTSUPP};
    struct stat info;
    if (linkat(folder->fd, name, folder->fd, to, 0) == 0)
        return PDNN_OK;
    int cause = errno;
    if (fstatat(folder->fd, to, &info, 0) == 0)
        return PDNN_BUSY;
    bool lacks = false;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        lacks = lacks || cause == lacking[i];
    return pdnn_fail(
        err, PDNN_IO, "%s/%s: cannot be created: %s%s", folder->path, to, strerror(cause),
        lacks ? "; this file system has no hard links, by which --join shares work: use a directory on "
                "another one, or --shard"
              : "");
}

/* Gives the file the number, unless another has it. Over NFS, a link that was made may be reported as one
 * that failed, when the answer got lost and the question was repeated: the content decides. */
static enum pdnn_status link_to(struct pdnn_leases *leases, const char *name, const char *number,
                                const struct pdnn_str *text, bool *added, struct pdnn_err *err) {
    char *there;
    enum pdnn_status status = pdnn_leases_link(&leases->folder, name, number, err);
    *added = status == PDNN_OK;
    if (status != PDNN_BUSY)
        return status;
    status = read_text(leases, number, &there, err);
    *added = status == PDNN_OK && there && strcmp(there, pdnn_str_text(text)) == 0;
    free(there);
    return status;
}

enum pdnn_status pdnn_leases_add(struct pdnn_leases *leases, struct pdnn_lease_record *record, bool *added,
                                 struct pdnn_err *err) {
    char name[PDNN_PART_TEXT + 8], number[PDNN_LEASE_NAME_TEXT];
    struct pdnn_str text = {0};
    bool found;
    *added = false;
    record->number = leases->next;
    record->author = leases->self;
    pdnn_lease_record_format(record, &text);
    snprintf(name, sizeof name, "new-%s", leases->self.part);
    enum pdnn_status status = write_apart(leases, name, &text, err);
    if (status == PDNN_OK)
        status = link_to(leases, name, pdnn_lease_name(leases->next, number), &text, added, err);
    unlinkat(leases->folder.fd, name, 0);
    if (status == PDNN_OK && *added)
        status = take(leases, pdnn_str_text(&text), err);
    else if (status == PDNN_OK)
        status = pdnn_leases_step(leases, &found, err);
    pdnn_str_finish(&text);
    return status;
}
