/* journal.csv, and after a line `=====` journal-ops.csv: a journal that opens opens again, whole and with the
 * same visits, and a visit appended to it is there afterwards. */
#include "tests/fuzz/common.h"

#include "base/file.h"
#include "results/store/journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same bytes in another file: the lock stays with the one that is open. */
static void copy_file(const char *name) {
    char *text;
    size_t length;
    struct pdnn_err err = {0};
    fuzz_must(pdnn_file_read(fuzz_path(name), SIZE_MAX, &text, &length, &err), &err);
    fuzz_remove(name);
    fuzz_write(name, text, length);
    free(text);
}

/* What is on disk, which is whole, beside a journal that is open. */
static struct pdnn_journal *open_again(void) {
    struct pdnn_journal *journal = NULL;
    struct pdnn_err err = {0};
    copy_file("journal.csv");
    copy_file("journal-ops.csv");
    fuzz_must(pdnn_journal_open(fuzz_folder(), &journal, &err), &err);
    FUZZ_CHECK(!journal->visits.torn && !journal->ops.torn);
    return journal;
}

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void check_visits(const struct pdnn_instance_visits *a, const struct pdnn_instance_visits *b) {
    FUZZ_CHECK(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct pdnn_visit *x = &a->visit[i], *y = &b->visit[i];
        FUZZ_CHECK(x->outcome == y->outcome && strcmp(x->reason, y->reason) == 0);
        FUZZ_CHECK(same_number(x->median_ns, y->median_ns) && x->flags == y->flags);
        FUZZ_CHECK(a->ops[i].count == b->ops[i].count);
        for (size_t k = 0; k < a->ops[i].count; k++) {
            FUZZ_CHECK(strcmp(a->ops[i].op[k].key, b->ops[i].op[k].key) == 0);
            FUZZ_CHECK(a->ops[i].op[k].bytes == b->ops[i].op[k].bytes);
        }
    }
}

static void check_same(const struct pdnn_visits *a, const struct pdnn_visits *b) {
    FUZZ_CHECK(a->ids.count == b->ids.count);
    for (size_t i = 0; i < a->ids.count; i++) {
        FUZZ_CHECK(strcmp(a->ids.text[i], b->ids.text[i]) == 0);
        struct pdnn_instance_visits of = pdnn_visits_of(a, a->ids.text[i]);
        struct pdnn_instance_visits other = pdnn_visits_of(b, b->ids.text[i]);
        check_visits(&of, &other);
    }
}

/* A visit whose texts are those of the first one in the journal, if there is one. */
static void check_append(struct pdnn_journal *journal) {
    const struct pdnn_visits *known = &journal->known;
    struct pdnn_visit_op op = {.key = "dense/forward/2x2:2x2:2x2", .count = 1, .time_ns = 5};
    struct pdnn_visit visit = {.samples = 1, .median_ns = 7, .n_ops = 1, .ops = &op};
    struct pdnn_err err = {0};
    char flat[PDNN_ID_TEXT], buffer[PDNN_ID_TEXT];
    snprintf(flat, sizeof flat, "%s", known->ids.count ? known->ids.text[0] : "fc/layers=1");
    for (char *at = flat; *at; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    const char *id = pdnn_instance_reprint(flat, buffer); /* as a reader sees it */
    size_t before = pdnn_visits_of(known, id).count;
    if (before && pdnn_visits_of(known, id).visit[0].reason[0])
        memcpy(visit.reason, pdnn_visits_of(known, id).visit[0].reason, sizeof visit.reason);
    fuzz_must(pdnn_journal_append(journal, id, &visit, &err), &err);
    FUZZ_CHECK(pdnn_visits_of(known, id).count == before + 1);
}

static void check_journal(struct pdnn_journal *journal) {
    struct pdnn_journal *second = open_again();
    check_same(&journal->known, &second->known);
    check_append(second);
    struct pdnn_journal *third = open_again();
    check_same(&second->known, &third->known);
    pdnn_journal_close(journal);
    pdnn_journal_close(second);
    pdnn_journal_close(third);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_halves files = fuzz_split(bytes, length, "=====\n");
    struct pdnn_journal *journal = NULL;
    struct pdnn_err err = {0};
    fuzz_write("journal.csv", files.first, files.first_length);
    fuzz_write("journal-ops.csv", files.second, files.second_length);
    if (fuzz_is_ok(pdnn_journal_open(fuzz_folder(), &journal, &err), &err))
        check_journal(journal);
    fuzz_remove("journal.csv"); /* opening may have replaced them */
    fuzz_remove("journal-ops.csv");
    return 0;
}
