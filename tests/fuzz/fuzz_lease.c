/* Records of the log of leases: what parses is written as a record that parses to the same. */
#include "tests/fuzz/common.h"

#include "session/join/leases.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 300 };

static bool same_author(const struct pdnn_holder *a, const struct pdnn_holder *b) {
    return strcmp(a->part, b->part) == 0 && strcmp(a->boot, b->boot) == 0 && a->pid_space == b->pid_space &&
           a->pid == b->pid && a->started == b->started;
}

static bool same(const struct pdnn_lease_record *a, const struct pdnn_lease_record *b) {
    const struct pdnn_lease_plan *one = &a->plan, *other = &b->plan;
    return a->number == b->number && a->event == b->event && same_author(&a->author, &b->author) &&
           one->instances == other->instances && one->instances_hash == other->instances_hash &&
           one->expiry_ns == other->expiry_ns && one->allow_slow == other->allow_slow &&
           a->lease == b->lease && a->cost_us == b->cost_us && a->count == b->count &&
           (!a->count || memcmp(a->instance, b->instance, a->count * sizeof *a->instance) == 0);
}

static void check(const char *text, uint64_t number, uint64_t instances) {
    struct pdnn_lease_record record, again;
    struct pdnn_str out = {0};
    struct pdnn_err err = {0};
    if (!fuzz_is_ok(pdnn_lease_record_parse(text, number, instances, &record, &err), &err))
        return;
    FUZZ_CHECK(record.number == number && (record.event == PDNN_LEASE_PLAN) == (number == 0));
    for (size_t i = 0; i < record.count; i++)
        FUZZ_CHECK(record.instance[i] < instances && (!i || record.instance[i] > record.instance[i - 1]));
    pdnn_lease_record_format(&record, &out);
    fuzz_must(pdnn_lease_record_parse(pdnn_str_text(&out), number, instances, &again, &err), &err);
    FUZZ_CHECK(same(&record, &again));
    free(again.instance);
    free(record.instance);
    pdnn_str_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_text(bytes, length);
    check(text, 0, 0);
    check(text, 7, INSTANCES);
    free(text);
    return 0;
}
