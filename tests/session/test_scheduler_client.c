/* What a program printed, how it ended, and programs that do not start or end. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "session/batch/scheduler_client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Never reached by a program that ends, and soon by one that does not. */
static const uint64_t long_ns = UINT64_C(36000000000000), short_ns = 100000000;

static void check(const char *script, const char *out, const char *errors, int exit_status) {
    const char *const command[] = {"sh", "-c", script, NULL};
    struct pdnn_answer answer;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_scheduler_ask(command, long_ns, &answer, &err), PDNN_OK);
    assert_string_equal(pdnn_str_text(&answer.out), out);
    assert_string_equal(pdnn_str_text(&answer.errors), errors);
    assert_int_equal(answer.exit_status, exit_status);
    pdnn_answer_finish(&answer);
}

static void test_ask_answers(void **state) {
    (void)state;
    check("echo 12", "12\n", "", 0);
    check("echo no >&2; exit 3", "", "no\n", 3);
    check("echo a; echo b >&2; echo c", "a\nc\n", "b\n", 0);
    check("kill -9 $$", "", "", 137);
    /* A script may open what it writes to once more, as sites' wrappers do. */
    check("echo a; echo b >/dev/stdout; echo c", "a\nb\nc\n", "", 0);
    check("echo a >&2; echo b >/dev/stderr; echo c >&2", "", "a\nb\nc\n", 0);
    /* Without input it does not wait for any. */
    check("cat; echo end", "end\n", "", 0);
}

static void test_ask_long_answer(void **state) {
    (void)state;
    const char *const command[] = {"sh", "-c", "yes | head -c 1000000; yes | head -c 200000 >&2; exit 5",
                                   NULL};
    struct pdnn_answer answer;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_scheduler_ask(command, long_ns, &answer, &err), PDNN_OK);
    assert_int_equal(answer.out.length, 1 << 16);
    assert_int_equal(answer.errors.length, 1 << 16);
    assert_int_equal(answer.exit_status, 5);
    pdnn_answer_finish(&answer);
}

static void test_ask_fails(void **state) {
    (void)state;
    const char *const missing[] = {"no-such-program", NULL}, *const slow[] = {"sleep", "1000", NULL};
    struct pdnn_answer answer;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_scheduler_ask(missing, long_ns, &answer, &err), PDNN_IO);
    assert_string_equal(err.text, "cannot run no-such-program: No such file or directory");
    pdnn_answer_finish(&answer);
    assert_int_equal(pdnn_scheduler_ask(slow, short_ns, &answer, &err), PDNN_IO);
    assert_string_equal(err.text, "sleep has not ended within 100 ms");
    assert_int_equal(answer.exit_status, 128 + 9);
    pdnn_answer_finish(&answer);
}

/* What ends is the program, not its pipes. */
static void test_ask_pipes(void **state) {
    (void)state;
    const char *const mute[] = {"sh", "-c", "exec >&- 2>&-; exec sleep 1000", NULL};
    const char *const leaves[] = {"sh", "-c", "sleep 1000 & echo $!; exit 4", NULL};
    struct pdnn_answer answer;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_scheduler_ask(mute, short_ns, &answer, &err), PDNN_IO);
    assert_string_equal(err.text, "sh has not ended within 100 ms");
    pdnn_answer_finish(&answer);
    assert_int_equal(pdnn_scheduler_ask(leaves, long_ns, &answer, &err), PDNN_OK);
    assert_int_equal(answer.exit_status, 4);
    pid_t left = (pid_t)strtol(pdnn_str_text(&answer.out), NULL, 10);
    assert_true(left > 0);
    assert_int_equal(kill(left, SIGKILL), 0); /* it is still there */
    pdnn_answer_finish(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_answers),
        cmocka_unit_test(test_ask_long_answer),
        cmocka_unit_test(test_ask_fails),
        cmocka_unit_test(test_ask_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
