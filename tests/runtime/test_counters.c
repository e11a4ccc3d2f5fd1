/* Counters of the pool's threads against scripted system calls, since hardly any machine that runs this has
 * hardware counters; and against the kernel itself behind a filter. */
#define _GNU_SOURCE
#include "tests/cmocka_all.h"

#include "runtime/measure/counters.h"
#include "tests/near.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FILES_MAX = 64 };

/* Files are numbered from 100. */
static struct {
    int code, fail_from; /* openings from this one, from 0, fail with the code */
    bool only_kernel;    /* but only if they ask for the kernel too */
    uint64_t raised_to;  /* or while the soft limit is below this; 0: not so */
    int n_opened, n_closed, calls;
    struct {
        pid_t thread;
        int group;
        uint64_t event;
        bool has_kernel, is_open;
    } file[FILES_MAX];
    struct pdnn_counter_reading now[THREADS]; /* what the groups read */
    bool ends;                                /* a reading gives nothing */
} perf;

static struct pdnn_team_thread threads[THREADS] = {{11, 0, 0}, {12, 0, 1}, {13, 0, 2}};
static struct pdnn_thread_team team = {.count = THREADS, .made = 1, .thread = threads};

static uint64_t soft_limit(void) {
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    return files.rlim_cur;
}

static int open_event(const struct perf_event_attr *event, pid_t thread, int group) {
    bool fails = perf.code && perf.calls++ >= perf.fail_from;
    fails = fails && (!perf.only_kernel || !event->exclude_kernel);
    fails = fails && (!perf.raised_to || soft_limit() < perf.raised_to);
    assert_int_equal(event->type, PERF_TYPE_HARDWARE);
    assert_int_equal(event->inherit, 0);
    assert_true(perf.n_opened < FILES_MAX);
    errno = perf.code;
    if (fails)
        return -1;
    perf.file[perf.n_opened].thread = thread;
    perf.file[perf.n_opened].group = group;
    perf.file[perf.n_opened].event = event->config;
    perf.file[perf.n_opened].has_kernel = !event->exclude_kernel;
    perf.file[perf.n_opened].is_open = true;
    return 100 + perf.n_opened++;
}

static ssize_t read_group(int fd, void *buffer, size_t bytes) {
    const int thread = perf.file[fd - 100].thread - 11;
    assert_int_equal(perf.file[fd - 100].group, -1);
    assert_int_equal(bytes, sizeof *perf.now);
    memcpy(buffer, &perf.now[thread], bytes);
    return perf.ends ? 0 : (ssize_t)bytes;
}

static int close_event(int fd) {
    assert_true(perf.file[fd - 100].is_open);
    perf.file[fd - 100].is_open = false;
    perf.n_closed++;
    return 0;
}

static const struct pdnn_perf scripted = {open_event, read_group, close_event};

static void script(int code, int fail_from) {
    memset(&perf, 0, sizeof perf);
    perf.code = code;
    perf.fail_from = fail_from;
    team.made = 1;
}

/* Each errno has its state, and none leaves a file open, whichever opening it comes from. */
static void test_open_by_errno(void **state) {
    static const struct {
        int code;
        enum pdnn_counters expected;
    } rows[] = {{ENOENT, PDNN_COUNTERS_ABSENT},  {EOPNOTSUPP, PDNN_COUNTERS_ABSENT},
                {ENODEV, PDNN_COUNTERS_ABSENT},  {EACCES, PDNN_COUNTERS_FORBIDDEN},
                {EPERM, PDNN_COUNTERS_FILTERED}, {ENOSYS, PDNN_COUNTERS_UNSUPPORTED},
                {EMFILE, PDNN_COUNTERS_FILES},   {EBUSY, PDNN_COUNTERS_BUSY},
                {EINVAL, PDNN_COUNTERS_FAILED}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int fail_from = 0; fail_from < 2 * THREADS; fail_from++) {
            struct pdnn_thread_counters counters = {.perf = &scripted};
            struct pdnn_counts counts;
            script(rows[i].code, fail_from);
            assert_int_equal(pdnn_thread_counters_open(&counters, &team), rows[i].expected);
            assert_true(pdnn_counters_are_missing(rows[i].expected));
            assert_int_equal(perf.n_opened, perf.n_closed);
            assert_false(pdnn_thread_counters_lap(&counters, &counts));
            perf.code = 0; /* what is there later is taken */
            assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_ALL);
            pdnn_thread_counters_close(&counters);
            assert_int_equal(perf.n_opened, perf.n_closed);
        }
    }
}

/* A group of cycles and instructions for each thread, once for each team. */
static void test_open_groups(void **state) {
    (void)state;
    struct pdnn_thread_counters counters = {.perf = &scripted};
    script(0, 0);
    for (int again = 0; again < 2; again++)
        assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_ALL);
    assert_int_equal(perf.n_opened, 2 * THREADS);
    for (int i = 0; i < 2 * THREADS; i++) {
        assert_int_equal(perf.file[i].thread, 11 + i / 2);
        assert_int_equal(perf.file[i].group, i % 2 ? 100 + i - 1 : -1);
        assert_true(perf.file[i].event == (i % 2 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES));
        assert_true(perf.file[i].has_kernel);
    }
    team.made++;
    team.count = 2;
    assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_ALL);
    assert_int_equal(perf.n_opened, 2 * THREADS + 4);
    assert_int_equal(perf.n_closed, 2 * THREADS);
    pdnn_thread_counters_close(&counters);
    assert_int_equal(perf.n_opened, perf.n_closed);
    team.count = THREADS;
}

static void test_open_without_the_kernel(void **state) {
    (void)state;
    struct pdnn_thread_counters counters = {.perf = &scripted};
    script(EACCES, 0);
    perf.only_kernel = true;
    for (int again = 0; again < 2; again++)
        assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_USER);
    assert_false(pdnn_counters_are_missing(PDNN_COUNTERS_USER));
    assert_int_equal(perf.n_opened, 2 * THREADS);
    for (int i = 0; i < 2 * THREADS; i++)
        assert_false(perf.file[i].has_kernel);
    pdnn_thread_counters_close(&counters);
}

/* Where the soft limit is in the way, it is raised. */
static void test_open_raises_the_limit(void **state) {
    (void)state;
    struct pdnn_thread_counters counters = {.perf = &scripted};
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    const struct rlimit low = {files.rlim_max / 2, files.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    script(EMFILE, 3);
    perf.raised_to = files.rlim_max;
    assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_ALL);
    assert_int_equal(perf.n_opened, 2 * THREADS);
    assert_int_equal(soft_limit(), files.rlim_max);
    pdnn_thread_counters_close(&counters);
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Sums over threads of what passed between two readings; none where a thread was not counted throughout. */
static void test_lap(void **state) {
    (void)state;
    struct pdnn_thread_counters counters = {.perf = &scripted};
    struct pdnn_counts counts;
    script(0, 0);
    for (int i = 0; i < THREADS; i++)
        perf.now[i] = (struct pdnn_counter_reading){2, 50, 50, 1000, 7000};
    assert_int_equal(pdnn_thread_counters_open(&counters, &team), PDNN_COUNTERS_ALL);
    assert_true(pdnn_thread_counters_lap(&counters, &counts));
    assert_true(pdnn_thread_counters_lap(&counters, &counts));
    assert_int_equal(counts.cycles + counts.instructions + counts.running_ns, 0);
    assert_true(counts.slowest_ghz == 0);
    for (uint64_t i = 0; i < THREADS; i++)
        perf.now[i] = (struct pdnn_counter_reading){2, 150, 150, 1000 + 400 + 10 * i, 7000 + 1000 * i};
    assert_true(pdnn_thread_counters_lap(&counters, &counts));
    assert_int_equal(counts.cycles, 1230);
    assert_int_equal(counts.instructions, 3000);
    assert_int_equal(counts.running_ns, 300);
    assert_near(counts.slowest_ghz, 4, 1e-12);
    perf.now[1].enabled_ns += 100; /* of which it ran 99 */
    perf.now[1].running_ns += 99;
    assert_false(pdnn_thread_counters_lap(&counters, &counts));
    assert_true(pdnn_thread_counters_lap(&counters, &counts));
    perf.ends = true;
    assert_false(pdnn_thread_counters_lap(&counters, &counts));
    pdnn_thread_counters_close(&counters);
}

static void test_counts(void **state) {
    (void)state;
    const struct pdnn_counts cost = {10, 100, 5, 1};
    struct pdnn_counts sum = {0}, made = pdnn_counts_net((struct pdnn_counts){400, 1100, 105, 4}, &cost);
    pdnn_counts_add(&sum, &made);
    assert_near(sum.slowest_ghz, 4 * (390.0 / 100) / (400.0 / 105), 1e-12);
    made = pdnn_counts_net((struct pdnn_counts){9, 100, 4, 3}, &cost); /* less than it costs */
    pdnn_counts_add(&sum, &made);
    assert_int_equal(sum.cycles, 390);
    assert_int_equal(sum.instructions, 1000);
    assert_int_equal(sum.running_ns, 100);
    assert_near(sum.slowest_ghz, 4 * (390.0 / 100) / (400.0 / 105), 1e-12);
    const struct pdnn_counted counted = pdnn_counted_of(&sum, 3);
    assert_int_equal(counted.instructions, 333);
    assert_near(counted.ipc, 1000.0 / 390, 1e-12);
    assert_near(counted.effective_ghz, 3.9, 1e-12);
    sum.cycles = 0;
    assert_int_equal(pdnn_counted_of(&sum, 3).instructions, 0);
}

static void test_clocks_are_apart(void **state) {
    (void)state;
    assert_false(pdnn_clocks_are_apart(4, 4.3));
    assert_false(pdnn_clocks_are_apart(4.3, 4));
    assert_true(pdnn_clocks_are_apart(4, 4.5));
    assert_true(pdnn_clocks_are_apart(4.5, 4));
    assert_false(pdnn_clocks_are_apart(4, 0)); /* not known */
    assert_false(pdnn_clocks_are_apart(0, 4));
}

/* In a child, behind a filter that answers perf_event_open with EPERM, as a container's does. */
static void test_open_behind_a_filter(void **state) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    enum { NO_FILTER = 77 };
    (void)state;
    const pid_t child = fork();
    if (!child) {
        struct pdnn_team_thread own = {gettid(), 0, 0};
        const struct pdnn_thread_team alone = {.count = 1, .made = 1, .thread = &own};
        struct pdnn_thread_counters counters = {0};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
            _exit(NO_FILTER);
        _exit((int)pdnn_thread_counters_open(&counters, &alone));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_FILTER)
        skip();
    assert_int_equal(WEXITSTATUS(status), PDNN_COUNTERS_FILTERED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_by_errno),
        cmocka_unit_test(test_open_groups),
        cmocka_unit_test(test_open_without_the_kernel),
        cmocka_unit_test(test_open_raises_the_limit),
        cmocka_unit_test(test_lap),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_clocks_are_apart),
        cmocka_unit_test(test_open_behind_a_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
