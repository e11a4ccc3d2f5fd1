/* How long a job may still run: what Slurm sets, what a squeue says, and what neither does. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/clock.h"
#include "session/batch/scheduler_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t second_ns = 1000000000;

static void test_time_left_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok, known;
        uint64_t seconds;
    } rows[] = {
        {"59", true, true, 59},
        {"1:00", true, true, 60},
        {"59:59", true, true, 3599},
        {"1:00:00", true, true, 3600},
        {"1-00:00:01", true, true, 86401},
        {"365-00:00:00", true, true, 365 * 86400},
        {"0:00", true, true, 0},
        {"UNLIMITED", true, false, 0},
        {"NOT_SET", true, false, 0},
        {"INVALID", false, false, 0},
        {"", false, false, 0},
        {"-1:00", false, false, 0},
        {"1-", false, false, 0},
        {"1:", false, false, 0},
        {":1", false, false, 0},
        {"1:2:3:4", false, false, 0},
        {"1:2-3", false, false, 0},
        {"1 day", false, false, 0},
        {"99999999999999999999", false, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_time_left left;
        bool ok = pdnn_time_left_parse(rows[i].text, &left);
        if (ok != rows[i].ok || left.known != rows[i].known || left.ns != rows[i].seconds * second_ns)
            fail_msg("'%s'", rows[i].text);
    }
}

/* Makes this the environment: name, value, ... */
static void see(const char *const *variables) {
    static const char *const *before;
    for (const char *const *at = before; at && *at; at += 2)
        unsetenv(at[0]);
    for (const char *const *at = variables; at && *at; at += 2)
        setenv(at[0], at[1], 1);
    before = variables;
}

static enum pdnn_status ask(const char *const *seen, struct pdnn_time_left *left, struct pdnn_err *err) {
    see(seen);
    enum pdnn_status status = pdnn_time_left(left, err);
    see(NULL);
    return status;
}

static void test_time_left_by_variable(void **state) {
    (void)state;
    char later[32];
    struct pdnn_time_left left;
    struct pdnn_err err = {0};
    snprintf(later, sizeof later, "%lld", (long long)(pdnn_clock_unix_ms() / 1000 + 1000000));
    const char *const set[] = {"SLURM_JOB_END_TIME", later, NULL};
    assert_int_equal(ask(set, &left, &err), PDNN_OK);
    assert_true(left.known && left.ns > 0 && left.ns <= 1000000 * second_ns);
    assert_string_equal(left.source, "SLURM_JOB_END_TIME");
    const char *const past[] = {"SLURM_JOB_END_TIME", "1000", NULL};
    assert_int_equal(ask(past, &left, &err), PDNN_OK);
    assert_true(left.known && left.ns == 0);
    const char *const nowhere[] = {"PATH", "/bin", NULL};
    assert_int_equal(ask(nowhere, &left, &err), PDNN_OK);
    assert_false(left.known);
}

/* A squeue that prints its arguments to a file, and this answer. */
static void write_squeue(const char *directory, const char *answer) {
    char path[128];
    snprintf(path, sizeof path, "%s/squeue", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "#!/bin/sh\necho \"$@\" > %s/asked\necho '%s'\n", directory, answer) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static void read_asked(const char *directory, char text[128]) {
    char path[128];
    snprintf(path, sizeof path, "%s/asked", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, 128, file));
    fclose(file);
    unlink(path);
}

static void test_time_left_by_squeue(void **state) {
    (void)state;
    static const char *const alone[] = {"SLURM_JOB_ID", "12", NULL};
    static const char *const array[] = {
        "SLURM_JOB_ID", "12", "SLURM_ARRAY_JOB_ID", "12", "SLURM_ARRAY_TASK_ID", "3", NULL};
    char directory[] = "/tmp/pdnn_test_time_XXXXXX", path[4096], asked[128];
    const char *before = getenv("PATH");
    struct pdnn_time_left left;
    struct pdnn_err err = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s:%s", directory, before ? before : "/bin:/usr/bin");
    char *kept = strdup(before ? before : "");
    setenv("PATH", path, 1);
    write_squeue(directory, "1-02:03:04");
    assert_int_equal(ask(alone, &left, &err), PDNN_OK);
    assert_true(left.known && left.ns == (86400 + 2 * 3600 + 3 * 60 + 4) * second_ns);
    assert_string_equal(left.source, "squeue");
    read_asked(directory, asked);
    assert_string_equal(asked, "-h -j 12 -o %L\n");
    assert_int_equal(ask(array, &left, &err), PDNN_OK);
    read_asked(directory, asked);
    assert_string_equal(asked, "-h -j 12_3 -o %L\n");
    write_squeue(directory, "UNLIMITED");
    assert_int_equal(ask(alone, &left, &err), PDNN_OK);
    assert_false(left.known);
    write_squeue(directory, "slurm_load_jobs error");
    assert_int_equal(ask(alone, &left, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "squeue says 'slurm_load_jobs' about job 12"));
    setenv("PATH", directory, 1);
    snprintf(path, sizeof path, "%s/squeue", directory);
    unlink(path);
    assert_int_equal(ask(alone, &left, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "cannot run squeue"));
    setenv("PATH", kept, 1);
    free(kept);
    snprintf(path, sizeof path, "%s/asked", directory);
    unlink(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_left_parse),
        cmocka_unit_test(test_time_left_by_variable),
        cmocka_unit_test(test_time_left_by_squeue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
