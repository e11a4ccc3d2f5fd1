#define _GNU_SOURCE /* environ */
#include "runtime/worker/serve.h"

#include "base/memory.h"
#include "models/zoo/transport.h"
#include "runtime/roofs/roofs.h"
#include "runtime/backend/threads.h"
#include "runtime/protocol/protocol.h"
#include "runtime/worker/check.h"
#include "runtime/worker/limits.h"
#include "runtime/distributed/allreduce_bench.h"
#include "runtime/worker/operators.h"
#include "runtime/worker/set.h"
#include "runtime/worker/visit.h"
#include "runtime/distributed/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_text(char *to, size_t room, const char *text) {
    snprintf(to, room, "%s", text);
}

/* Lists the variables for this isa that this process was not started with. */
static void list_variables(const struct pdnn_hello *hello, struct pdnn_welcome *welcome) {
    struct pdnn_str lines = {0};
    for (const struct pdnn_backend_def *const *backend = pdnn_backends; *backend; backend++) {
        const char *pair =
            (*backend)->isa_variable ? (*backend)->isa_variable(&hello->host, hello->isa) : NULL;
        char name[64];
        size_t length = pair ? strcspn(pair, "=") : 0;
        copy_text(name, length < sizeof name ? length + 1 : sizeof name, pair ? pair : "");
        const char *value = pair ? getenv(name) : NULL;
        if (pair && (!value || strcmp(value, pair + length + 1) != 0))
            pdnn_str_printf(&lines, "%s%s", lines.length ? "\n" : "", pair);
    }
    copy_text(welcome->variables, sizeof welcome->variables, pdnn_str_text(&lines));
    pdnn_str_finish(&lines);
}

/* Variables that make no difference, since a library knows no such value. */
static void list_ignored(struct pdnn_welcome *welcome) {
    struct pdnn_str lines = {0};
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        char name[64];
        snprintf(name, sizeof name, "%.*s", value ? (int)(value - *variable) : 0, *variable);
        for (const struct pdnn_backend_def *const *backend = pdnn_backends; *backend && value; backend++)
            if ((*backend)->ignores && (*backend)->ignores(name, value + 1))
                pdnn_str_printf(&lines, "%s%s", lines.length ? "\n" : "", *variable);
    }
    copy_text(welcome->ignored, sizeof welcome->ignored, pdnn_str_text(&lines));
    pdnn_str_finish(&lines);
}

static void list_software(struct pdnn_software *software) {
    for (size_t i = 0; pdnn_backends[i] && i < PDNN_SOFTWARE_MAX; i++) {
        copy_text(software->row[i].backend, sizeof software->row[i].backend, pdnn_backends[i]->name);
        copy_text(software->row[i].version, sizeof software->row[i].version, pdnn_backends[i]->version());
        if (pdnn_backends[i]->path)
            copy_text(software->row[i].path, sizeof software->row[i].path, pdnn_backends[i]->path());
        software->count = i + 1;
    }
}

/* Versions come last: a library that has been asked for its version can no longer be limited. */
static enum pdnn_status answer_hello(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    const struct pdnn_hello *hello = body;
    struct pdnn_welcome welcome = {.variables = ""};
    const struct pdnn_part part = {&welcome, sizeof welcome};
    memcpy(welcome.build, pdnn_build, sizeof welcome.build);
    process->host = hello->host;
    process->isa = hello->isa;
    process->library = hello->library;
    list_variables(hello, &welcome);
    if (!welcome.variables[0])
        pdnn_limit_isa(process);
    list_software(&welcome.software);
    list_ignored(&welcome);
    pdnn_limit_memory(process, hello->memory_limit_bytes);
    return pdnn_message_send(process->fd, PDNN_MESSAGE_HELLO, &part, 1, err);
}

/* A driver of another build is told this one's build and nothing else. */
static bool is_foreign(const struct pdnn_message *message) {
    return message->kind == PDNN_MESSAGE_HELLO && message->body_bytes >= PDNN_BUILD_TEXT &&
           memcmp(message->body, pdnn_build, PDNN_BUILD_TEXT) != 0;
}

static enum pdnn_status answer_foreign(const struct pdnn_process *process, struct pdnn_err *err) {
    const struct pdnn_part part = {pdnn_build, PDNN_BUILD_TEXT};
    return pdnn_message_send(process->fd, PDNN_MESSAGE_HELLO, &part, 1, err);
}

static enum pdnn_status answer_visit(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    pdnn_visit_run(process, body, &visit);
    const struct pdnn_part parts[] = {{&visit, sizeof visit}, {visit.ops, visit.n_ops * sizeof *visit.ops}};
    enum pdnn_status status = pdnn_message_send(process->fd, PDNN_MESSAGE_VISIT, parts, 2, err);
    pdnn_visit_finish(&visit);
    return status;
}

static enum pdnn_status answer_operators(struct pdnn_process *process, const void *body,
                                         struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    const struct pdnn_operator *operators;
    size_t count;
    pdnn_operators_list(process, body, &visit, &operators, &count);
    const struct pdnn_part parts[] = {{&visit, sizeof visit},
                                      {visit.ops, visit.n_ops * sizeof *visit.ops},
                                      {operators, count * sizeof *operators}};
    enum pdnn_status status = pdnn_message_send(process->fd, PDNN_MESSAGE_OPERATORS, parts, 3, err);
    pdnn_visit_finish(&visit);
    return status;
}

static enum pdnn_status answer_operator(struct pdnn_process *process, const void *body,
                                        struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    struct pdnn_operator_time *times;
    size_t n_times;
    pdnn_operator_measure(process, body, &visit, &times, &n_times);
    const struct pdnn_part parts[] = {{&visit, sizeof visit}, {times, n_times * sizeof *times}};
    enum pdnn_status status = pdnn_message_send(process->fd, PDNN_MESSAGE_OPERATOR, parts, 2, err);
    free(times);
    return status;
}

/* For requests without an outcome: sends the answer, or the error. */
static enum pdnn_status send_result(const struct pdnn_process *process, enum pdnn_message_kind kind,
                                    enum pdnn_status result, const struct pdnn_part *part,
                                    struct pdnn_err *err) {
    if (result == PDNN_OK)
        return pdnn_message_send(process->fd, kind, part, 1, err);
    struct pdnn_err failure = *err;
    const struct pdnn_part reason = {&failure, sizeof failure};
    return pdnn_message_send(process->fd, PDNN_MESSAGE_FAILED, &reason, 1, err);
}

static void send_progress(void *user, double fraction) {
    const struct pdnn_process *process = user;
    const struct pdnn_part part = {&fraction, sizeof fraction};
    /* If the driver is gone, sending the answer will fail. */
    pdnn_message_send(process->fd, PDNN_MESSAGE_PROGRESS, &part, 1, NULL);
}

static enum pdnn_status set_threads(struct pdnn_process *process, int64_t threads, struct pdnn_err *err) {
    if (threads < 1 || threads > process->host.threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "%" PRId64 " threads requested; cores available to this process: %" PRId64, threads,
                         process->host.threads);
    return pdnn_threads_set(&process->host, threads, &process->team, err);
}

static enum pdnn_status answer_roofs(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    const struct pdnn_roofs_request *request = body;
    struct pdnn_roof_rows *roof_rows = pdnn_alloc(1, sizeof *roof_rows);
    enum pdnn_status result = process->world ? PDNN_OK : set_threads(process, request->threads, err);
    if (process->world) /* the others are at it, whatever happened here */
        result = pdnn_allreduce_bench_measure(process->world, request->seconds, roof_rows, err);
    else if (result == PDNN_OK)
        result = pdnn_roof_rows_measure(&process->host, pdnn_backends, request, send_progress, process,
                                        roof_rows, err);
    const struct pdnn_part part = {roof_rows->row, roof_rows->count * sizeof roof_rows->row[0]};
    enum pdnn_status status = send_result(process, PDNN_MESSAGE_ROOFS, result, &part, err);
    free(roof_rows);
    return status;
}

static enum pdnn_status answer_check(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    enum pdnn_status result = pdnn_check_run(process, body, &rows, &n_rows, err);
    if (result == PDNN_NO_MEMORY) /* for the copies beside both plans: no fault of the backend's */
        err->status = PDNN_TOO_BIG;
    const struct pdnn_part part = {rows, n_rows * sizeof *rows};
    enum pdnn_status status = send_result(process, PDNN_MESSAGE_CHECK, result, &part, err);
    free(rows);
    return status;
}

static enum pdnn_status answer_places(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    const int64_t *threads = body;
    struct pdnn_str places = {0};
    enum pdnn_status result = set_threads(process, *threads, err);
    if (result == PDNN_OK)
        pdnn_threads_places(&places);
    const struct pdnn_part part = {pdnn_str_text(&places), places.length};
    enum pdnn_status status = send_result(process, PDNN_MESSAGE_PLACES, result, &part, err);
    pdnn_str_finish(&places);
    return status;
}

static enum pdnn_status answer_family(struct pdnn_process *process, const void *body, size_t bytes,
                                      struct pdnn_err *err) {
    const struct pdnn_part none = {NULL, 0};
    return send_result(process, PDNN_MESSAGE_FAMILY, pdnn_family_unpack(body, bytes, err), &none, err);
}

/* omp_pause_resource with a soft pause would leave the threads waiting, which means spinning. */
static enum pdnn_status answer_rest(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    (void)body;
    pdnn_threads_rest();
    return pdnn_message_send(process->fd, PDNN_MESSAGE_REST, NULL, 0, err);
}

/* The request handlers; the answer has the kind of the request. Any request but a visit closes the open set,
 * and any but those about operators the model whose operators are measured. */
static const struct {
    size_t body_bytes;
    enum pdnn_status (*answer)(struct pdnn_process *process, const void *body, struct pdnn_err *err);
} requests[PDNN_MESSAGE_COUNT] = {
    [PDNN_MESSAGE_HELLO] = {sizeof(struct pdnn_hello), answer_hello},
    [PDNN_MESSAGE_VISIT] = {sizeof(struct pdnn_request), answer_visit},
    [PDNN_MESSAGE_OPERATORS] = {sizeof(struct pdnn_request), answer_operators},
    [PDNN_MESSAGE_OPERATOR] = {sizeof(struct pdnn_operator_request), answer_operator},
    [PDNN_MESSAGE_ROOFS] = {sizeof(struct pdnn_roofs_request), answer_roofs},
    [PDNN_MESSAGE_CHECK] = {sizeof(struct pdnn_request), answer_check},
    [PDNN_MESSAGE_PLACES] = {sizeof(int64_t), answer_places},
    [PDNN_MESSAGE_REST] = {0, answer_rest},
};

static enum pdnn_status answer(struct pdnn_process *process, const struct pdnn_message *message,
                               struct pdnn_err *err) {
    if (process->world)
        process->world->tell(process->world, message->kind, message->body, message->body_bytes);
    if (message->kind != PDNN_MESSAGE_VISIT)
        pdnn_set_close(process);
    if (message->kind != PDNN_MESSAGE_OPERATORS && message->kind != PDNN_MESSAGE_OPERATOR)
        pdnn_operators_close(process);
    if (message->kind == PDNN_MESSAGE_FAMILY)
        return answer_family(process, message->body, message->body_bytes, err);
    return requests[message->kind].answer(process, message->body, err);
}

static bool is_text(const char *text, size_t room) {
    return memchr(text, 0, room) != NULL;
}

static bool is_sound(const struct pdnn_request *request) {
    return is_text(request->id, sizeof request->id) && is_text(request->largest, sizeof request->largest) &&
           is_text(request->choices, sizeof request->choices) &&
           request->lengths.count <= PDNN_EXAMPLES_MASKED_MAX;
}

/* Whether what the rest of the worker relies on holds: lengths, ends of texts, bounds. */
static bool is_valid(const struct pdnn_message *message) {
    if (message->kind == PDNN_MESSAGE_FAMILY) /* its reader takes anything */
        return true;
    if (!requests[message->kind].answer || requests[message->kind].body_bytes != message->body_bytes)
        return false;
    if (message->kind == PDNN_MESSAGE_HELLO) {
        const struct pdnn_hello *hello = message->body;
        return hello->host.threads >= 0 && hello->host.threads <= PDNN_HOST_CORES_MAX &&
               (unsigned)hello->isa < PDNN_ISA_COUNT && hello->library >= 0 &&
               hello->library <= PDNN_NAME_MAX && is_text(hello->host.isa, sizeof hello->host.isa);
    }
    if (message->kind == PDNN_MESSAGE_OPERATOR) {
        const struct pdnn_operator_request *request = message->body;
        return is_sound(&request->request) && is_text(request->key, sizeof request->key);
    }
    if (message->kind == PDNN_MESSAGE_VISIT || message->kind == PDNN_MESSAGE_CHECK ||
        message->kind == PDNN_MESSAGE_OPERATORS)
        return is_sound(message->body);
    return true;
}

/* Serves requests until the driver closes the connection. */
static enum pdnn_status serve(struct pdnn_process *process, struct pdnn_inbox *inbox, struct pdnn_err *err) {
    bool ended = false;
    while (!ended) {
        struct pdnn_message message;
        enum pdnn_inbox_state state = pdnn_inbox_next(inbox, &message);
        enum pdnn_status status = PDNN_OK;
        if (state == PDNN_INBOX_PARTIAL)
            status = pdnn_inbox_receive(inbox, process->fd, &ended, err);
        else if (state == PDNN_INBOX_MESSAGE && is_foreign(&message))
            status = answer_foreign(process, err);
        else if (state == PDNN_INBOX_GARBLED || !is_valid(&message))
            status = pdnn_fail(err, PDNN_INVALID, "not a valid request");
        else
            status = answer(process, &message, err);
        if (status != PDNN_OK)
            return status;
    }
    return PDNN_OK;
}

/* A rank of another build says so and ends, and with it all of them: no answer would be understood. */
static enum pdnn_status follow_hello(struct pdnn_process *process, const struct pdnn_message *message,
                                     struct pdnn_err *err) {
    const struct pdnn_hello *hello = message->body;
    if (is_foreign(message) || message->body_bytes != sizeof *hello)
        return pdnn_fail(err, PDNN_INVALID,
                         "rank %d is build %s, but rank 0 is build %.*s: all must be the same build",
                         process->world->rank, pdnn_build, PDNN_BUILD_TEXT - 1, (const char *)message->body);
    process->host = hello->host;
    process->isa = hello->isa;
    process->library = hello->library;
    if (!process->world->is_beside_0 && pdnn_host_read(&process->host, err) != PDNN_OK)
        return err->status;
    pdnn_limit_isa(process);
    pdnn_limit_memory(process, hello->memory_limit_bytes);
    return PDNN_OK;
}

/* Does what rank 0 is asked to do, beside it, until that ends. */
static enum pdnn_status follow(struct pdnn_process *process, struct pdnn_err *err) {
    for (;;) {
        struct pdnn_message message;
        struct pdnn_visit visit;
        process->world->hear(process->world, &message);
        if (message.kind == PDNN_MESSAGE_COUNT)
            return PDNN_OK;
        if (message.kind == PDNN_MESSAGE_HELLO && follow_hello(process, &message, err) != PDNN_OK)
            return err->status;
        if (message.kind == PDNN_MESSAGE_VISIT && is_valid(&message)) {
            pdnn_visit_run(process, message.body, &visit);
            pdnn_visit_finish(&visit);
        }
        if (message.kind == PDNN_MESSAGE_FAMILY &&
            pdnn_family_unpack(message.body, message.body_bytes, err) != PDNN_OK)
            return err->status;
        if (message.kind == PDNN_MESSAGE_ROOFS)
            pdnn_allreduce_bench_follow(process->world, err);
        if (message.kind == PDNN_MESSAGE_REST)
            pdnn_threads_rest();
    }
}

enum pdnn_status pdnn_worker_serve_world(const struct pdnn_world *world, int fd, struct pdnn_err *err) {
    struct pdnn_process process = {.fd = fd, .world = world};
    struct pdnn_inbox inbox = {0};
    enum pdnn_status status = world->rank ? follow(&process, err) : serve(&process, &inbox, err);
    if (!world->rank)
        world->tell(world, PDNN_MESSAGE_COUNT, NULL, 0);
    pdnn_inbox_finish(&inbox);
    pdnn_process_finish(&process);
    return status;
}

int pdnn_worker_serve(int fd) {
    struct pdnn_process process = {.fd = fd};
    struct pdnn_inbox inbox = {0};
    struct pdnn_err err = {0};
    enum pdnn_status status = serve(&process, &inbox, &err);
    pdnn_inbox_finish(&inbox);
    pdnn_set_close(&process);
    pdnn_operators_close(&process);
    pdnn_process_finish(&process);
    return status == PDNN_OK ? 0 : 1;
}
