/* The journal: what is appended reads back, in order and complete; a last row cut anywhere is dropped and
 * nothing else; a failed write leaves what was there; two writers exclude each other; what is no journal is
 * never touched. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/tables/columns.h"
#include "results/tables/journal.h"
#include "results/tables/packed_ops.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 24 };

struct place {
    char directory[PATH_ROOM - 32], journal[PATH_ROOM];
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->directory, "/tmp/pdnn_test_journal_XXXXXX");
    if (!mkdtemp(place->directory))
        return -1;
    snprintf(place->journal, sizeof place->journal, "%s/journal.csv", place->directory);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    unlink(place->journal);
    rmdir(place->directory);
    free(place);
    return 0;
}

static struct pdnn_visit_op two_ops[] = {
    {"dense/forward/64x2000:2000x1024:64x1024+bias", "gemm:jit", 3, 0, 1234.5},
    {"a|b;c%d\n\x7f,\"q\"", "own:x|y", 4294967295u, INT64_MAX, 1.0 / 3},
};

static struct pdnn_visit make_visit(int number) {
    struct pdnn_visit visit = {
        .started_unix_ms = 1777636800123 + number,
        .prepare_ns = 18446744073709551614u,
        .plan_bytes = 4096u * (unsigned)number,
        .samples = 11,
        .steps_per_sample = 2,
        .warmups = 3,
        .median_ns = 1000.1 * number,
        .min_ns = 1.0 / 3,
        .mean_ns = 1e-9,
        .p10_ns = 2,
        .p90_ns = 3,
        .mad_ns = 0,
        .stamped_ns = 1e12,
        .probe_gflops = 99.5,
        .probe_gbs = 17.25,
        .stop = PDNN_STOP_MAX_TIME,
        .flags = PDNN_FLAG_NOISY | PDNN_FLAG_REF,
        .n_ops = 2,
        .ops = two_ops,
    };
    return visit;
}

static struct pdnn_visit make_crash(void) {
    struct pdnn_visit visit = {.outcome = PDNN_OUTCOME_CRASH, .started_unix_ms = 1};
    strcpy(visit.reason, "killed,\nby \"signal\" 9");
    return visit;
}

static void assert_same_visit(const struct pdnn_visit *a, const struct pdnn_visit *b) {
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->started_unix_ms, b->started_unix_ms);
    assert_true(a->prepare_ns == b->prepare_ns && a->plan_bytes == b->plan_bytes);
    assert_true(a->samples == b->samples && a->steps_per_sample == b->steps_per_sample &&
                a->warmups == b->warmups);
    assert_true(a->median_ns == b->median_ns && a->min_ns == b->min_ns && a->mean_ns == b->mean_ns);
    assert_true(a->p10_ns == b->p10_ns && a->p90_ns == b->p90_ns && a->mad_ns == b->mad_ns);
    assert_true(a->stamped_ns == b->stamped_ns);
    assert_true(a->probe_gflops == b->probe_gflops && a->probe_gbs == b->probe_gbs);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->n_ops, b->n_ops);
    for (size_t i = 0; i < a->n_ops; i++) {
        assert_string_equal(a->ops[i].key, b->ops[i].key);
        assert_string_equal(a->ops[i].implementation, b->ops[i].implementation);
        assert_int_equal(a->ops[i].count, b->ops[i].count);
        assert_true(a->ops[i].bytes == b->ops[i].bytes && a->ops[i].time_ns == b->ops[i].time_ns);
    }
}

/* Two instances, the first visited twice, one crash. */
static void append_three(struct pdnn_journal *journal) {
    struct pdnn_err err = {0};
    struct pdnn_visit first = make_visit(1), crash = make_crash(), second = make_visit(2);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &first, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=2", &crash, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &second, &err), PDNN_OK);
}

static void check_three(const struct pdnn_journal *journal) {
    struct pdnn_err err = {0};
    struct pdnn_visit *visits, first = make_visit(1), second = make_visit(2);
    size_t n_visits;
    assert_int_equal(pdnn_journal_count(journal), 2);
    assert_string_equal(pdnn_journal_id(journal, 0), "fc/a=1,b=2");
    assert_int_equal(pdnn_journal_find(journal, "fc/a=2"), 1);
    assert_true(pdnn_journal_find(journal, "fc/a=3") == SIZE_MAX);
    assert_int_equal(pdnn_journal_visits(journal, 0, true, &visits, &n_visits, &err), PDNN_OK);
    assert_int_equal(n_visits, 2);
    assert_same_visit(&visits[0], &first);
    assert_same_visit(&visits[1], &second);
    pdnn_visits_free(visits, n_visits);
    assert_int_equal(pdnn_journal_visits(journal, 1, false, &visits, &n_visits, &err), PDNN_OK);
    assert_int_equal(n_visits, 1);
    assert_int_equal(visits[0].outcome, PDNN_OUTCOME_CRASH);
    assert_string_equal(visits[0].reason, "killed, by \"signal\" 9");
    pdnn_visits_free(visits, n_visits);
}

static void test_journal_append_reads_back(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_count(journal), 0);
    append_three(journal);
    check_three(journal);
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    assert_false(pdnn_journal_was_torn(journal));
    check_three(journal);
    pdnn_journal_close(journal);
}

/* Not pdnn_file_replace: nothing here needs a sync, and there are hundreds. */
static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The last row cut after every one of its bytes: rows before it stay, it is gone unless complete, and the
 * next append makes the same file as if nothing had happened. */
static void test_journal_open_torn_at_every_byte(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    char *whole, *again;
    size_t length, again_length;
    assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &whole, &length, &err), PDNN_OK);
    size_t last = length - 1;
    while (whole[last - 1] != '\n')
        last--;
    assert_true(length - last > 100);
    for (size_t cut = last; cut <= length; cut++) {
        struct pdnn_visit second = make_visit(2);
        write_file(place->journal, whole, cut);
        assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
        assert_int_equal(pdnn_journal_was_torn(journal), cut > last && cut < length);
        assert_int_equal(pdnn_journal_count(journal), 2);
        if (cut < length)
            assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &second, &err), PDNN_OK);
        check_three(journal);
        pdnn_journal_close(journal);
        assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &again, &again_length, &err), PDNN_OK);
        assert_int_equal(again_length, length);
        assert_memory_equal(again, whole, length);
        free(again);
    }
    free(whole);
}

/* The same for a crash while the header was written. */
static void test_journal_open_torn_header(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    struct pdnn_str header = {0};
    pdnn_columns_header(&pdnn_journal_columns, &header);
    for (size_t cut = 0; cut <= header.length; cut++) {
        char *text;
        size_t length;
        write_file(place->journal, header.text, cut);
        assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
        assert_int_equal(pdnn_journal_count(journal), 0);
        pdnn_journal_close(journal);
        assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &text, &length, &err), PDNN_OK);
        assert_int_equal(length, header.length);
        assert_memory_equal(text, header.text, length);
        free(text);
    }
    pdnn_str_finish(&header);
}

/* What is no journal of this version is refused and stays byte for byte. */
static void test_journal_open_refuses_others(void **state) {
    const struct place *place = *state;
    struct pdnn_str header = {0}, text = {0};
    pdnn_columns_header(&pdnn_journal_columns, &header);
    static const struct {
        bool with_header;
        const char *text, *message;
    } rows[] = {
        {false, "schema,id\n1,fc/a=1\n", "journal.csv:1: no journal of this version"},
        {false, "something else", "journal.csv:1: no journal of this version"},
        {true, "2,fc/a,1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,\n",
         "journal.csv:2: schema 2"},
        {true, "1,fc/a,1,fine,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,\n",
         "journal.csv:2: 'fine' is no value for column 'status'"},
        {true, "1,fc/a,1,ok,,1970-02-30T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,\n",
         "column 'started_utc'"},
        {true, "1,fc/a,-1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,\n", "column 'visit'"},
        {true, "1,fc/a\n1,fc/a\n", "journal.csv:2: 2 fields, the header has 23"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        struct pdnn_journal *journal;
        char *after;
        size_t length;
        pdnn_str_clear(&text);
        if (rows[i].with_header)
            pdnn_str_append(&text, header.text, header.length);
        pdnn_str_append(&text, rows[i].text, strlen(rows[i].text));
        write_file(place->journal, text.text, text.length);
        assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
        assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &after, &length, &err), PDNN_OK);
        assert_int_equal(length, text.length);
        assert_memory_equal(after, text.text, length);
        free(after);
    }
    pdnn_str_finish(&header);
    pdnn_str_finish(&text);
}

/* Empty where nothing was measured; a 0 that was measured stays. */
static void test_journal_append_leaves_out_what_was_not_measured(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    char *text;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_non_null(strstr(text, "\" 9\",1970-01-01T00:00:00.001Z,,,,,,,,,,,,,,,,,\n"));
    assert_non_null(strstr(text, ",2,3,0,"));
    free(text);
}

static void test_journal_open_excludes_second_writer(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal, *other;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    append_three(journal);
    assert_int_equal(pdnn_journal_open(place->directory, &other, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "another paradnn"));
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    pdnn_journal_close(journal);
}

/* A file-size limit stands for a full disk: the write stops in the middle of the row. In a child, since
 * limits stay. */
static void test_journal_append_disk_full(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    struct stat before, after;
    assert_int_equal(stat(place->journal, &before), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rlimit limit = {(rlim_t)before.st_size + 20, (rlim_t)before.st_size + 20};
        struct pdnn_visit visit = make_visit(3);
        signal(SIGXFSZ, SIG_IGN);
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                    pdnn_journal_open(place->directory, &journal, &err) == PDNN_OK &&
                    pdnn_journal_append(journal, "fc/a=3", &visit, &err) == PDNN_IO &&
                    strstr(err.text, place->journal) && pdnn_journal_count(journal) == 2;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(stat(place->journal, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    assert_false(pdnn_journal_was_torn(journal));
    check_three(journal);
    pdnn_journal_close(journal);
}

static void test_journal_many_instances(void **state) {
    const struct place *place = *state;
    enum { N = 100 };
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    for (int i = 0; i < 2 * N; i++) {
        char id[64];
        struct pdnn_visit visit = make_visit(i);
        snprintf(id, sizeof id, "fc/a=%d", i % N);
        assert_int_equal(pdnn_journal_append(journal, id, &visit, &err), PDNN_OK);
    }
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(place->directory, &journal, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_count(journal), N);
    for (size_t i = 0; i < N; i++) {
        struct pdnn_visit *visits;
        size_t n_visits;
        char id[64];
        snprintf(id, sizeof id, "fc/a=%zu", i);
        assert_int_equal(pdnn_journal_find(journal, id), i);
        assert_int_equal(pdnn_journal_visits(journal, i, false, &visits, &n_visits, &err), PDNN_OK);
        assert_int_equal(n_visits, 2);
        assert_int_equal(visits[1].started_unix_ms - visits[0].started_unix_ms, N);
        pdnn_visits_free(visits, n_visits);
    }
    pdnn_journal_close(journal);
}

static void test_ops_unpack_refuses(void **state) {
    (void)state;
    static const char *const rows[] = {
        "a",           "a|b",          "a|b|1|2",
        "a|b|1|2|",    "a|b|x|2|3",    "a|b|-1|2|3",
        "a|b|1|-2|3",  "a|b|1|2|3;",   "a|b|1|2|3;a|b",
        "a%2|b|1|2|3", "a%zz|b|1|2|3", "a|b|4294967296|2|3",
        "a|b|1|2|nan", "a|b|1|2|3|4",  ";",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit_op *ops;
        size_t n_ops;
        struct pdnn_err err = {0};
        if (pdnn_ops_unpack(rows[i], &ops, &n_ops, &err) != PDNN_INVALID)
            fail_msg("'%s' was taken", rows[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_journal_append_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_torn_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_torn_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_refuses_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_append_leaves_out_what_was_not_measured, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_excludes_second_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_append_disk_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_many_instances, setup, teardown),
        cmocka_unit_test(test_ops_unpack_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
