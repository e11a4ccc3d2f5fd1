/* A sweep's directory without a worker: what earlier visits mean for the driver, what deserves a warning, and
 * which rows the tables have. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "tests/whole_csv.h"
#include "base/file.h"
#include "session/directory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST  "fc/layers=1,nodes=8,input=8,output=4,batch=2,threads=1"
#define SECOND "fc/layers=1,nodes=8,input=8,output=4,batch=4,threads=1"

/* A directory, and a session whose warnings this test reads. */
struct place {
    char path[64], warnings[1024];
    struct pdnn_session_hooks hooks;
    struct pdnn_session session;
    struct pdnn_sweep_request request;
    struct pdnn_sweep_directory sweep;
};

static void keep_warning(void *user, const char *text) {
    struct place *place = user;
    size_t used = strlen(place->warnings);
    snprintf(place->warnings + used, sizeof place->warnings - used, "%s\n", text);
}

static void ignore_roofs(void *user, double fraction, int64_t threads, double seconds_left) {
    (void)user, (void)fraction, (void)threads, (void)seconds_left;
}

static void ignore_visits(void *user, const struct pdnn_sweep_progress *progress) {
    (void)user;
    (void)progress;
}

static void ignore_work(void *user, const char *what, size_t done, size_t all, double seconds_left) {
    (void)user, (void)what, (void)done, (void)all, (void)seconds_left;
}

static void ignore_end(void *user) {
    (void)user;
}

static const volatile int *never(void *user) {
    static const volatile int no;
    (void)user;
    return &no;
}

static void open_session(struct place *place, const char *const *ids, size_t n_ids) {
    struct pdnn_err err = {0};
    place->session.hooks = &place->hooks;
    if (pdnn_session_open(&place->session, ids, n_ids, NULL, 0, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    place->request = (struct pdnn_sweep_request){.path = place->path, .session = &place->session};
}

static void open_directory(struct place *place) {
    struct pdnn_err err = {0};
    if (pdnn_sweep_directory_open(&place->sweep, &place->request, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static int setup(void **state) {
    static const char *const ids[] = {FIRST, SECOND};
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->path, "/tmp/pdnn_test_directory_XXXXXX");
    if (!mkdtemp(place->path))
        return -1;
    place->hooks = (struct pdnn_session_hooks){place,         keep_warning, keep_warning, ignore_roofs,
                                               ignore_visits, ignore_work,  ignore_end,   never};
    open_session(place, ids, 2);
    open_directory(place);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    static const char *const names[] = {"journal.csv", "journal-ops.csv",  "results.csv", "ops.csv",
                                        "spec.yaml",   "environment.yaml", "ceilings.csv"};
    struct place *place = *state;
    pdnn_sweep_directory_close(&place->sweep);
    pdnn_session_finish(&place->session);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", place->path, names[i]);
        unlink(path);
    }
    rmdir(place->path);
    free(place);
    return 0;
}

static void add_visit(struct place *place, size_t task, enum pdnn_outcome outcome, double median_ns,
                      unsigned flags) {
    struct pdnn_err err = {0};
    struct pdnn_visit visit = {.outcome = outcome, .flags = flags};
    if (outcome == PDNN_OUTCOME_OK) {
        visit.samples = 10;
        visit.steps_per_sample = 2;
        visit.median_ns = visit.mean_ns = median_ns;
    }
    const char *id = place->session.tasks[task].id;
    assert_int_equal(pdnn_journal_append(place->sweep.journal, id, &visit, &err), PDNN_OK);
}

static void resume(struct place *place, bool retry, bool allow_slow) {
    struct pdnn_task *task = &place->session.tasks[0];
    task->visits_done = task->crashes = 0;
    task->spent_ns = 0;
    task->closed = false;
    place->sweep.request.retry = retry;
    place->session.allow_slow = allow_slow;
    pdnn_sweep_directory_resume(&place->sweep);
}

static void test_resume_counts_what_is_there(void **state) {
    struct place *place = *state;
    const struct pdnn_task *task = place->session.tasks;
    add_visit(place, 0, PDNN_OUTCOME_OK, 100, 0);
    add_visit(place, 0, PDNN_OUTCOME_CRASH, 0, 0);
    add_visit(place, 0, PDNN_OUTCOME_OK, 300, 0);
    resume(place, false, false);
    assert_int_equal(task[0].visits_done, 2);
    assert_true(task[0].medians[0] == 100 && task[0].medians[1] == 300);
    assert_int_equal(task[0].spent_ns, 20 * 100 + 20 * 300);
    assert_int_equal(task[0].crashes, 0);
    assert_false(task[0].closed);
    assert_int_equal(task[1].visits_done, 0);
    assert_false(task[1].closed);
}

/* Whether an instance needs more visits, by its last visits. */
static void test_resume_closes(void **state) {
    struct place *place = *state;
    static const struct {
        enum pdnn_outcome outcome;
        unsigned flags;
        bool closed, closed_on_retry, closed_when_slow;
    } visits[] = {
        {PDNN_OUTCOME_CRASH, 0, false, false, false},
        {PDNN_OUTCOME_CRASH, 0, true, false, true},
        {PDNN_OUTCOME_OK, 0, false, false, false},
        {PDNN_OUTCOME_TIMEOUT, 0, true, false, true},
        {PDNN_OUTCOME_UNSUPPORTED, 0, true, false, false},
        /* A row never mixes visits that were allowed to be slow with others. */
        {PDNN_OUTCOME_OK, PDNN_FLAG_SLOW, true, true, false},
    };
    for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
        const struct pdnn_task *task = place->session.tasks;
        add_visit(place, 0, visits[i].outcome, 100, visits[i].flags);
        resume(place, false, false);
        assert_int_equal(task->closed, visits[i].closed);
        resume(place, true, false);
        assert_int_equal(task->closed, visits[i].closed_on_retry);
        assert_int_equal(task->crashes, 0);
        resume(place, false, true);
        assert_int_equal(task->closed, visits[i].closed_when_slow);
    }
}

/* A changed spec, and a visit that was cut short. */
static void test_open_warns(void **state) {
    struct place *place = *state;
    static const char *const ids[] = {SECOND};
    char path[128];
    assert_string_equal(place->warnings, "");
    add_visit(place, 0, PDNN_OUTCOME_OK, 100, 0);
    pdnn_sweep_directory_close(&place->sweep);
    pdnn_session_finish(&place->session);
    snprintf(path, sizeof path, "%s/journal.csv", place->path);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_true(fputs("3,\"fc/lay", file) >= 0);
    assert_int_equal(fclose(file), 0);
    open_session(place, ids, 1);
    open_directory(place);
    assert_non_null(strstr(place->warnings, "spec.yaml: the spec has changed"));
    assert_non_null(strstr(place->warnings, "journal.csv: an incomplete last visit was dropped"));
    assert_int_equal(place->sweep.journal->known.ids.count, 1);
}

/* The machine differs from before: refused, and nothing is written. */
static void test_open_refuses_another_machine(void **state) {
    struct place *place = *state;
    struct pdnn_fact here = {.key = "cpu", .type = PDNN_FACT_TEXT, .text = "one", .identity = true},
                     there = {.key = "cpu", .type = PDNN_FACT_TEXT, .text = "other", .identity = true};
    struct pdnn_err err = {0};
    pdnn_sweep_directory_close(&place->sweep);
    char path[128];
    snprintf(path, sizeof path, "%s/environment.yaml", place->path);
    unlink(path);
    place->request.n_facts = 1;
    place->request.facts = &here;
    open_directory(place);
    pdnn_sweep_directory_close(&place->sweep);
    place->request.facts = &there;
    assert_int_equal(pdnn_sweep_directory_open(&place->sweep, &place->request, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "cpu"));
    pdnn_sweep_directory_close(&place->sweep);
    place->request.facts = &here;
    open_directory(place);
}

/* environment.yaml says what visits tell of hardware counters, and the first reason why there are none once
 * as a warning; a later run that adds nothing leaves it. */
static void test_commit_tells_of_counters(void **state) {
    static const struct {
        bool is_asked;
        enum pdnn_counters first, second;
        const char *environment, *warning;
    } rows[] = {
        {false, PDNN_COUNTERS_OFF, PDNN_COUNTERS_OFF, "counters: \"off\"\n", NULL},
        {true, PDNN_COUNTERS_OFF, PDNN_COUNTERS_OFF, "counters: \"\"\n", NULL},
        {true, PDNN_COUNTERS_ALL, PDNN_COUNTERS_ALL, "counters: \"cycles and instructions, those in", NULL},
        {true, PDNN_COUNTERS_ABSENT, PDNN_COUNTERS_ABSENT,
         "counters: \"the processor shows none, as in most virtual machines\"\n",
         "hardware counters: the processor shows none, as in most virtual machines; first with fc/"},
        {true, PDNN_COUNTERS_ALL, PDNN_COUNTERS_APART, "counters: \"the clock by cycles and",
         "by additions differ by more than 10 %; first with fc/"},
        {true, PDNN_COUNTERS_SHARED, PDNN_COUNTERS_ALL, "counters: \"other programs had them",
         "first with fc/"},
    };
    struct place *place = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/environment.yaml", place->path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_fact fact = {.key = PDNN_FACT_COUNTERS, .text = rows[i].is_asked ? "" : "off"};
        struct pdnn_visit visit = {.samples = 10, .steps_per_sample = 1, .median_ns = 50, .mean_ns = 50};
        struct pdnn_err err = {0};
        pdnn_sweep_directory_close(&place->sweep);
        unlink(path);
        place->session.counters = PDNN_COUNTERS_OFF;
        place->session.spec.measure.counters = rows[i].is_asked;
        place->request.n_facts = 1;
        place->request.facts = &fact;
        open_directory(place);
        place->warnings[0] = 0;
        for (int k = 0; k < 3; k++) {
            visit.counted.counters = k ? rows[i].second : rows[i].first;
            assert_int_equal(pdnn_sweep_directory_commit(&place->sweep, 1, &visit, &err), PDNN_OK);
        }
        if (rows[i].warning)
            assert_non_null(strstr(place->warnings, rows[i].warning));
        else
            assert_string_equal(place->warnings, "");
        const char *once = strstr(place->warnings, "hardware counters:");
        assert_null(once ? strstr(once + 1, "hardware counters:") : NULL);
        for (int again = 0; again < 2; again++) {
            char *text;
            assert_int_equal(pdnn_file_read(path, 1 << 16, &text, NULL, &err), PDNN_OK);
            if (!strstr(text, rows[i].environment))
                fail_msg("'%s' lacks '%s'", text, rows[i].environment);
            free(text);
            pdnn_sweep_directory_close(&place->sweep);
            fact.text = rows[i].is_asked ? "" : "off";
            open_directory(place);
        }
    }
}

/* The session's rows in order, visited or not, then rows that only the journal has. */
static void test_write_has_every_row(void **state) {
    struct place *place = *state;
    struct pdnn_err err = {0};
    struct whole_csv csv = {0};
    struct pdnn_visit visit = {.samples = 10, .steps_per_sample = 1, .median_ns = 50, .mean_ns = 50};
    char path[128];
    assert_int_equal(pdnn_journal_append(place->sweep.journal, "fc/gone=1", &visit, &err), PDNN_OK);
    add_visit(place, 1, PDNN_OUTCOME_OK, 100, 0);
    add_visit(place, 1, PDNN_OUTCOME_OK, 110, 0);
    assert_int_equal(pdnn_sweep_directory_write(&place->sweep, &err), PDNN_OK);
    assert_true(place->sweep.written);
    assert_int_equal(place->sweep.sums.tally.counts[PDNN_OUTCOME_OK], 1);
    assert_int_equal(place->sweep.sums.tally.counts[PDNN_OUTCOME_INTERRUPTED], 1);
    assert_true(isnan(place->sweep.sums.speed_index));
    snprintf(path, sizeof path, "%s/results.csv", place->path);
    assert_int_equal(whole_csv_read(path, 1 << 20, &csv, &err), PDNN_OK);
    const char *const rows[][3] = {{place->session.tasks[0].id, "interrupted", ""},
                                   {place->session.tasks[1].id, "ok", "105"},
                                   {"fc/gone=1", "ok", "50"}};
    assert_int_equal(csv.n_rows, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(whole_csv_get(&csv, i, whole_csv_find(&csv, "id")), rows[i][0]);
        assert_string_equal(whole_csv_get(&csv, i, whole_csv_find(&csv, "status")), rows[i][1]);
        assert_string_equal(whole_csv_get(&csv, i, whole_csv_find(&csv, "time_ns_median")), rows[i][2]);
    }
    whole_csv_finish(&csv);
}

/* By measure.choices, in paired order only. */
static void test_share_choices(void **state) {
    static const struct {
        const char *sets[2], *cache;
        bool is_kept, is_shared;
    } rows[] = {
        {{"run.fuse=[none, post-ops]", "seed=1"}, "/cache", true, true},
        {{"run.fuse=[none, post-ops]", "measure.choices=shared"}, "/cache", true, true},
        {{"run.fuse=[none, post-ops]", "measure.choices=own"}, "/cache", true, false},
        {{"run.fuse=[none, post-ops]", "measure.order=shuffled"}, "/cache", false, false},
        {{"run.fuse=[none, post-ops]", "seed=1"}, "", true, true}, /* --no-cache is of other directories */
        {{"run.fuse=[none, post-ops]", "measure.order=shuffled"}, "", false, false},
        {{"run.fuse=none", "seed=1"}, "/cache", false, false}};
    static const char *const id = FIRST;
    struct place *place = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_session session = {.hooks = &place->hooks};
        struct pdnn_err err = {0};
        if (pdnn_session_open(&session, &id, 1, rows[i].sets, 2, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        strcpy(session.cache, rows[i].cache);
        struct pdnn_sweep_rules rules = pdnn_session_rules(&session);
        pdnn_session_share_choices(&session, "/own", &rules);
        assert_string_equal(rules.request.choices, rows[i].is_kept ? "/own" : rows[i].cache);
        assert_int_equal(rules.request.choices_are_final, rows[i].is_kept);
        assert_int_equal(rules.request.choices_are_shared, rows[i].is_shared);
        pdnn_session_finish(&session);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resume_counts_what_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume_closes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_warns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_refuses_another_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_commit_tells_of_counters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_has_every_row, setup, teardown),
        cmocka_unit_test_setup_teardown(test_share_choices, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
