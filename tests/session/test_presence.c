#define _GNU_SOURCE /* mkdtemp, flock */
/* Sweeps on one machine see each other, and nothing that others plant. */
#include "session/join/presence.h"
#include "session/session.h"
#include "tests/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct pdnn_host two = {.threads = 2, .core_pu = {4, 6}};
static char place[] = "/tmp/test_presence_XXXXXX";

static int setup(void **state) {
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int clear(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", place);
    return system(command);
}

/* Others seen by a sweep that begins now; it ends at once. */
static void assert_others(const struct pdnn_host *host, const char *expected) {
    struct pdnn_presence presence;
    struct pdnn_str others = {0};
    setenv("PARADNN_PRESENCE_DIR", place, 1);
    pdnn_presence_begin(&presence, host, "/b", &others);
    assert_string_equal(pdnn_str_text(&others), expected);
    pdnn_presence_end(&presence);
    pdnn_str_finish(&others);
}

static int plant(const char *name, const char *text, int flags) {
    char path[300];
    snprintf(path, sizeof path, "%s/paradnn-sweep-%s", place, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && flock(fd, flags) == 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

static void test_presence_sees_sweeps_on_its_cores(void **state) {
    (void)state;
    static const struct pdnn_host one = {.threads = 1, .core_pu = {4, 6}},
                                  last = {.threads = 1, .core_pu = {6}};
    struct pdnn_presence presence;
    struct pdnn_str others = {0};
    char expected[64];
    assert_others(&two, "");
    setenv("PARADNN_PRESENCE_DIR", place, 1);
    pdnn_presence_begin(&presence, &one, "/a", &others);
    assert_string_equal(pdnn_str_text(&others), "");
    snprintf(expected, sizeof expected, "pid %ld in /a\n", (long)getpid());
    assert_others(&two, expected);
    assert_others(&last, "");
    pdnn_presence_end(&presence);
    pdnn_presence_end(&presence);
    assert_others(&two, "");
    pdnn_str_finish(&others);
}

static void test_presence_trusts_nothing(void **state) {
    (void)state;
    char path[300], target[300];
    int live = plant("1", "7\n4,\n/live\n", LOCK_EX), dead = plant("2", "8\n4,\n/dead\n", LOCK_UN);
    int odd = plant("3", "9 no lines", LOCK_EX), odder = plant("4", "\n\n\n", LOCK_EX);
    snprintf(path, sizeof path, "%s/paradnn-sweep-5", place);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/paradnn-sweep-%ld-0", place, (long)getpid());
    snprintf(target, sizeof target, "%s/target", place);
    assert_int_equal(symlink(target, path), 0);
    assert_others(&two, "pid 7 in /live\n");
    assert_int_not_equal(access(target, F_OK), 0);
    snprintf(path, sizeof path, "%s/paradnn-sweep-2", place);
    assert_int_not_equal(access(path, F_OK), 0); /* left by a sweep that was killed */
    close(live);
    close(dead);
    close(odd);
    close(odder);
}

/* A sweep of another user cannot read what a umask hides. */
static void test_presence_is_readable(void **state) {
    (void)state;
    struct pdnn_presence presence;
    struct pdnn_str others = {0};
    struct stat file;
    mode_t usual = umask(077);
    setenv("PARADNN_PRESENCE_DIR", place, 1);
    pdnn_presence_begin(&presence, &two, "/a", &others);
    umask(usual);
    assert_int_equal(stat(presence.path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0644);
    pdnn_presence_end(&presence);
    pdnn_str_finish(&others);
}

static void keep_text(void *user, const char *text) {
    snprintf(user, 256, "%s", text);
}

static void test_announce_says_a_small_quota(void **state) {
    (void)state;
    static const struct {
        double quota;
        const char *text;
    } rows[] = {
        {0, ""}, {1, ""}, {2.5, ""}, {0.25, "a control group's quota leaves this process 0.25 of a core"}};
    setenv("PARADNN_PRESENCE_DIR", place, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256] = "";
        const struct pdnn_session_hooks hooks = {.user = text, .warn = keep_text};
        struct pdnn_session session = {.hooks = &hooks, .host = {.threads = 1, .quota_cpus = rows[i].quota}};
        pdnn_session_announce(&session, "/a");
        assert_int_equal(strncmp(text, rows[i].text, strlen(rows[i].text)), 0);
        assert_int_equal(!*text, !*rows[i].text);
        pdnn_presence_end(&session.presence);
        pdnn_arena_finish(&session.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presence_sees_sweeps_on_its_cores),
        cmocka_unit_test(test_presence_trusts_nothing),
        cmocka_unit_test(test_presence_is_readable),
        cmocka_unit_test(test_announce_says_a_small_quota),
    };
    return cmocka_run_group_tests(tests, setup, clear);
}
