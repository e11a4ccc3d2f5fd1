#include "session/join/leases_record.h"

#include "base/memory.h"
#include "results/table/number.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void pdnn_lease_record_format(const struct pdnn_lease_record *record, struct pdnn_str *out) {
    const struct pdnn_holder *author = &record->author;
    const struct pdnn_lease_plan *plan = &record->plan;
    pdnn_str_printf(out, "%sschema: %d\nevent: %s\n", first_line, SCHEMA, event_names[record->event]);
    pdnn_str_printf(out, "part: %s\nboot: \"%s\"\npid_space: %" PRIu64 "\npid: %" PRIu64 "\n", author->part,
                    author->boot, author->pid_space, author->pid);
    pdnn_str_printf(out, "started: %" PRIu64 "\n", author->started);
    switch (record->event) {
    case PDNN_LEASE_PLAN:
        pdnn_str_printf(out, "journal_schema: %d\ninstances: %" PRIu64 "\nhash: %" PRIu64 "\n", PDNN_SCHEMA,
                        plan->instances, plan->instances_hash);
        pdnn_str_printf(out, "expiry_ns: %" PRIu64 "\nallow_slow: %d\n", plan->expiry_ns, plan->allow_slow);
        break;
    case PDNN_LEASE_CLAIM:
        pdnn_str_printf(out, "cost_us: %" PRIu64 "\nlist: ", record->cost_us);
        append_list(out, record->instance, record->count);
        pdnn_str_printf(out, "\n");
        break;
    default:
        pdnn_str_printf(out, "lease: %" PRIu64 "\nlist: ", record->lease);
        append_list(out, record->instance, record->count);
        pdnn_str_printf(out, "\n");
        break;
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

static enum pdnn_status parse_plan(const char *text, struct pdnn_lease_plan *plan, struct pdnn_err *err) {
    uint64_t schema, slow = 0;
    enum pdnn_status status = get_number(text, "journal_schema", &schema, err);
    if (status == PDNN_OK && schema != PDNN_SCHEMA)
        status = pdnn_fail(err, PDNN_INVALID,
                           "another version joined first: its journals have schema %" PRIu64
                           ", those of this program (%s) have %d; join with that version, or use another DIR",
                           schema, PDNN_VERSION, PDNN_SCHEMA);
    if (status == PDNN_OK)
        status = get_number(text, "instances", &plan->instances, err);
    if (status == PDNN_OK && plan->instances > INT32_MAX)
        status = bad("instances", err);
    if (status == PDNN_OK)
        status = get_number(text, "hash", &plan->instances_hash, err);
    if (status == PDNN_OK)
        status = get_number(text, "expiry_ns", &plan->expiry_ns, err);
    if (status == PDNN_OK)
        status = get_number(text, "allow_slow", &slow, err);
    plan->allow_slow = slow;
    return status;
}

static enum pdnn_status parse_author(const char *text, struct pdnn_holder *author, struct pdnn_err *err) {
    enum pdnn_status status = get_text(text, "part", author->part, sizeof author->part, err);
    if (status == PDNN_OK)
        status = get_text(text, "boot", author->boot, sizeof author->boot, err);
    if (status == PDNN_OK)
        status = get_number(text, "pid_space", &author->pid_space, err);
    if (status == PDNN_OK)
        status = get_number(text, "pid", &author->pid, err);
    if (status == PDNN_OK)
        status = get_number(text, "started", &author->started, err);
    return status == PDNN_OK && (!*author->part || *author->part == '.') ? bad("part", err) : status;
}

/* The number is the last line, so a record that was cut short has none. */
static enum pdnn_status check_frame(const char *text, uint64_t number, struct pdnn_err *err) {
    char last[NUMBER_TEXT + 16];
    uint64_t schema;
    int length = snprintf(last, sizeof last, "\nrecord: %" PRIu64 "\n", number);
    size_t total = strlen(text);
    if (strncmp(text, first_line, sizeof first_line - 1) != 0)
        return bad("the first line", err);
    enum pdnn_status status = get_number(text, "schema", &schema, err);
    if (status == PDNN_OK && schema != SCHEMA)
        return pdnn_fail(err, PDNN_INVALID,
                         "another version joined first: its leases have schema %" PRIu64
                         ", those of this program (%s) have %d; join with that version, or use another DIR",
                         schema, PDNN_VERSION, SCHEMA);
    if (status == PDNN_OK && (total < (size_t)length || strcmp(text + total - (size_t)length, last) != 0))
        status = bad("record", err);
    return status;
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
    if (status == PDNN_OK)
        status = parse_author(text, &made.author, err);
    if (status == PDNN_OK && made.event == PDNN_LEASE_PLAN)
        status = parse_plan(text, &made.plan, err);
    else if (status == PDNN_OK && made.event == PDNN_LEASE_CLAIM)
        status = get_number(text, "cost_us", &made.cost_us, err);
    else if (status == PDNN_OK)
        status = get_number(text, "lease", &made.lease, err);
    pdnn_str_clear(&value);
    pdnn_environment_value(text, "list", &value);
    if (status == PDNN_OK && made.event != PDNN_LEASE_PLAN && !strstr(text, "\nlist: "))
        status = bad("list", err);
    if (status == PDNN_OK && made.event != PDNN_LEASE_PLAN)
        status = parse_list(pdnn_str_text(&value), instances, &made, err);
    pdnn_str_finish(&value);
    if (status == PDNN_OK)
        *record = made;
    return status;
}
