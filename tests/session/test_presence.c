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
    pdnn_presence_begin(&presence, host->core_pu, host->threads, "/b", &others);
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
    pdnn_presence_begin(&presence, one.core_pu, one.threads, "/a", &others);
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
    pdnn_presence_begin(&presence, two.core_pu, two.threads, "/a", &others);
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
        pdnn_session_announce(&session, false, "/a");
        assert_int_equal(strncmp(text, rows[i].text, strlen(rows[i].text)), 0);
        assert_int_equal(!*text, !*rows[i].text);
        pdnn_presence_end(&session.presence);
        pdnn_arena_finish(&session.arena);
    }
}

enum { SWEEPS = 4, HOST_CORES = 6 };

/* A sweep of a host with six cores, numbered as a second socket's are, whose only model takes some of them.
 */
struct swept {
    struct pdnn_session session;
    struct pdnn_session_hooks hooks;
    struct pdnn_task task;
    char warned[256], noted[256];
};

static void note_text(void *user, const char *text) {
    struct swept *swept = user;
    snprintf(swept->noted, sizeof swept->noted, "%s", text);
}

static void warn_text(void *user, const char *text) {
    struct swept *swept = user;
    snprintf(swept->warned, sizeof swept->warned, "%s", text);
}

static void begin_sweep(struct swept *swept, const char *id, bool is_joined) {
    static const struct pdnn_host host = {.threads = HOST_CORES, .core_pu = {9, 1, 3, 5, 7, 11}};
    *swept = (struct swept){.hooks = {.user = swept, .warn = warn_text, .note = note_text}};
    assert_int_equal(pdnn_instance_parse(id, &swept->task.instance, NULL), PDNN_OK);
    pdnn_instance_resolve(&swept->task.instance, host.threads);
    swept->session =
        (struct pdnn_session){.hooks = &swept->hooks, .host = host, .tasks = &swept->task, .n_tasks = 1};
    setenv("PARADNN_PRESENCE_DIR", place, 1);
    pdnn_session_announce(&swept->session, is_joined, "/a");
}

static void end_sweep(struct swept *swept) {
    pdnn_presence_end(&swept->session.presence);
    pdnn_arena_finish(&swept->session.arena);
}

/* Of several joined sweeps on one host, each takes cores that the earlier ones have not, as long as there are
 * enough; the one for which there are not says so. One that is not joined stays where it is. */
static void test_joined_sweeps_take_free_cores(void **state) {
    (void)state;
    static const struct {
        const char *id;
        bool is_joined;
        const char *cores, *noted, *warned;
    } rows[SWEEPS] = {
        {"fc/layers=1,threads=2", true, "{9},{1},{3},{5},{7},{11}", "", ""},
        {"fc/layers=1,threads=2", true, "{3},{5},{7},{11},{9},{1}", "on cores 3, 5, beside other sweeps", ""},
        {"fc/layers=1,threads=1", true, "{7},{11},{9},{1},{3},{5}", "on core 7, beside other sweeps", ""},
        {"fc/layers=1,threads=2", true, "{11},{9},{1},{3},{5},{7}", "",
         ", since this one takes 2 of 6 and fewer are free; both measure wrong times"}};
    struct swept swept[SWEEPS], alone;
    for (size_t i = 0; i < SWEEPS; i++) {
        begin_sweep(&swept[i], rows[i].id, rows[i].is_joined);
        char *places = pdnn_host_places(&swept[i].session.host);
        assert_string_equal(places, rows[i].cores);
        assert_string_equal(swept[i].session.places, rows[0].cores);
        assert_string_equal(swept[i].noted, rows[i].noted);
        assert_int_equal(!*swept[i].warned, !*rows[i].warned);
        assert_non_null(strstr(swept[i].warned, rows[i].warned));
        free(places);
    }
    begin_sweep(&alone, "fc/layers=1,threads=1", false);
    char *places = pdnn_host_places(&alone.session.host);
    assert_string_equal(places, rows[0].cores);
    assert_null(alone.session.places);
    assert_string_equal(alone.noted, "");
    assert_non_null(strstr(alone.warned, "another sweep is running on the same cores"));
    assert_null(strstr(alone.warned, "since"));
    free(places);
    end_sweep(&alone);
    for (size_t i = 0; i < SWEEPS; i++)
        end_sweep(&swept[i]);
}

/* Loaders of minibatches run on the cores that a step leaves: there is no room for another sweep. */
static void test_joined_sweeps_with_loaders_take_all(void **state) {
    (void)state;
    struct swept swept, other;
    begin_sweep(&swept, "cnn:resnet50,batch=1,data=generated,threads=1", true);
    assert_string_equal(swept.warned, "");
    begin_sweep(&other, "fc/layers=1,threads=1", true);
    assert_non_null(strstr(other.warned, "this one takes 1 of 6 and fewer are free"));
    assert_string_equal(other.noted, "");
    end_sweep(&other);
    end_sweep(&swept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presence_sees_sweeps_on_its_cores),
        cmocka_unit_test(test_presence_trusts_nothing),
        cmocka_unit_test(test_presence_is_readable),
        cmocka_unit_test(test_announce_says_a_small_quota),
        cmocka_unit_test(test_joined_sweeps_take_free_cores),
        cmocka_unit_test(test_joined_sweeps_with_loaders_take_all),
    };
    return cmocka_run_group_tests(tests, setup, clear);
}
