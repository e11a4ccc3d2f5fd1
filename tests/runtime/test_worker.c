/* The parent's side of the worker, against processes that misbehave: this program is its own worker, and the
 * variable PDNN_TEST_WORKER says how it behaves. */
#define _DEFAULT_SOURCE
#include "runtime/host/host_cgroup.h"
#include "base/memory.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/protocol/protocol.h"
#include "tests/cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pdnn_watch unwatched;

static const char variable[] = "PDNN_TEST_WORKER";
#define ISA_VARIABLE "PDNN_TEST_ISA"

static void send_visit(int fd, const struct pdnn_request *request) {
    struct pdnn_visit_op ops[2] = {{.key = "dense/forward/1x2:2x3:1x3", .count = 4, .time_ns = 2.5},
                                   {.count = 1}};
    struct pdnn_visit visit = {
        .samples = request->rules.min_samples, .median_ns = (double)request->seed, .n_ops = 2};
    snprintf(ops[1].key, sizeof ops[1].key, "%.100s", request->id);
    const struct pdnn_part parts[] = {{&visit, sizeof visit}, {ops, sizeof ops}};
    pdnn_message_send(fd, PDNN_MESSAGE_VISIT, parts, 2, NULL);
}

static void die_of_signal(int number) {
    /* A sanitizer's handler would turn it into an exit. */
    signal(number, SIG_DFL);
    raise(number);
}

static void worker_does_segv(int fd, const struct pdnn_message *request) {
    (void)fd, (void)request;
    die_of_signal(SIGSEGV);
}

static void worker_does_kill(int fd, const struct pdnn_message *request) {
    (void)fd, (void)request;
    die_of_signal(SIGKILL);
}

static void worker_does_exit(int fd, const struct pdnn_message *request) {
    static const char text[] = "a first line\nlibfoo: out\tof luck\n\n";
    (void)fd, (void)request;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(3);
}

static void worker_does_starve(int fd, const struct pdnn_message *request) {
    (void)fd, (void)request;
    pdnn_memory_none(4096);
}

static void worker_does_hang(int fd, const struct pdnn_message *request) {
    (void)fd, (void)request;
    for (;;)
        pause();
}

static void worker_does_closes(int fd, const struct pdnn_message *request) {
    close(fd);
    worker_does_hang(fd, request);
}

static void worker_does_garbage(int fd, const struct pdnn_message *request) {
    (void)request;
    char bytes[100];
    memset(bytes, 'x', sizeof bytes);
    send(fd, bytes, sizeof bytes, 0);
    worker_does_hang(fd, request);
}

/* Sends half of a good answer. */
static void worker_does_truncated(int fd, const struct pdnn_message *request) {
    int pair[2];
    static char bytes[8192];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
        send_visit(pair[0], request->body);
        ssize_t length = recv(pair[1], bytes, sizeof bytes, 0);
        send(fd, bytes, (size_t)length / 2, 0);
    }
    _exit(0);
}

static void worker_does_wrong_kind(int fd, const struct pdnn_message *request) {
    (void)request;
    pdnn_message_send(fd, PDNN_MESSAGE_HELLO, NULL, 0, NULL);
    worker_does_hang(fd, request);
}

/* Answers that do not add up: too short, missing ops, an unknown outcome, an absurd size. */
static void send_bad_visit(int fd, size_t n_ops, enum pdnn_outcome outcome, size_t length) {
    struct pdnn_visit visit = {.n_ops = n_ops, .outcome = outcome};
    const struct pdnn_part part = {&visit, length};
    pdnn_message_send(fd, PDNN_MESSAGE_VISIT, &part, 1, NULL);
}

static void worker_does_short_body(int fd, const struct pdnn_message *request) {
    (void)request;
    send_bad_visit(fd, 0, PDNN_OUTCOME_OK, sizeof(struct pdnn_visit) - 1);
}

static void worker_does_missing_ops(int fd, const struct pdnn_message *request) {
    (void)request;
    send_bad_visit(fd, SIZE_MAX / sizeof(struct pdnn_visit_op) + 1, PDNN_OUTCOME_OK,
                   sizeof(struct pdnn_visit));
}

static void worker_does_bad_outcome(int fd, const struct pdnn_message *request) {
    (void)request;
    send_bad_visit(fd, 0, PDNN_OUTCOME_COUNT, sizeof(struct pdnn_visit));
}

static void worker_does_huge(int fd, const struct pdnn_message *request) {
    const struct {
        uint32_t magic, kind;
        uint64_t bytes;
    } header = {UINT32_C(0x4e4e4450), PDNN_MESSAGE_VISIT, UINT64_C(1) << 60};
    send(fd, &header, sizeof header, 0);
    worker_does_hang(fd, request);
}

/* Killed by an unknown sender, with much memory in use. */
static void worker_does_big(int fd, const struct pdnn_message *request) {
    size_t bytes = (size_t)64 << 20;
    volatile char *memory = malloc(bytes);
    for (size_t i = 0; memory && i < bytes; i += 4096)
        memory[i] = 1;
    worker_does_kill(fd, request);
}

static void worker_does_good(int fd, const struct pdnn_message *request) {
    if (request->kind == PDNN_MESSAGE_VISIT) {
        send_visit(fd, request->body);
    } else if (request->kind == PDNN_MESSAGE_ROOFS) {
        const struct pdnn_roofs_request *asked = request->body;
        const struct pdnn_roof_row rows[] = {{.kind = "compute", .threads = asked->threads},
                                             {.value = asked->seconds}};
        const struct pdnn_part part = {rows, sizeof rows};
        for (double fraction = 0.25; fraction < 1; fraction += 0.25) {
            const struct pdnn_part progress = {&fraction, sizeof fraction};
            pdnn_message_send(fd, PDNN_MESSAGE_PROGRESS, &progress, 1, NULL);
        }
        pdnn_message_send(fd, request->kind, &part, 1, NULL);
    } else {
        struct pdnn_check_row row = {.error = 0.5};
        const struct pdnn_part part = {&row, sizeof row};
        snprintf(row.tensor, sizeof row.tensor, "%.*s", 60, ((const struct pdnn_request *)request->body)->id);
        pdnn_message_send(fd, request->kind, &part, 1, NULL);
    }
}

static void worker_does_refuses(int fd, const struct pdnn_message *request) {
    struct pdnn_err err = {PDNN_UNSUPPORTED, "no bf16 here"};
    const struct pdnn_part part = {&err, sizeof err};
    (void)request;
    pdnn_message_send(fd, PDNN_MESSAGE_FAILED, &part, 1, NULL);
}

/* Returns what a good worker gets through its environment, as the reason of an outcome. */
static void worker_does_environment(int fd, const struct pdnn_message *request) {
    struct pdnn_visit visit = {0};
    const struct pdnn_part part = {&visit, sizeof visit};
    (void)request;
    static const char *const names[] = {"OMP_PLACES",  "OMP_PROC_BIND",   "OMP_WAIT_POLICY",
                                        "OMP_DYNAMIC", "OMP_NUM_THREADS", "GOMP_CPU_AFFINITY",
                                        ISA_VARIABLE};
    int length = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        length += snprintf(visit.reason + length, sizeof visit.reason - (size_t)length, "%s%s", i ? " " : "",
                           value ? value : "none");
    }
    pdnn_message_send(fd, PDNN_MESSAGE_VISIT, &part, 1, NULL);
}

static const struct behaviour {
    const char *name;
    void (*answer)(int fd, const struct pdnn_message *request);
} behaviours[] = {
    {"segv", worker_does_segv},
    {"kill", worker_does_kill},
    {"exit", worker_does_exit},
    {"starve", worker_does_starve},
    {"hang", worker_does_hang},
    {"closes", worker_does_closes},
    {"garbage", worker_does_garbage},
    {"truncated", worker_does_truncated},
    {"wrong_kind", worker_does_wrong_kind},
    {"short_body", worker_does_short_body},
    {"missing_ops", worker_does_missing_ops},
    {"bad_outcome", worker_does_bad_outcome},
    {"huge", worker_does_huge},
    {"big", worker_does_big},
    {"good", worker_does_good},
    {"refuses", worker_does_refuses},
    {"environment", worker_does_environment},
};

/* Its libraries need a variable for avx2. */
static void send_welcome(int fd, const struct pdnn_message *message) {
    const struct pdnn_hello *hello = message->body;
    struct pdnn_welcome welcome = {.software = {1, {{"reference", "naive"}}}};
    struct pdnn_part part = {&welcome, sizeof welcome};
    const char *name = getenv(variable), *isa = getenv(ISA_VARIABLE);
    memcpy(welcome.build, pdnn_build, sizeof welcome.build);
    if (hello->isa == PDNN_ISA_AVX2 && (!isa || strcmp(isa, "haswell") != 0))
        snprintf(welcome.variables, sizeof welcome.variables, ISA_VARIABLE "=haswell\nPDNN_TEST_MORE=1");
    if (strcmp(name, "other_build") == 0) {
        snprintf(welcome.build, sizeof welcome.build, "0.0.9 (abc)");
        part.length = sizeof welcome.build;
    }
    pdnn_message_send(fd, PDNN_MESSAGE_HELLO, &part, 1, NULL);
}

static int be_worker(int fd) {
    struct pdnn_inbox inbox = {0};
    struct pdnn_message message;
    const char *name = getenv(variable);
    bool ended = false;
    while (name && strcmp(name, "no_start") != 0 && !ended) {
        if (pdnn_inbox_next(&inbox, &message) != PDNN_INBOX_MESSAGE) {
            if (pdnn_inbox_receive(&inbox, fd, &ended, NULL) != PDNN_OK)
                break;
            continue;
        }
        if (message.kind == PDNN_MESSAGE_HELLO) {
            send_welcome(fd, &message);
            continue;
        }
        if (message.kind == PDNN_MESSAGE_FAMILY) {
            pdnn_message_send(fd, PDNN_MESSAGE_FAMILY, NULL, 0, NULL);
            continue;
        }
        for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++) {
            if (strcmp(behaviours[i].name, name) == 0)
                behaviours[i].answer(fd, &message);
        }
    }
    pdnn_inbox_finish(&inbox);
    return 4;
}

static const struct pdnn_host host = {.threads = 2, .core_pu = {0, 1}};
static const struct pdnn_request request = {.id = "fc/layers=4", .seed = 11, .rules = {.min_samples = 5}};

static void start_isa(struct pdnn_worker *worker, const char *behaviour, enum pdnn_isa isa,
                      uint64_t memory_limit_bytes) {
    struct pdnn_err err = {0};
    setenv(variable, behaviour, 1);
    assert_int_equal(
        pdnn_worker_start(worker, &host, (struct pdnn_worker_kind){.isa = isa}, memory_limit_bytes, &err),
        PDNN_OK);
    assert_int_equal(worker->kind.isa, isa);
    assert_true(pdnn_worker_alive(worker));
}

static void start(struct pdnn_worker *worker, const char *behaviour, uint64_t memory_limit_bytes) {
    start_isa(worker, behaviour, PDNN_ISA_DEFAULT, memory_limit_bytes);
}

static void test_worker_start_no_start(void **state) {
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    (void)state;
    setenv(variable, "no_start", 1);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_IO);
    assert_string_equal(err.text, "the worker did not start: exited with status 4");
    assert_int_equal(worker.pid, 0);
    assert_false(pdnn_worker_alive(&worker));
    pdnn_worker_stop(&worker);
}

static void test_worker_start_other_build(void **state) {
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    char text[256];
    (void)state;
    setenv(variable, "other_build", 1);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_IO);
    snprintf(text, sizeof text,
             "/proc/self/exe is build 0.0.9 (abc), but this program is build %s: both must be the same build",
             pdnn_build);
    assert_string_equal(err.text, text);
    assert_int_equal(worker.pid, 0);
}

/* One line that names the paths. */
static void test_worker_start_no_program(void **state) {
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    (void)state;
    setenv(PDNN_WORKER_VARIABLE, "/no/such/worker", 1);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_IO);
    assert_string_equal(err.text,
                        "no worker program at '/no/such/worker' (PARADNN_WORKER): No such file or directory");
    unsetenv(PDNN_WORKER_VARIABLE);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "no worker program at /"));
    assert_non_null(strstr(err.text, "/libexec/paradnn/paradnn-worker"));
    setenv(PDNN_WORKER_VARIABLE, "/proc/self/exe", 1);
}

static void test_worker_start_software(void **state) {
    struct pdnn_worker worker;
    (void)state;
    start(&worker, "good", 0);
    assert_int_equal(pdnn_worker_software(&worker)->count, 1);
    assert_string_equal(pdnn_worker_software(&worker)->row[0].version, "naive");
    pdnn_worker_stop(&worker);
}

static void set_all(const char *const *pairs, bool set) {
    for (; *pairs; pairs += 2) {
        if (set)
            setenv(pairs[0], pairs[1], 1);
        else
            unsetenv(pairs[0]);
    }
}

static void test_worker_start_environment(void **state) {
    static const struct {
        const char *own[9];
        enum pdnn_isa isa;
        const char *expected;
    } cases[] = {
        {{NULL}, PDNN_ISA_DEFAULT, "{0},{1} close active false 2 none none"},
        {{"OMP_WAIT_POLICY", "passive", ISA_VARIABLE, "own"},
         PDNN_ISA_DEFAULT,
         "{0},{1} close passive false 2 none own"},
        {{"OMP_WAIT_POLICY", "sleepy", "OMP_DYNAMIC", "true", "OMP_PROC_BIND", "spread", "OMP_PLACES", "{1}"},
         PDNN_ISA_DEFAULT,
         "{0},{1} close active false 2 none none"},
        {{"OMP_NUM_THREADS", "1", "GOMP_CPU_AFFINITY", "1"},
         PDNN_ISA_DEFAULT,
         "{0},{1} close active false 2 none none"},
        {{NULL}, PDNN_ISA_AVX2, "{0},{1} close active false 2 none haswell"},
        {{ISA_VARIABLE, "own"}, PDNN_ISA_AVX2, "{0},{1} close active false 2 none haswell"},
        {{NULL}, PDNN_ISA_SSE41, "{0},{1} close active false 2 none none"},
    };
    (void)state;
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("OMP_NUM_THREADS");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_worker worker;
        struct pdnn_visit visit;
        struct pdnn_err err = {0};
        set_all(cases[i].own, true);
        start_isa(&worker, "environment", cases[i].isa, 0);
        set_all(cases[i].own, false);
        assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
        assert_string_equal(visit.reason, cases[i].expected);
        pdnn_worker_stop(&worker);
    }
}

static void test_worker_visit_good(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit visit;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, "good", 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
        assert_int_equal(visit.outcome, PDNN_OUTCOME_OK);
        assert_int_equal(visit.samples, 5);
        assert_float_equal(visit.median_ns, 11, 0);
        assert_true(visit.started_unix_ms > 0);
        assert_int_equal(visit.n_ops, 2);
        assert_string_equal(visit.ops[0].key, "dense/forward/1x2:2x3:1x3");
        assert_int_equal(visit.ops[0].count, 4);
        assert_string_equal(visit.ops[1].key, "fc/layers=4");
        pdnn_visit_finish(&visit);
    }
    assert_true(pdnn_worker_alive(&worker));
    pdnn_worker_stop(&worker);
    assert_int_equal(worker.pid, 0);
}

static void test_worker_visit_bad(void **state) {
    static const struct {
        const char *behaviour;
        enum pdnn_outcome outcome;
        const char *reason;
    } cases[] = {
        {"segv", PDNN_OUTCOME_CRASH, "killed by signal 11 (Segmentation fault)"},
        {"kill", PDNN_OUTCOME_CRASH, "killed by signal 9 (Killed)"},
        {"exit", PDNN_OUTCOME_CRASH, "exited with status 3: libfoo: out of luck"},
        {"starve", PDNN_OUTCOME_OOM, "exited with status 1: paradnn: out of memory for 4096 bytes"},
        {"hang", PDNN_OUTCOME_TIMEOUT, "took longer than the limit of 1.00 ms"},
        {"closes", PDNN_OUTCOME_CRASH, "closed its connection and hung"},
        {"garbage", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"truncated", PDNN_OUTCOME_CRASH, "exited with status 0"},
        {"wrong_kind", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"short_body", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"missing_ops", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"bad_outcome", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"huge", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
        {"refuses", PDNN_OUTCOME_CRASH, "the worker's answer was garbled"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_worker worker;
        struct pdnn_visit visit;
        struct pdnn_err err = {0};
        uint64_t limit_ns = cases[i].outcome == PDNN_OUTCOME_TIMEOUT ? 1000000 : 0;
        start(&worker, cases[i].behaviour, 0);
        pid_t pid = worker.pid;
        assert_int_equal(pdnn_worker_visit(&worker, &request, &(struct pdnn_watch){.time_limit_ns = limit_ns},
                                           &visit, &err),
                         PDNN_OK);
        assert_string_equal(visit.reason, cases[i].reason);
        assert_int_equal(visit.outcome, cases[i].outcome);
        assert_true(visit.started_unix_ms > 0);
        assert_int_equal(visit.n_ops, 0);
        assert_int_equal(worker.pid, 0);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(errno, ESRCH);
    }
}

static void test_worker_visit_out_of_memory(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit visit;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, "big", 50 << 20);
    assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
    /* It kills itself beside its limit: told from the kernel's kill only where the control group counts
     * those. */
    bool is_told = pdnn_oom_kills_read("").of_group;
    const char *reason = is_told ? "killed by signal 9" : "ran out of memory and was killed";
    assert_int_equal(visit.outcome, is_told ? PDNN_OUTCOME_CRASH : PDNN_OUTCOME_OOM);
    assert_memory_equal(visit.reason, reason, strlen(reason));
    start(&worker, "big", (uint64_t)4 << 30);
    assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
    assert_int_equal(visit.outcome, PDNN_OUTCOME_CRASH);
}

static void test_worker_visit_killed_while_idle(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit visit;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, "good", 0);
    kill(worker.pid, SIGKILL);
    assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
    assert_int_equal(visit.outcome, PDNN_OUTCOME_CRASH);
    assert_string_equal(visit.reason, "killed by signal 9 (Killed)");
    start(&worker, "good", 0);
    kill(worker.pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)worker.pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(pdnn_worker_alive(&worker));
    assert_int_equal(worker.pid, 0);
}

static void count(void *user) {
    ++*(int *)user;
}

static void test_worker_visit_stop(void **state) {
    static const struct {
        const char *behaviour;
        int stop;
        uint64_t grace_ns, expected_ns;
        enum pdnn_status status;
    } cases[] = {
        {"hang", 1, 0, 0, PDNN_INTERRUPTED},
        {"hang", 1, UINT64_MAX / 4, UINT64_MAX / 2, PDNN_INTERRUPTED}, /* dropped at once, or it would hang */
        {"hang", 1, 1000000, 0, PDNN_INTERRUPTED},
        {"hang", 2, UINT64_MAX / 4, 1, PDNN_INTERRUPTED},
        {"good", 0, 0, 0, PDNN_OK},
        {"good", 1, UINT64_MAX / 4, UINT64_MAX / 8, PDNN_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_worker worker;
        struct pdnn_visit visit = {0};
        struct pdnn_err err = {0};
        volatile int stop = cases[i].stop;
        int ticks = 0;
        start(&worker, cases[i].behaviour, 0);
        const struct pdnn_watch watch = {.stop = &stop,
                                         .grace_ns = cases[i].grace_ns,
                                         .expected_ns = cases[i].expected_ns,
                                         .tick = count,
                                         .user = &ticks};
        assert_int_equal(pdnn_worker_visit(&worker, &request, &watch, &visit, &err), cases[i].status);
        assert_int_equal(worker.pid != 0, cases[i].status == PDNN_OK);
        bool is_dropped_at_once = stop > 1 || cases[i].expected_ns > cases[i].grace_ns;
        assert_int_equal(ticks > 0, !is_dropped_at_once);
        pdnn_visit_finish(&visit);
        pdnn_worker_stop(&worker);
    }
}

static void test_worker_ignores_signals(void **state) {
    struct pdnn_worker worker;
    struct pdnn_visit visit;
    struct pdnn_err err = {0};
    (void)state;
    start(&worker, "good", 0);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        kill(worker.pid, numbers[i]);
    assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
    assert_int_equal(visit.outcome, PDNN_OUTCOME_OK);
    pdnn_visit_finish(&visit);
    pdnn_worker_stop(&worker);
}

/* A driver that is killed leaves no worker behind. */
static void test_worker_dies_with_parent(void **state) {
    int pair[2];
    pid_t pid = 0;
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(pair), 0);
    pid_t driver = fork();
    if (driver == 0) {
        struct pdnn_worker worker;
        setenv(variable, "good", 1);
        if (pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, NULL) != PDNN_OK)
            _exit(1);
        ssize_t ignored = write(pair[1], &worker.pid, sizeof worker.pid);
        (void)ignored;
        die_of_signal(SIGKILL);
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &pid, sizeof pid), sizeof pid);
    close(pair[0]);
    int status;
    assert_int_equal(waitpid(driver, &status, 0), driver);
    /* By the signal, or because it saw its parent's end of the socket close, whichever came first. */
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void add_fraction(void *user, double fraction) {
    *(double *)user += fraction;
}

static void test_worker_roof_rows(void **state) {
    static struct pdnn_roof_rows roof_rows = {.count = 1};
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    double fractions = 0;
    (void)state;
    start(&worker, "good", 0);
    assert_int_equal(pdnn_worker_roofs(&worker, 2, 1.5,
                                       &(struct pdnn_watch){.progress = add_fraction, .user = &fractions},
                                       &roof_rows, &err),
                     PDNN_OK);
    assert_int_equal(roof_rows.count, 3);
    assert_string_equal(roof_rows.row[1].kind, "compute");
    assert_int_equal(roof_rows.row[1].threads, 2);
    assert_float_equal(roof_rows.row[2].value, 1.5, 0);
    assert_float_equal(fractions, 1.5, 0);
    roof_rows.count = PDNN_ROOF_ROWS_MAX - 1;
    assert_int_equal(pdnn_worker_roofs(&worker, 2, 1.5, &unwatched, &roof_rows, &err), PDNN_OVERFLOW);
    assert_int_equal(roof_rows.count, PDNN_ROOF_ROWS_MAX - 1);
    pdnn_worker_stop(&worker);
}

static void test_worker_check(void **state) {
    static const struct {
        const char *behaviour;
        enum pdnn_status status;
        const char *text;
    } cases[] = {
        {"good", PDNN_OK, ""},
        {"refuses", PDNN_UNSUPPORTED, "no bf16 here"},
        {"segv", PDNN_IO, "worker: killed by signal 11 (Segmentation fault)"},
        {"garbage", PDNN_IO, "worker: the worker's answer was garbled"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_worker worker;
        struct pdnn_err err = {0};
        struct pdnn_check_row *rows = NULL;
        size_t n_rows = 0;
        const struct pdnn_request check = {.id = "fc/x", .seed = 1};
        start(&worker, cases[i].behaviour, 0);
        assert_int_equal(pdnn_worker_check(&worker, &check, &unwatched, &rows, &n_rows, &err),
                         cases[i].status);
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(n_rows, cases[i].status == PDNN_OK ? 1 : 0);
        if (rows)
            assert_string_equal(rows[0].tensor, "fc/x");
        free(rows);
        pdnn_worker_stop(&worker);
    }
}

int main(int argc, char **argv) {
    if (argc == 2)
        return be_worker((int)strtol(argv[1], NULL, 10));
    setenv(PDNN_WORKER_VARIABLE, "/proc/self/exe", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_start_no_start),
        cmocka_unit_test(test_worker_start_other_build),
        cmocka_unit_test(test_worker_start_no_program),
        cmocka_unit_test(test_worker_start_software),
        cmocka_unit_test(test_worker_start_environment),
        cmocka_unit_test(test_worker_visit_good),
        cmocka_unit_test(test_worker_visit_bad),
        cmocka_unit_test(test_worker_visit_out_of_memory),
        cmocka_unit_test(test_worker_visit_killed_while_idle),
        cmocka_unit_test(test_worker_visit_stop),
        cmocka_unit_test(test_worker_ignores_signals),
        cmocka_unit_test(test_worker_dies_with_parent),
        cmocka_unit_test(test_worker_roof_rows),
        cmocka_unit_test(test_worker_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
