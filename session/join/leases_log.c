#define _POSIX_C_SOURCE 200809L
#include "session/join/leases_log.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/table/number.h"
#include "results/store/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 1, NUMBER_TEXT = 24 };

static const char first_line[] = "# One record of a joined sweep: who measures which of its instances.\n";

/* The letters of a part's name and of a kernel's boot id, as pdnn_holder_init makes them. */
static const char name_characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

static const char *const event_names[PDNN_LEASE_EVENT_COUNT] = {"plan", "claim", "kept", "ended", "lost"};

const char *pdnn_lease_name(uint64_t number, char name[PDNN_LEASE_NAME_TEXT]) {
    snprintf(name, PDNN_LEASE_NAME_TEXT, "%08" PRIu64, number);
    return name;
}

/* "0-3,7" */
static void append_list(struct pdnn_str *out, const uint32_t *instance, size_t count) {
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && instance[end] == instance[end - 1] + 1;)
            end++;
        pdnn_str_printf(out, "%s%" PRIu32, from ? "," : "", instance[from]);
        if (end - from > 1)
            pdnn_str_printf(out, "-%" PRIu32, instance[end - 1]);
    }
}

enum { PLANS = 1 << PDNN_LEASE_PLAN, CLAIMS = 1 << PDNN_LEASE_CLAIM, ALL = ~0, OTHERS = ~(PLANS | CLAIMS) };

/* The numbers that records have, and those of which events do. */
static const struct number {
    const char *key;
    int events;
    size_t offset;
} numbers[] = {
    {"pid_space", ALL, offsetof(struct pdnn_lease_record, author.pid_space)},
    {"pid", ALL, offsetof(struct pdnn_lease_record, author.pid)},
    {"started", ALL, offsetof(struct pdnn_lease_record, author.started)},
    {"instances", PLANS, offsetof(struct pdnn_lease_record, plan.instances)},
    {"hash", PLANS, offsetof(struct pdnn_lease_record, plan.instances_hash)},
    {"expiry_ns", PLANS, offsetof(struct pdnn_lease_record, plan.expiry_ns)},
    {"allow_slow", PLANS, offsetof(struct pdnn_lease_record, plan.allow_slow)},
    {"cost_us", CLAIMS, offsetof(struct pdnn_lease_record, cost_us)},
    {"lease", OTHERS, offsetof(struct pdnn_lease_record, lease)},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

void pdnn_lease_record_format(const struct pdnn_lease_record *record, struct pdnn_str *out) {
    pdnn_str_printf(out, "%sschema: %d\nevent: %s\n", first_line, SCHEMA, event_names[record->event]);
    if (record->event == PDNN_LEASE_PLAN)
        pdnn_str_printf(out, "journal_schema: %d\n", PDNN_SCHEMA);
    pdnn_str_printf(out, "part: %s\nboot: \"%s\"\n", record->author.part, record->author.boot);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        uint64_t value;
        memcpy(&value, (const char *)record + numbers[i].offset, sizeof value);
        if (numbers[i].events & 1 << record->event)
            pdnn_str_printf(out, "%s: %" PRIu64 "\n", numbers[i].key, value);
    }
    if (record->event != PDNN_LEASE_PLAN) {
        pdnn_str_printf(out, "list: ");
        append_list(out, record->instance, record->count);
        pdnn_str_printf(out, "\n");
    }
    pdnn_str_printf(out, "record: %" PRIu64 "\n", record->number);
}

/* What remains to be said if a value is wrong. */
static enum pdnn_status bad(const char *key, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID, "is damaged or not a record of leases: '%s' is wrong or missing",
                     key);
}

static enum pdnn_status get_number(const char *text, const char *key, uint64_t *number,
                                   struct pdnn_err *err) {
    struct pdnn_str value = {0};
    pdnn_environment_value(text, key, &value);
    bool is_number = value.length && pdnn_count_parse(pdnn_str_text(&value), number);
    pdnn_str_finish(&value);
    return is_number ? PDNN_OK : bad(key, err);
}

static enum pdnn_status get_text(const char *text, const char *key, char *buffer, size_t size,
                                 struct pdnn_err *err) {
    struct pdnn_str value = {0};
    pdnn_environment_value(text, key, &value);
    bool fits = value.length < size && strspn(pdnn_str_text(&value), name_characters) == value.length;
    snprintf(buffer, size, "%s", pdnn_str_text(&value));
    pdnn_str_finish(&value);
    return fits ? PDNN_OK : bad(key, err);
}

static bool parse_range(const char **at, uint64_t instances, uint64_t *first, uint64_t *last) {
    char number[NUMBER_TEXT];
    for (int i = 0; i < 2; i++) {
        size_t length = strspn(*at, "0123456789");
        if (!length || length >= sizeof number)
            return false;
        snprintf(number, sizeof number, "%.*s", (int)length, *at);
        if (!pdnn_count_parse(number, i ? last : first))
            return false;
        *at += length;
        if (!i && **at != '-') {
            *last = *first;
            break;
        }
        *at += !i;
    }
    return *first <= *last && *last < instances;
}

static enum pdnn_status parse_list(const char *list, uint64_t instances, struct pdnn_lease_record *record,
                                   struct pdnn_err *err) {
    uint64_t next = 0;
    uint32_t *instance = pdnn_alloc(instances + 1, sizeof *instance);
    size_t count = 0;
    bool is_list = true;
    while (*list && is_list) {
        uint64_t first, last;
        is_list = parse_range(&list, instances, &first, &last) && (!count || first >= next);
        for (uint64_t i = first; is_list && i <= last; i++)
            instance[count++] = (uint32_t)i;
        next = last + 1;
        is_list = is_list && (!*list || (*list == ',' && list[1]));
        list += *list == ',';
    }
    if (!is_list) {
        free(instance);
        return bad("list", err);
    }
    record->instance = pdnn_resize(instance, count + 1, sizeof *instance);
    record->count = count;
    return PDNN_OK;
}

static enum pdnn_status parse_numbers(const char *text, struct pdnn_lease_record *record,
                                      struct pdnn_err *err) {
    for (size_t i = 0; i < N_NUMBERS; i++) {
        uint64_t value;
        if (!(numbers[i].events & 1 << record->event))
            continue;
        if (get_number(text, numbers[i].key, &value, err) != PDNN_OK)
            return err->status;
        memcpy((char *)record + numbers[i].offset, &value, sizeof value);
    }
    return record->plan.instances > INT32_MAX ? bad("instances", err) : PDNN_OK;
}

static enum pdnn_status parse_author(const char *text, struct pdnn_holder *author, struct pdnn_err *err) {
    if (get_text(text, "part", author->part, sizeof author->part, err) != PDNN_OK ||
        get_text(text, "boot", author->boot, sizeof author->boot, err) != PDNN_OK)
        return err->status;
    return !*author->part || *author->part == '.' ? bad("part", err) : PDNN_OK;
}

static enum pdnn_status check_schema(const char *text, const char *key, const char *what, uint64_t own,
                                     struct pdnn_err *err) {
    uint64_t schema;
    if (get_number(text, key, &schema, err) != PDNN_OK)
        return err->status;
    if (schema == own)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID,
                     "another version joined first: its %s have schema %" PRIu64
                     ", those of this program (%s) have %" PRIu64
                     "; join with that version, or use another DIR",
                     what, schema, PDNN_VERSION, own);
}

/* The number is the last line, so a record that was cut short has none. */
static enum pdnn_status check_frame(const char *text, uint64_t number, struct pdnn_err *err) {
    char last[NUMBER_TEXT + 16];
    int length = snprintf(last, sizeof last, "\nrecord: %" PRIu64 "\n", number);
    size_t total = strlen(text);
    if (strncmp(text, first_line, sizeof first_line - 1) != 0)
        return bad("the first line", err);
    if (check_schema(text, "schema", "leases", SCHEMA, err) != PDNN_OK)
        return err->status;
    return total < (size_t)length || strcmp(text + total - (size_t)length, last) != 0 ? bad("record", err)
                                                                                      : PDNN_OK;
}

enum pdnn_status pdnn_lease_record_parse(const char *text, uint64_t number, uint64_t instances,
                                         struct pdnn_lease_record *record, struct pdnn_err *err) {
    struct pdnn_lease_record made = {.number = number, .event = PDNN_LEASE_EVENT_COUNT};
    struct pdnn_str value = {0};
    enum pdnn_status status = check_frame(text, number, err);
    if (status != PDNN_OK)
        return status;
    pdnn_environment_value(text, "event", &value);
    for (int event = 0; event < PDNN_LEASE_EVENT_COUNT; event++)
        if (strcmp(pdnn_str_text(&value), event_names[event]) == 0)
            made.event = (enum pdnn_lease_event)event;
    /* The plan is the first record, and only that. */
    if (made.event == PDNN_LEASE_EVENT_COUNT || (made.event == PDNN_LEASE_PLAN) != (number == 0))
        status = bad("event", err);
    const bool is_plan = made.event == PDNN_LEASE_PLAN;
    if (status == PDNN_OK)
        status = parse_author(text, &made.author, err);
    if (status == PDNN_OK && is_plan)
        status = check_schema(text, "journal_schema", "journals", PDNN_SCHEMA, err);
    if (status == PDNN_OK)
        status = parse_numbers(text, &made, err);
    pdnn_str_clear(&value);
    pdnn_environment_value(text, "list", &value);
    if (status == PDNN_OK && !is_plan && !strstr(text, "\nlist: "))
        status = bad("list", err);
    if (status == PDNN_OK && !is_plan)
        status = parse_list(pdnn_str_text(&value), instances, &made, err);
    pdnn_str_finish(&value);
    if (status == PDNN_OK)
        *record = made;
    return status;
}

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
