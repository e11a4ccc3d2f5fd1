#define _DEFAULT_SOURCE /* getentropy */
#include "session/join/leases.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/store/tables.h"

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

enum { HOST_LETTERS = 40, FILE_LIMIT_BYTES = 4096 };

/* State and start of a process; false if there is none. */
static bool read_process(const char *directory, char *state, uint64_t *started) {
    enum { FIELDS_BEFORE_START = 19 };
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/%s/stat", directory);
    pdnn_file_read(path, FILE_LIMIT_BYTES, &text, NULL, NULL);
    const char *at = text ? strrchr(text, ')') : NULL;
    at = at ? strchr(at, ' ') : NULL;
    if (at)
        *state = at[1];
    for (int i = 0; i < FIELDS_BEFORE_START && at; i++)
        at = strchr(at + 1, ' ');
    *started = at ? strtoull(at, NULL, 10) : 0;
    free(text);
    return at != NULL;
}

struct pdnn_holder pdnn_holder_self(const char *host) {
    struct pdnn_holder made = {.pid = (uint64_t)getpid()};
    char name[HOST_LETTERS + 1], when[24], own[24], state, *boot = NULL;
    struct stat space;
    struct tm utc = {0};
    uint16_t random = 0;
    time_t now = (time_t)(pdnn_clock_unix_ms() / 1000);
    getentropy(&random, sizeof random); /* without, pid and time have to do */
    gmtime_r(&now, &utc);
    snprintf(name, sizeof name, "%.*s", HOST_LETTERS, *host ? host : "host");
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.')
            *at = '_';
    *name = *name == '.' ? '_' : *name;
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(made.part, sizeof made.part, "%s-%" PRIu64 "-%s-%04x", name, made.pid, when, (unsigned)random);
    if (pdnn_file_read("/proc/sys/kernel/random/boot_id", FILE_LIMIT_BYTES, &boot, NULL, NULL) == PDNN_OK)
        snprintf(made.boot, sizeof made.boot, "%.*s", (int)strcspn(boot, "\n"), boot);
    free(boot);
    if (stat("/proc/self/ns/pid", &space) == 0)
        made.pid_space = (uint64_t)space.st_ino;
    /* /proc may show another PID namespace, whose processes have other pids. */
    ssize_t length = readlink("/proc/self", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    if (strtoull(own, NULL, 10) != made.pid || !read_process("self", &state, &made.started))
        made.pid_space = 0;
    return made;
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

enum { SCHEMA = 1, NUMBER_TEXT = 24 };

static const char first_line[] = "# One record of a joined sweep: who measures which of its instances.\n";

/* The letters of a part's name, as pdnn_holder_self makes them. */
static const char name_characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

static const char *const event_names[PDNN_LEASE_EVENT_COUNT] = {"plan", "claim", "ended", "lost"};

static const char *name_record(uint64_t number, char name[NUMBER_TEXT]) {
    snprintf(name, NUMBER_TEXT, "%08" PRIu64, number);
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

/* Copies the value; "" if it is missing. */
static void get(const char *text, const char *key, char *buffer, size_t size) {
    struct pdnn_str value = {0};
    pdnn_environment_value(text, key, &value);
    snprintf(buffer, size, "%s", pdnn_str_text(&value));
    pdnn_str_finish(&value);
}

/* Takes what is in ascending order and below `instances`. */
static void parse_list(const char *list, uint64_t instances, struct pdnn_lease_record *record) {
    uint64_t next = 0;
    record->instance = pdnn_alloc(instances + 1, sizeof *record->instance);
    for (char *end; *list >= '0' && *list <= '9'; list = end + (*end == ',')) {
        const uint64_t first = strtoull(list, &end, 10),
                       last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
        for (uint64_t i = first; i >= next && i <= last && i < instances; next = ++i)
            record->instance[record->count++] = (uint32_t)i;
    }
    record->instance = pdnn_resize(record->instance, record->count + 1, sizeof *record->instance);
}

static enum pdnn_status check_schema(const char *text, const char *key, const char *what, uint64_t own,
                                     struct pdnn_err *err) {
    const uint64_t schema = pdnn_environment_count(text, key);
    if (!schema || schema == own)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID,
                     "another version joined first: its %s have schema %" PRIu64
                     ", those of this program (%s) have %" PRIu64
                     "; join with that version, or use another DIR",
                     what, schema, PDNN_VERSION, own);
}

/* A text with a missing, an additional or a changed field is refused: written again, the record made of it
 * would not be the same text. */
enum pdnn_status pdnn_lease_record_parse(const char *text, uint64_t number, uint64_t instances,
                                         struct pdnn_lease_record *record, struct pdnn_err *err) {
    struct pdnn_lease_record made = {.number = number};
    struct pdnn_holder *author = &made.author;
    struct pdnn_str list = {0}, again = {0};
    char event[NUMBER_TEXT];
    if (check_schema(text, "schema", "leases", SCHEMA, err) != PDNN_OK ||
        check_schema(text, "journal_schema", "journals", PDNN_SCHEMA, err) != PDNN_OK)
        return err->status;
    get(text, "event", event, sizeof event);
    while (made.event < PDNN_LEASE_LOSS && strcmp(event, event_names[made.event]) != 0)
        made.event++;
    get(text, "part", author->part, sizeof author->part);
    get(text, "boot", author->boot, sizeof author->boot);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        const uint64_t value = pdnn_environment_count(text, numbers[i].key);
        if (numbers[i].events & 1 << made.event)
            memcpy((char *)&made + numbers[i].offset, &value, sizeof value);
    }
    pdnn_environment_value(text, "list", &list);
    parse_list(pdnn_str_text(&list), instances, &made);
    pdnn_lease_record_format(&made, &again);
    /* The plan is the first record, and only that. A part is the name of a directory. */
    bool is_sound = strcmp(text, pdnn_str_text(&again)) == 0 &&
                    (made.event == PDNN_LEASE_PLAN) == (number == 0) && made.plan.instances <= INT32_MAX &&
                    *author->part && *author->part != '.' &&
                    !author->part[strspn(author->part, name_characters)];
    pdnn_str_finish(&list);
    pdnn_str_finish(&again);
    if (!is_sound) {
        free(made.instance);
        return pdnn_fail(err, PDNN_INVALID, "is damaged or not a record of leases");
    }
    *record = made;
    return PDNN_OK;
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
    if (fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
    enum pdnn_status status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode)
                                  ? pdnn_fd_read(fd, path, RECORD_LIMIT_BYTES, text, NULL, err)
                                  : pdnn_fail(err, PDNN_INVALID, "%s: is not a record of leases", path);
    close(fd);
    return status;
}

/* Sets what the lease's instances are from now on. */
static void set_states(struct pdnn_leases *leases, const uint32_t *instances, size_t count, int32_t state) {
    for (size_t i = 0; i < count; i++)
        leases->state_of[instances[i]] = state;
}

/* The lease takes over the record's list. */
static enum pdnn_status take_claim(struct pdnn_leases *leases, struct pdnn_lease_record *record,
                                   struct pdnn_err *err) {
    for (size_t i = 0; i < record->count; i++)
        if (leases->state_of[record->instance[i]] != PDNN_LEASE_FREE)
            return pdnn_fail(err, PDNN_INVALID, "claims instance %" PRIu32 ", which was not free",
                             record->instance[i]);
    leases->lease = pdnn_grow(leases->lease, &leases->room, leases->count, sizeof *leases->lease);
    set_states(leases, record->instance, record->count, (int32_t)leases->count);
    leases->lease[leases->count++] = (struct pdnn_lease){.number = record->number,
                                                         .holder = record->author,
                                                         .instance = record->instance,
                                                         .count = record->count};
    record->instance = NULL;
    return PDNN_OK;
}

/* A record about a lease that is held, or one that frees what a lease had done. */
static enum pdnn_status take_news(struct pdnn_leases *leases, struct pdnn_lease_record *record,
                                  struct pdnn_err *err) {
    size_t end = leases->count;
    while (end > 0 && leases->lease[end - 1].number != record->lease)
        end--;
    struct pdnn_lease *lease = end ? &leases->lease[end - 1] : NULL;
    const bool is_held = lease && lease->state == PDNN_LEASE_HELD;
    if (lease && !is_held && lease->done && record->event == PDNN_LEASE_LOSS && !record->count) {
        set_states(leases, lease->finished, lease->done, PDNN_LEASE_FREE);
        lease->state = PDNN_LEASE_LOST;
        lease->done = 0;
        lease->is_void = true;
        return PDNN_OK;
    }
    if (!is_held)
        return pdnn_fail(err, PDNN_INVALID, "is about lease %" PRIu64 ", which nobody held", record->lease);
    for (size_t i = 0; i < record->count; i++)
        if (leases->state_of[record->instance[i]] != (int32_t)end - 1)
            return pdnn_fail(err, PDNN_INVALID, "is about instance %" PRIu32 ", which was not in its lease",
                             record->instance[i]);
    set_states(leases, lease->instance, lease->count, PDNN_LEASE_FREE);
    set_states(leases, record->instance, record->count, PDNN_LEASE_DONE);
    lease->state = record->event == PDNN_LEASE_END ? PDNN_LEASE_ENDED : PDNN_LEASE_LOST;
    lease->done = record->count;
    lease->finished = record->instance;
    record->instance = NULL;
    return PDNN_OK;
}

static enum pdnn_status take(struct pdnn_leases *leases, const char *text, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.number = 0};
    char name[NUMBER_TEXT];
    name_record(leases->next, name);
    enum pdnn_status status =
        pdnn_lease_record_parse(text, leases->next, leases->plan.instances, &record, err);
    if (status == PDNN_OK && record.event == PDNN_LEASE_PLAN) {
        leases->plan = record.plan;
        leases->state_of = pdnn_alloc(record.plan.instances + 1, sizeof *leases->state_of);
        for (size_t i = 0; i < record.plan.instances; i++)
            leases->state_of[i] = PDNN_LEASE_FREE;
    } else if (status == PDNN_OK) {
        status = (record.event == PDNN_LEASE_CLAIM ? take_claim : take_news)(leases, &record, err);
    }
    free(record.instance);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s/%s", leases->folder.path, name);
    leases->next++;
    return PDNN_OK;
}

enum pdnn_status pdnn_leases_read(struct pdnn_leases *leases, struct pdnn_err *err) {
    char name[NUMBER_TEXT], *text;
    enum pdnn_status status = PDNN_OK;
    for (bool found = true; found && status == PDNN_OK;) {
        status = read_text(leases, name_record(leases->next, name), &text, err);
        found = text != NULL;
        if (status == PDNN_OK && found)
            status = take(leases, text, err);
        free(text);
    }
    return status;
}

enum pdnn_status pdnn_leases_put(const struct pdnn_folder *folder, const char *name, const char *text,
                                 size_t length, struct pdnn_err *err) {
    struct pdnn_err cause = {0};
    enum pdnn_status status = pdnn_folder_add(folder, name, text, length, &cause);
    if (status == PDNN_OK || status == PDNN_BUSY)
        return status;
    return pdnn_fail(err, PDNN_IO, "%s%s", cause.text,
                     status == PDNN_UNSUPPORTED
                         ? "; this file system has no hard links, by which --join shares "
                           "work: use a directory on another one, or --shard"
                         : "");
}

/* Adds the record under the next number, which it gets. *added is false if another was first; that one is
 * read by then. */
static enum pdnn_status add(struct pdnn_leases *leases, struct pdnn_lease_record *record, bool *added,
                            struct pdnn_err *err) {
    char name[NUMBER_TEXT], *there = NULL;
    struct pdnn_str text = {0};
    *added = false;
    record->number = leases->next;
    record->author = leases->self;
    pdnn_lease_record_format(record, &text);
    enum pdnn_status status =
        pdnn_leases_put(&leases->folder, name_record(leases->next, name), text.text, text.length, err);
    *added = status == PDNN_OK;
    /* Over NFS, a link that was made may be reported as one that failed, when the answer got lost and the
     * question was repeated: the content decides. */
    if (status == PDNN_BUSY) {
        status = read_text(leases, name, &there, err);
        *added = status == PDNN_OK && there && strcmp(there, text.text) == 0;
    }
    free(there);
    if (status == PDNN_OK && *added)
        status = take(leases, pdnn_str_text(&text), err);
    else if (status == PDNN_OK)
        status = pdnn_leases_read(leases, err);
    pdnn_str_finish(&text);
    return status;
}

/* Signs of life in the time of the expiry. */
enum { BEATS_IN_EXPIRY = 12, BEAT_BYTES = 21 };

/* The name of the file with a part's counter. Returns name. */
static const char *beat_name(const char *part, char name[PDNN_PART_TEXT + 8]) {
    snprintf(name, PDNN_PART_TEXT + 8, "beat-%s", part);
    return name;
}

/* Always in the same place, so that a full disk does not matter. Closing the file is what takes the counter
 * to a server; nothing has to survive a crash. */
void pdnn_leases_beat(struct pdnn_leases *leases) {
    const uint64_t now_ns = pdnn_clock_ns();
    char text[BEAT_BYTES + 1], name[PDNN_PART_TEXT + 8];
    if (leases->beat_ns && now_ns - leases->beat_ns < leases->plan.expiry_ns / BEATS_IN_EXPIRY)
        return;
    int fd = openat(leases->folder.fd, beat_name(leases->self.part, name),
                    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return;
    snprintf(text, sizeof text, "%020" PRIu64 "\n", leases->beats + 1);
    bool is_written = pwrite(fd, text, BEAT_BYTES, 0) == BEAT_BYTES;
    if (close(fd) == 0 && is_written) {
        leases->beats++;
        leases->beat_ns = now_ns;
    }
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
        lease->has_beaten = lease->has_beaten || (lease->seen_ns && beat != lease->beat);
        if (!lease->seen_ns || beat != lease->beat)
            lease->seen_ns = now_ns;
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

bool pdnn_leases_exist(const char *directory) {
    return pdnn_path_has(directory, "leases/00000000");
}

/* The plan that is there counts; *plan is what this process would have. */
static enum pdnn_status compare_plans(const struct pdnn_leases *leases, const struct pdnn_lease_plan *plan,
                                      struct pdnn_err *err) {
    const struct pdnn_lease_plan *there = &leases->plan;
    const char *path = leases->folder.path;
    char was[PDNN_UNIT_TEXT], is[PDNN_UNIT_TEXT];
    if (there->instances != plan->instances || there->instances_hash != plan->instances_hash)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: the spec has %" PRIu64 " instances here, and not the same %" PRIu64
                         " as on the host that joined first; hosts that join must expand it alike",
                         path, plan->instances, there->instances);
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
    if (status == PDNN_OK && plan)
        pdnn_folder_clean(&leases->folder);
    if (status == PDNN_OK)
        status = pdnn_leases_read(leases, err);
    if (status == PDNN_OK && plan && !leases->next) {
        struct pdnn_lease_record record = {.event = PDNN_LEASE_PLAN, .plan = *plan};
        bool added;
        if (!record.plan.expiry_ns)
            record.plan.expiry_ns = UINT64_C(120000000000);
        status = add(leases, &record, &added, err);
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
    enum pdnn_status status = add(leases, &record, &added, err);
    if (status == PDNN_OK && added)
        *lease = leases->count - 1;
    free(record.instance);
    return status;
}

enum pdnn_status pdnn_leases_end(struct pdnn_leases *leases, size_t lease, const uint32_t *done,
                                 size_t n_done, struct pdnn_err *err) {
    const bool is_own = strcmp(leases->lease[lease].holder.part, leases->self.part) == 0;
    struct pdnn_lease_record record = {.event = is_own ? PDNN_LEASE_END : PDNN_LEASE_LOSS,
                                       .lease = leases->lease[lease].number,
                                       .instance = sort_list(done, n_done),
                                       .count = n_done};
    char name[PDNN_PART_TEXT + 8];
    enum pdnn_status status = PDNN_OK;
    for (bool added = false; status == PDNN_OK && !added && leases->lease[lease].state == PDNN_LEASE_HELD;)
        status = add(leases, &record, &added, err);
    free(record.instance);
    /* What a killed process left. If it lives after all, it makes the files once more. */
    if (status == PDNN_OK && !is_own && leases->lease[lease].state == PDNN_LEASE_LOST &&
        pdnn_holder_is_gone(&leases->lease[lease].holder, &leases->self)) {
        unlinkat(leases->folder.fd, beat_name(leases->lease[lease].holder.part, name), 0);
        pdnn_folder_clean(&leases->folder);
    }
    return status;
}

enum pdnn_status pdnn_leases_void(struct pdnn_leases *leases, size_t lease, struct pdnn_err *err) {
    struct pdnn_lease_record record = {.event = PDNN_LEASE_LOSS, .lease = leases->lease[lease].number};
    enum pdnn_status status = PDNN_OK;
    for (bool added = false; status == PDNN_OK && !added && leases->lease[lease].done;)
        status = add(leases, &record, &added, err);
    return status;
}
