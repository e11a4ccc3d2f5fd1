/* What a worker may send to the driver: it is started, and asked for everything there is. The worker is a
 * socket here; no process is forked, waited for or killed (the linker replaces these calls). */
#define _DEFAULT_SOURCE /* clearenv, setenv */
#include "tests/fuzz/common.h"
#include "tests/fuzz/messages.h"

#include "runtime/driver/worker/worker.h"
#include "runtime/host/host_cgroup.h"
#include "runtime/protocol/protocol.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pdnn_watch unwatched;

enum { FAKE_PID = 0x3fffffff };

static const size_t sizes[PDNN_MESSAGE_COUNT] = {
    [PDNN_MESSAGE_HELLO] = sizeof(struct pdnn_welcome),
    [PDNN_MESSAGE_VISIT] = sizeof(struct pdnn_visit),
    [PDNN_MESSAGE_ROOFS] = 2 * sizeof(struct pdnn_roof_row),
    [PDNN_MESSAGE_CHECK] = 2 * sizeof(struct pdnn_check_row),
    [PDNN_MESSAGE_OPERATORS] = sizeof(struct pdnn_visit) + sizeof(struct pdnn_operator),
    [PDNN_MESSAGE_OPERATOR] = sizeof(struct pdnn_visit),
    [PDNN_MESSAGE_PLACES] = 8,
    [PDNN_MESSAGE_PROGRESS] = sizeof(double),
    [PDNN_MESSAGE_FAILED] = sizeof(struct pdnn_err),
};

/* The worker's end of the socket, and what it will send. */
static int worker_fd = -1;
static const uint8_t *sent;
static size_t n_sent;

int __real_socketpair(int domain, int type, int protocol, int pair[2]);
int __wrap_socketpair(int domain, int type, int protocol, int pair[2]);
pid_t __wrap_fork(void);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage);
int __wrap_kill(pid_t pid, int signal_number);
struct pdnn_oom_kills __wrap_pdnn_oom_kills_read(const char *root);

int __wrap_socketpair(int domain, int type, int protocol, int pair[2]) {
    int result = __real_socketpair(domain, type, protocol, pair);
    if (worker_fd >= 0)
        close(worker_fd);
    worker_fd = result == 0 ? dup(pair[1]) : -1;
    return result;
}

/* A worker that is started again says the same again. */
pid_t __wrap_fork(void) {
    messages_send(worker_fd, sizes, sent, n_sent);
    return FAKE_PID;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options) {
    (void)options;
    FUZZ_CHECK(pid == FAKE_PID);
    if (status)
        *status = 0;
    return pid;
}

pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    (void)usage;
    return __wrap_waitpid(pid, status, options);
}

int __wrap_kill(pid_t pid, int signal_number) {
    FUZZ_CHECK(pid == FAKE_PID && signal_number == SIGKILL);
    return 0;
}

struct pdnn_oom_kills __wrap_pdnn_oom_kills_read(const char *root) {
    (void)root;
    return (struct pdnn_oom_kills){0};
}

static void check_visit(struct pdnn_worker *worker, const struct pdnn_request *request) {
    struct pdnn_visit visit;
    struct pdnn_err err = {0};
    if (!worker->pid)
        return;
    if (!fuzz_is_ok(pdnn_worker_visit(worker, request, &unwatched, &visit, &err), &err))
        return;
    FUZZ_CHECK((unsigned)visit.outcome < PDNN_OUTCOME_COUNT && (unsigned)visit.stop < PDNN_STOP_COUNT);
    FUZZ_CHECK(pdnn_outcome_name(visit.outcome) && pdnn_stop_name(visit.stop));
    FUZZ_CHECK(memchr(visit.reason, 0, sizeof visit.reason));
    for (size_t i = 0; i < visit.n_ops; i++) {
        FUZZ_CHECK(memchr(visit.ops[i].key, 0, sizeof visit.ops[i].key));
        FUZZ_CHECK(memchr(visit.ops[i].layer, 0, sizeof visit.ops[i].layer));
        FUZZ_CHECK(memchr(visit.ops[i].implementation, 0, sizeof visit.ops[i].implementation));
    }
    pdnn_visit_finish(&visit);
}

static void check_operators(struct pdnn_worker *worker, const struct pdnn_request *request) {
    static const struct pdnn_operator_request measured = {.key = "one"};
    struct pdnn_visit visit;
    struct pdnn_operator *operators;
    size_t count;
    struct pdnn_err err = {0};
    if (worker->pid &&
        fuzz_is_ok(pdnn_worker_operators(worker, request, &unwatched, &visit, &operators, &count, &err),
                   &err)) {
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(memchr(operators[i].key, 0, sizeof operators[i].key) && operators[i].op < visit.n_ops);
        FUZZ_CHECK(visit.outcome == PDNN_OUTCOME_OK || !count);
        free(operators);
        pdnn_visit_finish(&visit);
    }
    err = (struct pdnn_err){0};
    struct pdnn_operator_time *times = NULL;
    if (worker->pid &&
        fuzz_is_ok(pdnn_worker_operator(worker, &measured, &unwatched, &visit, &times, &count, &err), &err)) {
        FUZZ_CHECK(visit.outcome == PDNN_OUTCOME_OK || !count);
        free(times);
        pdnn_visit_finish(&visit);
    }
}

static void check_others(struct pdnn_worker *worker, const struct pdnn_request *request) {
    static struct pdnn_roof_rows roof_rows;
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    char *places = NULL;
    struct pdnn_err err = {0};
    roof_rows.count = 0;
    if (worker->pid && fuzz_is_ok(pdnn_worker_roofs(worker, 1, 1, &unwatched, &roof_rows, &err), &err)) {
        for (size_t i = 0; i < roof_rows.count; i++) {
            const struct pdnn_roof_row *row = &roof_rows.row[i];
            FUZZ_CHECK(memchr(row->kind, 0, sizeof row->kind) &&
                       memchr(row->pattern, 0, sizeof row->pattern));
            FUZZ_CHECK(memchr(row->dtype, 0, sizeof row->dtype) && memchr(row->level, 0, sizeof row->level));
            FUZZ_CHECK(memchr(row->host, 0, sizeof row->host));
        }
    }
    err = (struct pdnn_err){0};
    if (worker->pid &&
        fuzz_is_ok(pdnn_worker_check(worker, request, &unwatched, &rows, &n_rows, &err), &err)) {
        for (size_t i = 0; i < n_rows; i++)
            FUZZ_CHECK(memchr(rows[i].op, 0, sizeof rows[i].op) &&
                       memchr(rows[i].tensor, 0, sizeof rows[i].tensor));
        free(rows);
    }
    err = (struct pdnn_err){0};
    if (worker->pid && fuzz_is_ok(pdnn_worker_places(worker, 1, &places, &err), &err))
        free(places);
    pdnn_worker_rest(worker);
}

/* The order of the questions is that of the first byte's lowest bit. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const struct pdnn_request request = {.id = "fc/layers=1"};
    static const struct pdnn_host host = {.threads = 1, .threads_all = 1};
    struct pdnn_worker worker = {0};
    struct pdnn_err err = {0};
    if (!length)
        return 0;
    if (!getenv("PARADNN_WORKER")) {
        clearenv(); /* of whoever fuzzes */
        setenv("PARADNN_WORKER", "/bin/true", 1);
    }
    sent = bytes + 1;
    n_sent = length - 1;
    if (fuzz_is_ok(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), &err)) {
        const struct pdnn_software *software = pdnn_worker_software(&worker);
        FUZZ_CHECK(software->count <= PDNN_SOFTWARE_MAX);
        if (bytes[0] & 1)
            check_others(&worker, &request);
        check_visit(&worker, &request);
        check_others(&worker, &request);
        check_operators(&worker, &request);
        check_visit(&worker, &request);
    }
    pdnn_worker_stop(&worker);
    if (worker_fd >= 0)
        close(worker_fd);
    worker_fd = -1;
    return 0;
}
