/* The library of measured operators: what is added is found again, by context, also after the file was cut
 * short; a foreign file is refused. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "base/file.h"
#include "results/store/library.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/paradnn-library-XXXXXX", path[64];

static int set_up(void **state) {
    (void)state;
    memcpy(directory + sizeof directory - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/operators.csv", directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static struct pdnn_library *open_it(void) {
    struct pdnn_library *library;
    struct pdnn_err err = {0};
    if (pdnn_library_open(directory, &library, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return library;
}

static void add_of(struct pdnn_library *library, const char *host, int64_t started, const char *context,
                   const char *key, double ns, enum pdnn_outcome outcome) {
    struct pdnn_err err = {0};
    struct pdnn_visit visit = {
        .outcome = outcome, .samples = 5, .steps_per_sample = 2, .median_ns = ns, .started_unix_ms = started};
    const struct pdnn_library_row row = {context, host, "", key, &visit};
    strcpy(visit.reason, outcome == PDNN_OUTCOME_OK ? "" : "why, \"so\"");
    assert_int_equal(pdnn_library_add(library, &row, &err), PDNN_OK);
}

static void add(struct pdnn_library *library, const char *context, const char *key, double ns,
                enum pdnn_outcome outcome) {
    add_of(library, "host", 0, context, key, ns, outcome);
}

static void check(const struct pdnn_library *library, const char *context, const char *key, size_t count,
                  double last_ns) {
    struct pdnn_library_times times = {0};
    assert_int_equal(pdnn_library_find(library, context, key, &times), count > 0);
    assert_int_equal(times.count, count);
    if (count)
        assert_true(times.ns[count - 1] == last_ns);
}

static const char here[] = "0123456789abcdef", there[] = "0123456789abcdee";

static void test_library_keeps_contexts_apart(void **state) {
    (void)state;
    struct pdnn_library *library = open_it();
    struct pdnn_library_times times;
    add(library, here, "a", 1.5, PDNN_OUTCOME_OK);
    add(library, here, "a", 0.1, PDNN_OUTCOME_OK);
    add(library, there, "a", 7, PDNN_OUTCOME_OK);
    add(library, here, "b", 0, PDNN_OUTCOME_CRASH);
    for (int time = 0; time < 2; time++) {
        check(library, here, "a", 2, 0.1);
        check(library, there, "a", 1, 7);
        check(library, there, "b", 0, 0);
        assert_true(pdnn_library_find(library, here, "b", &times));
        assert_int_equal(times.count, 0);
        assert_int_equal(times.outcome, PDNN_OUTCOME_CRASH);
        assert_string_equal(times.reason, "why, \"so\"");
        pdnn_library_close(library);
        library = open_it();
    }
    pdnn_library_close(library);
}

static enum pdnn_outcome outcome_of(const struct pdnn_library *library, const char *key) {
    struct pdnn_library_times times;
    assert_true(pdnn_library_find(library, here, key, &times));
    return times.outcome;
}

/* A host's last measurement counts, by its time, and success outranks what failed elsewhere. */
static void test_library_outcome_knows_no_order(void **state) {
    (void)state;
    struct pdnn_library *library = open_it();
    add_of(library, "a", 10, here, "elsewhere", 1, PDNN_OUTCOME_OK);
    add_of(library, "b", 20, here, "elsewhere", 0, PDNN_OUTCOME_CRASH);
    add_of(library, "a", 20, here, "again", 1, PDNN_OUTCOME_OK);
    add_of(library, "a", 10, here, "again", 0, PDNN_OUTCOME_CRASH);
    add_of(library, "a", 10, here, "late", 1, PDNN_OUTCOME_OK);
    add_of(library, "a", 20, here, "late", 0, PDNN_OUTCOME_CRASH);
    add_of(library, "b", 5, here, "late", 0, PDNN_OUTCOME_TIMEOUT);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(outcome_of(library, "elsewhere"), PDNN_OUTCOME_OK);
        assert_int_equal(outcome_of(library, "again"), PDNN_OUTCOME_OK);
        assert_int_not_equal(outcome_of(library, "late"), PDNN_OUTCOME_OK);
        pdnn_library_close(library);
        library = open_it();
    }
    pdnn_library_close(library);
}

static void test_library_drops_a_torn_row(void **state) {
    (void)state;
    struct pdnn_library *library = open_it();
    add(library, here, "a", 1, PDNN_OUTCOME_OK);
    add(library, here, "a", 2, PDNN_OUTCOME_OK);
    pdnn_library_close(library);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftruncate(fileno(file), ftell(file) - 3), 0);
    fclose(file);
    library = open_it();
    check(library, here, "a", 1, 1);
    add(library, here, "a", 3, PDNN_OUTCOME_OK);
    pdnn_library_close(library);
    library = open_it();
    check(library, here, "a", 2, 3);
    pdnn_library_close(library);
}

static void write_file(const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* What a crash may leave behind the rows goes; what is broken before them is never dropped. */
static void test_library_drops_only_the_end(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } ends[] = {{"ab", 2}, {"ab,host\n", 8}, {"ab,\"host\n", 9}, {"\0\0\0", 3}, {"\0\n", 2}};
    struct pdnn_library *library = open_it();
    add(library, here, "a", 1, PDNN_OUTCOME_OK);
    pdnn_library_close(library);
    char *rows;
    size_t length, header;
    assert_int_equal(pdnn_file_read(path, 1 << 20, &rows, &length, NULL), PDNN_OK);
    header = strcspn(rows, "\n") + 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct pdnn_str text = {0};
        struct pdnn_err err = {0};
        pdnn_str_append(&text, rows, length);
        pdnn_str_append(&text, ends[i].text, ends[i].length);
        write_file(text.text, text.length);
        library = open_it();
        check(library, here, "a", 1, 1);
        pdnn_library_close(library);
        pdnn_str_clear(&text);
        pdnn_str_append(&text, rows, header);
        pdnn_str_append(&text, ends[i].text, ends[i].length);
        pdnn_str_append(&text, "\n", 1);
        pdnn_str_append(&text, rows + header, length - header);
        write_file(text.text, text.length);
        assert_int_equal(pdnn_library_open(directory, &library, &err), PDNN_INVALID);
        assert_non_null(strstr(err.text, "operators.csv:2: "));
        pdnn_str_finish(&text);
    }
    free(rows);
}

static void test_library_refuses_what_is_not_its_own(void **state) {
    (void)state;
    struct pdnn_library *library = open_it(), *second;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_library_open(directory, &second, &err), PDNN_BUSY);
    assert_non_null(strstr(err.text, "another paradnn is writing there"));
    pdnn_library_close(library);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("name,time\n", file);
    fclose(file);
    assert_int_equal(pdnn_library_open(directory, &library, &err), PDNN_INVALID);
    file = fopen(path, "r");
    char line[16];
    assert_string_equal(fgets(line, sizeof line, file), "name,time\n");
    fclose(file);
}

static void test_library_refuses_a_time_of_nothing(void **state) {
    (void)state;
    struct pdnn_library *library = open_it();
    struct pdnn_err err = {0};
    add(library, here, "a", 1, PDNN_OUTCOME_OK);
    add(library, here, "a", 0, PDNN_OUTCOME_OK);
    pdnn_library_close(library);
    assert_int_equal(pdnn_library_open(directory, &library, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "operators.csv:3: "));
}

static void test_library_context_is_a_hash(void **state) {
    (void)state;
    char a[PDNN_LIBRARY_CONTEXT_TEXT], b[PDNN_LIBRARY_CONTEXT_TEXT];
    pdnn_library_context("threads 2", a);
    pdnn_library_context("threads 4", b);
    assert_int_equal(strlen(a), 16);
    assert_string_not_equal(a, b);
    pdnn_library_context("", a);
    assert_string_equal(a, "cbf29ce484222325");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_library_keeps_contexts_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_library_outcome_knows_no_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_library_drops_a_torn_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_library_drops_only_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_library_refuses_what_is_not_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_library_refuses_a_time_of_nothing, set_up, tear_down),
        cmocka_unit_test(test_library_context_is_a_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
