/* What a driver may send to a worker: runtime/worker/serve.c takes it, while what would run is replaced by
 * the linker: whatever arrives there must be safe to use. */
#define _DEFAULT_SOURCE /* timeval */
#include "tests/fuzz/common.h"
#include "tests/fuzz/messages.h"

#include "runtime/backend/backend.h"
#include "runtime/roofs/roofs.h"
#include "runtime/backend/threads.h"
#include "runtime/protocol/protocol.h"
#include "runtime/worker/check.h"
#include "runtime/worker/limits.h"
#include "runtime/distributed/allreduce_bench.h"
#include "runtime/worker/operators.h"
#include "runtime/worker/serve.h"
#include "runtime/worker/set.h"
#include "runtime/worker/visit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const size_t sizes[PDNN_MESSAGE_COUNT] = {
    [PDNN_MESSAGE_HELLO] = sizeof(struct pdnn_hello),
    [PDNN_MESSAGE_VISIT] = sizeof(struct pdnn_request),
    [PDNN_MESSAGE_ROOFS] = sizeof(struct pdnn_roofs_request),
    [PDNN_MESSAGE_CHECK] = sizeof(struct pdnn_request),
    [PDNN_MESSAGE_OPERATORS] = sizeof(struct pdnn_request),
    [PDNN_MESSAGE_OPERATOR] = sizeof(struct pdnn_operator_request),
    [PDNN_MESSAGE_PLACES] = sizeof(int64_t),
};

/* The worker program's list of backends: none. */
const struct pdnn_backend_def *const pdnn_backends[] = {NULL};

void __wrap_pdnn_limit_isa(struct pdnn_process *process);
void __wrap_pdnn_limit_memory(const struct pdnn_process *process, uint64_t limit_bytes);
void __wrap_pdnn_set_close(struct pdnn_process *process);
void __wrap_pdnn_process_finish(struct pdnn_process *process);
void __wrap_pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                           struct pdnn_visit *visit);
void __wrap_pdnn_operators_list(struct pdnn_process *process, const struct pdnn_request *request,
                                struct pdnn_visit *visit, const struct pdnn_operator **operators,
                                size_t *count);
void __wrap_pdnn_operator_measure(struct pdnn_process *process, const struct pdnn_operator_request *request,
                                  struct pdnn_visit *visit, struct pdnn_operator_time **times,
                                  size_t *n_times);
void __wrap_pdnn_operators_close(struct pdnn_process *process);
enum pdnn_status __wrap_pdnn_check_run(struct pdnn_process *process, const struct pdnn_request *request,
                                       struct pdnn_check_row **rows, size_t *n_rows, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_roof_rows_measure(const struct pdnn_host *host,
                                               const struct pdnn_backend_def *const *backends,
                                               const struct pdnn_roofs_request *request,
                                               void (*progress)(void *user, double fraction), void *user,
                                               struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_allreduce_bench_measure(const struct pdnn_world *world, double seconds,
                                                     struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_allreduce_bench_follow(const struct pdnn_world *world, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_threads_set(const struct pdnn_host *host, int64_t threads, struct pdnn_err *err);
void __wrap_pdnn_threads_places(struct pdnn_str *places);
void __wrap_pdnn_threads_rest(void);

static void check_process(const struct pdnn_process *process) {
    FUZZ_CHECK(process->host.threads >= 0 && process->host.threads <= PDNN_HOST_CORES_MAX);
    FUZZ_CHECK((unsigned)process->isa < PDNN_ISA_COUNT);
    FUZZ_CHECK(process->library >= 0 && process->library <= PDNN_NAME_MAX);
}

static void check_request(const struct pdnn_process *process, const struct pdnn_request *request) {
    check_process(process);
    FUZZ_CHECK(memchr(request->id, 0, sizeof request->id));
    FUZZ_CHECK(memchr(request->largest, 0, sizeof request->largest));
    FUZZ_CHECK(request->lengths.count <= PDNN_EXAMPLES_MASKED_MAX);
}

void __wrap_pdnn_limit_isa(struct pdnn_process *process) {
    check_process(process);
}

void __wrap_pdnn_limit_memory(const struct pdnn_process *process, uint64_t limit_bytes) {
    (void)limit_bytes;
    check_process(process);
}

void __wrap_pdnn_set_close(struct pdnn_process *process) {
    check_process(process);
}

void __wrap_pdnn_process_finish(struct pdnn_process *process) {
    check_process(process);
}

void __wrap_pdnn_visit_run(struct pdnn_process *process, const struct pdnn_request *request,
                           struct pdnn_visit *visit) {
    check_request(process, request);
    visit->n_ops = 1;
    visit->ops = calloc(1, sizeof *visit->ops);
}

void __wrap_pdnn_operators_list(struct pdnn_process *process, const struct pdnn_request *request,
                                struct pdnn_visit *visit, const struct pdnn_operator **operators,
                                size_t *count) {
    static const struct pdnn_operator one = {.key = "one"};
    __wrap_pdnn_visit_run(process, request, visit);
    *operators = &one;
    *count = 1;
}

void __wrap_pdnn_operator_measure(struct pdnn_process *process, const struct pdnn_operator_request *request,
                                  struct pdnn_visit *visit, struct pdnn_operator_time **times,
                                  size_t *n_times) {
    check_request(process, &request->request);
    FUZZ_CHECK(memchr(request->key, 0, sizeof request->key));
    *visit = (struct pdnn_visit){.samples = 1};
    *times = calloc(1, sizeof **times);
    *n_times = *times ? 1 : 0;
}

void __wrap_pdnn_operators_close(struct pdnn_process *process) {
    check_process(process);
}

enum pdnn_status __wrap_pdnn_check_run(struct pdnn_process *process, const struct pdnn_request *request,
                                       struct pdnn_check_row **rows, size_t *n_rows, struct pdnn_err *err) {
    check_request(process, request);
    if (request->seed)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "no");
    *n_rows = 1;
    *rows = calloc(1, sizeof **rows);
    return PDNN_OK;
}

enum pdnn_status __wrap_pdnn_roof_rows_measure(const struct pdnn_host *host,
                                               const struct pdnn_backend_def *const *backends,
                                               const struct pdnn_roofs_request *request,
                                               void (*progress)(void *user, double fraction), void *user,
                                               struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    (void)host, (void)backends, (void)err;
    if (request->seconds > 0)
        progress(user, 0.5);
    roof_rows->count = 1;
    return PDNN_OK;
}

/* This worker is alone. */
enum pdnn_status __wrap_pdnn_allreduce_bench_measure(const struct pdnn_world *world, double seconds,
                                                     struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    (void)world, (void)seconds, (void)roof_rows, (void)err;
    abort();
}

enum pdnn_status __wrap_pdnn_allreduce_bench_follow(const struct pdnn_world *world, struct pdnn_err *err) {
    (void)world, (void)err;
    abort();
}

enum pdnn_status __wrap_pdnn_threads_set(const struct pdnn_host *host, int64_t threads,
                                         struct pdnn_err *err) {
    (void)err;
    FUZZ_CHECK(threads >= 1 && threads <= host->threads && threads <= PDNN_HOST_CORES_MAX);
    return PDNN_OK;
}

void __wrap_pdnn_threads_places(struct pdnn_str *places) {
    pdnn_str_append(places, "{0}", 3);
}

void __wrap_pdnn_threads_rest(void) {}

/* What the worker says must be messages; a full socket ends it, as a driver that is gone would. */
static void read_answers(int fd) {
    struct pdnn_inbox inbox = {0};
    struct pdnn_message message;
    struct pdnn_err err = {0};
    bool ended = false;
    while (!ended) {
        enum pdnn_inbox_state state = pdnn_inbox_next(&inbox, &message);
        FUZZ_CHECK(state != PDNN_INBOX_GARBLED);
        if (state == PDNN_INBOX_PARTIAL)
            fuzz_must(pdnn_inbox_receive(&inbox, fd, &ended, &err), &err);
        else if (message.kind == PDNN_MESSAGE_HELLO)
            FUZZ_CHECK(memcmp(message.body, pdnn_build, PDNN_BUILD_TEXT) == 0);
    }
    pdnn_inbox_finish(&inbox);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    int pair[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    messages_send(pair[0], sizes, bytes, length);
    const struct timeval patience = {.tv_usec = 1000}; /* nobody reads while it serves */
    setsockopt(pair[1], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int result = pdnn_worker_serve(pair[1]);
    FUZZ_CHECK(result == 0 || result == 1);
    close(pair[1]);
    read_answers(pair[0]);
    close(pair[0]);
    return 0;
}
