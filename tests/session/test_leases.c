#define _DEFAULT_SOURCE
/* The log of leases: who gets what when several try, what is refused, and when a holder counts as dead. */
#include "tests/cmocka_all.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "session/join/leases.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether links cannot be seen for a while after they were made, as over NFS; whether a process is killed
 * before it makes one. */
static bool hides_links, dies;
static int cleanings; /* of the directory, by another process, before links are made */

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    if (dies)
        raise(SIGKILL);
    if (cleanings && cleanings--)
        unlinkat(from_fd, from, 0);
    int made = (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    return made == 0 && hides_links ? unlinkat(to_fd, to, 0) : made;
}

static char directory[64];
static const struct pdnn_lease_plan plan = {
    .instances = 8, .instances_hash = 7, .expiry_ns = UINT64_C(36000000000000)};

static int make_directory(void **state) {
    (void)state;
    strcpy(directory, "/tmp/paradnn-test-leases-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static struct pdnn_holder holder(const char *host) {
    return pdnn_holder_self(host);
}

/* Somebody on another host. */
static struct pdnn_holder stranger(const char *host) {
    struct pdnn_holder made = holder(host);
    strcpy(made.boot, "another");
    return made;
}

static void open_log(struct pdnn_leases *leases, const struct pdnn_holder *self) {
    struct pdnn_err err = {0};
    enum pdnn_status status = pdnn_leases_open(leases, directory, &plan, self, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
}

static size_t claim(struct pdnn_leases *leases, uint32_t first, uint32_t last) {
    struct pdnn_err err = {0};
    uint32_t list[8];
    size_t count = 0, lease;
    for (uint32_t i = last + 1; i-- > first;)
        list[count++] = i;
    enum pdnn_status status = pdnn_leases_claim(leases, list, count, 5, &lease, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
    return lease;
}

static void end(struct pdnn_leases *leases, size_t lease, const uint32_t *done, size_t n_done) {
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_leases_end(leases, lease, done, n_done, &err), PDNN_OK);
}

static bool is_held(struct pdnn_leases *leases, size_t lease) {
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_leases_read(leases, &err), PDNN_OK);
    pdnn_leases_beat(leases);
    return leases->lease[lease].state == PDNN_LEASE_HELD;
}

static void read_log(struct pdnn_leases *leases) {
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_leases_read(leases, &err), PDNN_OK);
}

static void test_leases_claim_and_end(void **state) {
    (void)state;
    struct pdnn_leases one, other;
    const struct pdnn_holder me = holder("one"), you = holder("other");
    open_log(&one, &me);
    open_log(&other, &you);
    size_t lease = claim(&one, 2, 5);
    assert_int_equal(lease, 0);
    /* Comes second, learns that, and may choose again. */
    assert_int_equal(claim(&other, 0, 3), SIZE_MAX);
    assert_int_equal(other.state_of[2], 0);
    assert_int_equal(other.state_of[1], PDNN_LEASE_FREE);
    assert_int_equal(claim(&other, 0, 1), 1);
    assert_true(is_held(&one, lease));
    static const uint32_t done[] = {5, 2};
    end(&one, lease, done, 2);
    assert_false(is_held(&one, lease));
    read_log(&other);
    static const int32_t expected[] = {1,
                                       1,
                                       PDNN_LEASE_DONE,
                                       PDNN_LEASE_FREE,
                                       PDNN_LEASE_FREE,
                                       PDNN_LEASE_DONE,
                                       PDNN_LEASE_FREE,
                                       PDNN_LEASE_FREE};
    assert_memory_equal(other.state_of, expected, sizeof expected);
    assert_memory_equal(one.state_of, expected, sizeof expected);
    assert_int_equal(other.lease[0].state, PDNN_LEASE_ENDED);
    assert_int_equal(other.lease[0].done, 2);
    pdnn_leases_close(&one);
    pdnn_leases_close(&other);
}

/* Who made the link of a record has it, whatever the directory shows. */
static void test_leases_claim_not_seen(void **state) {
    (void)state;
    struct pdnn_leases one;
    const struct pdnn_holder me = holder("one");
    open_log(&one, &me);
    hides_links = true;
    size_t lease = claim(&one, 2, 5);
    hides_links = false;
    assert_int_equal(lease, 0);
    assert_int_equal(one.count, 1);
    assert_int_equal(one.lease[0].number, 1);
    assert_int_equal(one.state_of[2], 0);
    pdnn_leases_close(&one);
}

static void test_leases_usual_expiry(void **state) {
    (void)state;
    struct pdnn_leases leases;
    struct pdnn_err err = {0};
    const struct pdnn_holder me = holder("me");
    struct pdnn_lease_plan usual = plan;
    usual.expiry_ns = 0;
    assert_int_equal(pdnn_leases_open(&leases, directory, &usual, &me, &err), PDNN_OK);
    assert_int_equal(leases.plan.expiry_ns, 120000000000);
    pdnn_leases_close(&leases);
}

/* A lease that was taken is not held any more, and only one of two that take it does. */
static void test_leases_take_over(void **state) {
    (void)state;
    struct pdnn_leases one, two, three;
    const struct pdnn_holder a = holder("a"), b = holder("b"), c = holder("c");
    open_log(&one, &a);
    open_log(&two, &b);
    open_log(&three, &c);
    size_t lease = claim(&one, 0, 3);
    read_log(&two);
    read_log(&three);
    static const uint32_t first[] = {0}, second[] = {1};
    end(&two, lease, first, 1);
    end(&three, lease, second, 1);
    assert_int_equal(three.state_of[0], PDNN_LEASE_DONE);
    assert_int_equal(three.state_of[1], PDNN_LEASE_FREE);
    assert_int_equal(three.lease[lease].state, PDNN_LEASE_LOST);
    assert_false(is_held(&one, lease));
    end(&one, lease, second, 1);
    assert_int_equal(one.state_of[1], PDNN_LEASE_FREE);
    pdnn_leases_close(&one);
    pdnn_leases_close(&two);
    pdnn_leases_close(&three);
}

/* What a lease had done whose journal is lost is free again, but not what another lease did since. */
static void test_leases_void(void **state) {
    (void)state;
    struct pdnn_leases one, two;
    struct pdnn_err err = {0};
    const struct pdnn_holder a = holder("a"), b = holder("b");
    open_log(&one, &a);
    static const uint32_t first[] = {0, 2}, second[] = {1};
    size_t lease = claim(&one, 0, 3);
    end(&one, lease, first, 2);
    size_t later = claim(&one, 1, 1);
    end(&one, later, second, 1);
    open_log(&two, &b);
    assert_int_equal(pdnn_leases_void(&two, lease, &err), PDNN_OK);
    uint64_t next = two.next;
    assert_int_equal(pdnn_leases_void(&one, lease, &err), PDNN_OK); /* the second who tries */
    assert_int_equal(pdnn_leases_void(&two, lease, &err), PDNN_OK);
    assert_int_equal(one.next, next);
    assert_int_equal(two.next, next);
    static const int32_t expected[] = {PDNN_LEASE_FREE, PDNN_LEASE_DONE, PDNN_LEASE_FREE, PDNN_LEASE_FREE};
    assert_memory_equal(one.state_of, expected, sizeof expected);
    assert_memory_equal(two.state_of, expected, sizeof expected);
    assert_true(one.lease[lease].is_void);
    assert_int_equal(claim(&two, 0, 0), 2);
    pdnn_leases_close(&one);
    pdnn_leases_close(&two);
}

/* As if this much time had passed since the last look, or the last sign of life. */
static void let_pass(uint64_t *since_ns, uint64_t ns) {
    *since_ns = pdnn_clock_ns() - ns;
}

/* Alive as long as the counter moves, whatever the clocks of the hosts say; dead after the expiry. */
static void test_leases_watch_counter(void **state) {
    (void)state;
    struct pdnn_leases one, other;
    const struct pdnn_holder far = stranger("far"), here = holder("here");
    open_log(&one, &far);
    open_log(&other, &here);
    const uint64_t expiry_ns = one.plan.expiry_ns;
    claim(&one, 0, 0);
    read_log(&other);
    pdnn_leases_watch(&other);
    assert_false(other.lease[0].is_stale || other.lease[0].has_beaten);
    for (int i = 0; i < 3; i++) {
        let_pass(&one.beat_ns, expiry_ns / 4);
        pdnn_leases_beat(&one);
        let_pass(&other.lease[0].seen_ns, 2 * expiry_ns);
        pdnn_leases_watch(&other);
        assert_false(other.lease[0].is_stale);
        assert_true(other.lease[0].has_beaten);
    }
    let_pass(&other.lease[0].seen_ns, 2 * expiry_ns);
    pdnn_leases_watch(&other);
    assert_true(other.lease[0].is_stale);
    pdnn_leases_close(&one);
    pdnn_leases_close(&other);
}

/* A process of this kernel that has ended is dead at once. */
static void test_leases_watch_process(void **state) {
    (void)state;
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    int claimed[2];
    char byte;
    open_log(&leases, &me);
    assert_int_equal(pipe(claimed), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pdnn_leases own;
        const struct pdnn_holder self = holder("child");
        struct pdnn_err err = {0};
        size_t lease;
        static const uint32_t list[] = {3};
        pdnn_leases_open(&own, directory, &plan, &self, &err);
        pdnn_leases_claim(&own, list, 1, 1, &lease, &err);
        close(claimed[1]);
        pause();
        _exit(0);
    }
    close(claimed[1]);
    assert_int_equal(read(claimed[0], &byte, 1), 0); /* once it has claimed, or failed to */
    close(claimed[0]);
    read_log(&leases);
    assert_int_equal(leases.count, 1);
    pdnn_leases_watch(&leases);
    assert_false(leases.lease[0].is_stale);
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    pdnn_leases_watch(&leases);
    assert_true(leases.lease[0].is_stale); /* although it is not reaped yet */
    waitpid(child, NULL, 0);
    pdnn_leases_watch(&leases);
    assert_true(leases.lease[0].is_stale);
    struct pdnn_holder later = leases.lease[0].holder, self = me;
    later.pid = me.pid;
    assert_true(pdnn_holder_is_gone(&later, &self)); /* the pid is another process's by now */
    strcpy(later.boot, "another");
    assert_false(pdnn_holder_is_gone(&later, &self));
    pdnn_leases_close(&leases);
}

static void refuse(const struct pdnn_lease_plan *wanted, const char *expected) {
    struct pdnn_leases leases;
    struct pdnn_err err = {0};
    const struct pdnn_holder me = holder("me");
    enum pdnn_status status = pdnn_leases_open(&leases, directory, wanted, &me, &err);
    pdnn_leases_close(&leases);
    if (!strstr(err.text, expected))
        print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(status, PDNN_INVALID);
}

static void test_leases_other_plan(void **state) {
    (void)state;
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    refuse(NULL, "leases: cannot be opened");
    open_log(&leases, &me);
    struct pdnn_lease_plan other = plan;
    other.instances = 9;
    refuse(&other, "the spec has 9 instances here, and not the same 8 as on the host that joined first");
    other = plan;
    other.instances_hash = 8;
    refuse(&other, "the spec has 8 instances here, and not the same 8 as");
    other = plan;
    other.allow_slow = true;
    refuse(&other, "the others have joined without --allow-slow");
    other = plan;
    other.expiry_ns = 1000000000;
    refuse(&other, "--lease-expiry is 1.00 s, and the others have 36000 s");
    pdnn_leases_close(&leases);
}

static void put(const char *name, const char *text) {
    struct pdnn_err err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/leases/%s", directory, name);
    assert_int_equal(pdnn_file_replace(path, text, strlen(text), &err), PDNN_OK);
}

/* Replaces `from` in a record by `to`. */
static void damage(const char *name, const char *from, const char *to) {
    struct pdnn_err err = {0};
    char path[128], *text, *at;
    snprintf(path, sizeof path, "%s/leases/%s", directory, name);
    assert_int_equal(pdnn_file_read(path, 1 << 20, &text, NULL, &err), PDNN_OK);
    at = strstr(text, from);
    assert_non_null(at);
    struct pdnn_str made = {0};
    pdnn_str_printf(&made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    put(name, pdnn_str_text(&made));
    pdnn_str_finish(&made);
    free(text);
}

static void test_leases_damaged(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *expected;
    } rows[] = {
        {"record: 1\n", "", "leases/00000001: is damaged or not a record of leases"},
        {"# One", "# Two", "leases/00000001: is damaged or not a record of leases"},
        {"schema: 1", "schema: 5", "its leases have schema 5, those of this program ("},
        {"event: claim", "event: plan", "is damaged or not a record of leases"},
        {"event: claim", "event: give", "is damaged or not a record of leases"},
        {"list: 2-5", "list: 2-8", "is damaged or not a record of leases"},
        {"list: 2-5", "list: 5-2", "is damaged or not a record of leases"},
        {"list: 2-5", "list: 2-5,", "is damaged or not a record of leases"},
        {"list: 2-5", "list: 2-5,4", "is damaged or not a record of leases"},
        {"list: 2-5", "list: -5", "is damaged or not a record of leases"},
        {"list: 2-5", "list: 99999999999999999999", "is damaged or not a record of leases"},
        {"list: 2-5", "lost: 2-5", "is damaged or not a record of leases"},
        {"part: me", "part: ../me", "is damaged or not a record of leases"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_leases leases;
        const struct pdnn_holder me = holder("me");
        remove_directory(NULL);
        assert_int_equal(make_directory(NULL), 0);
        open_log(&leases, &me);
        claim(&leases, 2, 5);
        damage("00000001", rows[i].from, rows[i].to);
        refuse(&plan, rows[i].expected);
        pdnn_leases_close(&leases);
    }
}

/* A whole record that does not follow from those before it. */
static void test_leases_of_nobody(void **state) {
    (void)state;
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    open_log(&leases, &me);
    claim(&leases, 2, 5);
    damage("00000001", "event: claim", "event: ended");
    damage("00000001", "cost_us: 5", "lease: 7");
    refuse(&plan, "leases/00000001: is about lease 7, which nobody held");
    pdnn_leases_close(&leases);
}

/* Another version's journals cannot be merged with this one's. */
static void test_leases_other_journals(void **state) {
    (void)state;
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    open_log(&leases, &me);
    damage("00000000", "journal_schema: ", "journal_schema: 9");
    refuse(&plan, "leases/00000000: another version joined first: its journals have schema 9");
    pdnn_leases_close(&leases);
}

/* Records that end too early, and what is no file. */
static void test_leases_cut_short(void **state) {
    (void)state;
    struct pdnn_leases leases;
    char path[128];
    const struct pdnn_holder me = holder("me");
    open_log(&leases, &me);
    claim(&leases, 2, 5);
    damage("00000001", "record: 1\n", "reco");
    refuse(&plan, "leases/00000001: is damaged or not a record of leases");
    put("00000001", "");
    refuse(&plan, "leases/00000001: is damaged or not a record of leases");
    snprintf(path, sizeof path, "%s/leases/00000001", directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    refuse(&plan, "leases/00000001: is not a record of leases");
    pdnn_leases_close(&leases);
}

/* What lies there under another name does not matter. */
static void test_leases_foreign(void **state) {
    (void)state;
    struct pdnn_leases leases;
    struct pdnn_err err = {0};
    const struct pdnn_holder me = holder("me");
    open_log(&leases, &me);
    put("notes.txt", "nothing");
    put("0000001", "nothing");
    put("00000009", "nothing");
    assert_int_equal(claim(&leases, 0, 0), 0);
    put("00000002", "nothing");
    assert_int_equal(pdnn_leases_read(&leases, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "leases/00000002: is damaged or not a record of leases"));
    pdnn_leases_close(&leases);
}

/* Counts the files of the log that are no records. */
static int count_others(void) {
    char command[128];
    snprintf(command, sizeof command, "exit $(ls %s/leases | grep -vc '^[0-9]*$')", directory);
    return WEXITSTATUS(system(command));
}

/* A process that is killed while it writes a record leaves a file, which the next one that joins removes. */
static void test_leases_killed(void **state) {
    (void)state;
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    open_log(&leases, &me);
    pid_t child = fork();
    if (child == 0) {
        struct pdnn_err err = {0};
        size_t lease;
        static const uint32_t list[] = {3};
        dies = true;
        pdnn_leases_claim(&leases, list, 1, 1, &lease, &err);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    pdnn_leases_close(&leases);
    assert_true(count_others() > 0);
    open_log(&leases, &me);
    cleanings = 2;
    claim(&leases, 3, 3); /* whose own file is removed by others that join */
    pdnn_leases_close(&leases);
    assert_int_equal(count_others(), 0);
}

/* Many processes that claim one instance at a time: each instance goes to one of them. */
static void test_leases_race(void **state) {
    (void)state;
    enum { PROCESSES = 8, INSTANCES = 64 };
    const struct pdnn_lease_plan many = {.instances = INSTANCES, .instances_hash = 1};
    struct pdnn_err err = {0};
    for (int p = 0; p < PROCESSES; p++) {
        if (fork() != 0)
            continue;
        struct pdnn_leases own;
        const struct pdnn_holder self = holder("racer");
        enum pdnn_status status = pdnn_leases_open(&own, directory, &many, &self, &err);
        for (uint32_t i = 0; i < INSTANCES && status == PDNN_OK;) {
            size_t lease = SIZE_MAX;
            if (own.state_of[i] == PDNN_LEASE_FREE)
                status = pdnn_leases_claim(&own, &i, 1, 1, &lease, &err);
            if (status == PDNN_OK && lease != SIZE_MAX)
                status = pdnn_leases_end(&own, lease, &i, 1, &err);
            i += own.state_of[i] != PDNN_LEASE_FREE;
        }
        _exit(status != PDNN_OK);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    struct pdnn_leases leases;
    const struct pdnn_holder me = holder("me");
    assert_int_equal(pdnn_leases_open(&leases, directory, &many, &me, &err), PDNN_OK);
    assert_int_equal(leases.count, INSTANCES);
    pdnn_leases_close(&leases);
}

#define LEASE_TEST(name) cmocka_unit_test_setup_teardown(test_leases_##name, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        LEASE_TEST(claim_and_end),  LEASE_TEST(claim_not_seen), LEASE_TEST(usual_expiry),
        LEASE_TEST(take_over),      LEASE_TEST(void),           LEASE_TEST(watch_counter),
        LEASE_TEST(watch_process),  LEASE_TEST(other_plan),     LEASE_TEST(damaged),
        LEASE_TEST(other_journals), LEASE_TEST(cut_short),      LEASE_TEST(foreign),
        LEASE_TEST(race),           LEASE_TEST(killed),         LEASE_TEST(of_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
