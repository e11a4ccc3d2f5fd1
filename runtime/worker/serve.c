#include "runtime/worker/serve.h"

#include "models/instance.h"
#include "runtime/core/roofs.h"
#include "runtime/core/threads.h"
#include "runtime/facts/protocol.h"
#include "runtime/worker/check.h"
#include "runtime/worker/limits.h"
#include "runtime/worker/set.h"
#include "runtime/worker/visit.h"

#include <inttypes.h>
#include <stdlib.h>

static enum pdnn_status answer_hello(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    const struct pdnn_hello *hello = body;
    process->host = hello->host;
    process->isa = hello->isa;
    pdnn_limit_isa(process);
    pdnn_limit_memory(process, hello->memory_limit_bytes);
    return pdnn_message_send(process->fd, PDNN_MESSAGE_HELLO, NULL, 0, err);
}

static enum pdnn_status answer_visit(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    pdnn_visit_run(process, body, &visit);
    const struct pdnn_part parts[] = {{&visit, sizeof visit}, {visit.ops, visit.n_ops * sizeof *visit.ops}};
    enum pdnn_status status = pdnn_message_send(process->fd, PDNN_MESSAGE_VISIT, parts, 2, err);
    pdnn_visit_finish(&visit);
    return status;
}

/* For what has no outcome: the answer itself, or why there is none. */
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
    /* A driver that is gone shows at the next answer. */
    pdnn_message_send(process->fd, PDNN_MESSAGE_PROGRESS, &part, 1, NULL);
}

static enum pdnn_status answer_ceilings(struct pdnn_process *process, const void *body,
                                        struct pdnn_err *err) {
    const struct pdnn_ceilings_request *request = body;
    struct pdnn_ceilings *ceilings = calloc(1, sizeof *ceilings);
    if (!ceilings)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the ceilings");
    enum pdnn_status result = PDNN_OK;
    if (request->threads > process->host.threads)
        result = pdnn_fail(err, PDNN_INVALID,
                           "ceilings at %" PRId64 " threads, this process may use %" PRId64 " cores",
                           request->threads, process->host.threads);
    if (result == PDNN_OK)
        result = pdnn_threads_set(request->threads, err);
    if (result == PDNN_OK)
        result = pdnn_ceilings_measure(&process->host, pdnn_backends, request->threads, request->seconds,
                                       send_progress, process, ceilings, err);
    const struct pdnn_part part = {ceilings->row, ceilings->count * sizeof ceilings->row[0]};
    enum pdnn_status status = send_result(process, PDNN_MESSAGE_CEILINGS, result, &part, err);
    free(ceilings);
    return status;
}

static enum pdnn_status answer_check(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    enum pdnn_status result = pdnn_check_run(process, body, &rows, &n_rows, err);
    const struct pdnn_part part = {rows, n_rows * sizeof *rows};
    enum pdnn_status status = send_result(process, PDNN_MESSAGE_CHECK, result, &part, err);
    free(rows);
    return status;
}

/* A soft pause would leave them waiting, which is spinning. */
static enum pdnn_status answer_rest(struct pdnn_process *process, const void *body, struct pdnn_err *err) {
    (void)body;
    pdnn_threads_rest();
    return pdnn_message_send(process->fd, PDNN_MESSAGE_REST, NULL, 0, err);
}

/* What the worker does for each request; the answer has the same kind. Only visits find an open set. */
static const struct {
    size_t body_bytes;
    enum pdnn_status (*answer)(struct pdnn_process *process, const void *body, struct pdnn_err *err);
} requests[PDNN_MESSAGE_COUNT] = {
    [PDNN_MESSAGE_HELLO] = {sizeof(struct pdnn_hello), answer_hello},
    [PDNN_MESSAGE_VISIT] = {sizeof(struct pdnn_request), answer_visit},
    [PDNN_MESSAGE_CEILINGS] = {sizeof(struct pdnn_ceilings_request), answer_ceilings},
    [PDNN_MESSAGE_CHECK] = {sizeof(struct pdnn_request), answer_check},
    [PDNN_MESSAGE_REST] = {0, answer_rest},
};

static enum pdnn_status answer(struct pdnn_process *process, const struct pdnn_message *message,
                               struct pdnn_err *err) {
    if (message->kind != PDNN_MESSAGE_VISIT)
        pdnn_set_close(process);
    return requests[message->kind].answer(process, message->body, err);
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
        else if (state == PDNN_INBOX_GARBLED || !requests[message.kind].answer ||
                 requests[message.kind].body_bytes != message.body_bytes)
            status = pdnn_fail(err, PDNN_INVALID, "this is no request");
        else
            status = answer(process, &message, err);
        if (status != PDNN_OK)
            return status;
    }
    return PDNN_OK;
}

int pdnn_worker_serve(int fd) {
    struct pdnn_process process = {.fd = fd};
    struct pdnn_inbox inbox = {0};
    struct pdnn_err err = {0};
    enum pdnn_status status = serve(&process, &inbox, &err);
    pdnn_inbox_finish(&inbox);
    pdnn_set_close(&process);
    pdnn_process_finish(&process);
    return status == PDNN_OK ? 0 : 1;
}
