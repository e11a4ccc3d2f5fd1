#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/worker/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/driver/worker/worker_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Generous: threads end in well under a millisecond. */
static const uint64_t rest_limit_ns = UINT64_C(10000000000);

/* Texts of a worker whose memory is corrupt may not end. */
static bool is_text(const char *text, size_t room) {
    return memchr(text, 0, room) != NULL;
}

static bool op_is_sound(const struct pdnn_visit_op *op) {
    return is_text(op->key, sizeof op->key) && is_text(op->layer, sizeof op->layer) &&
           is_text(op->implementation, sizeof op->implementation);
}

static bool roof_row_is_sound(const struct pdnn_roof_row *roof_row) {
    return is_text(roof_row->kind, sizeof roof_row->kind) &&
           is_text(roof_row->pattern, sizeof roof_row->pattern) &&
           is_text(roof_row->dtype, sizeof roof_row->dtype) &&
           is_text(roof_row->level, sizeof roof_row->level) &&
           is_text(roof_row->host, sizeof roof_row->host) && is_text(roof_row->state, sizeof roof_row->state);
}

static void *copy_of(const void *bytes, size_t length) {
    void *copy = pdnn_alloc(length, 1);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

/* What follows a visit in an answer: entries of one size, on the heap. */
struct rest {
    size_t size, count;
    void *entries; /* NULL unless the visit is ok */
};

/* Copies a visit, its ops and the rest out of the message. False if the message does not hold that. */
static bool read_visit(const struct pdnn_message *message, struct rest *rest, struct pdnn_visit *visit) {
    struct pdnn_visit copy;
    const char *more = (const char *)message->body + sizeof copy;
    if (message->body_bytes < sizeof copy)
        return false;
    memcpy(&copy, message->body, sizeof copy);
    size_t more_bytes = message->body_bytes - sizeof copy;
    if (copy.n_ops > more_bytes / sizeof *copy.ops || (unsigned)copy.outcome >= PDNN_OUTCOME_COUNT ||
        (unsigned)copy.stop >= PDNN_STOP_COUNT)
        return false;
    size_t ops_bytes = copy.n_ops * sizeof *copy.ops, rest_bytes = more_bytes - ops_bytes;
    if (rest->size ? rest_bytes % rest->size != 0 : rest_bytes != 0)
        return false;
    copy.reason[sizeof copy.reason - 1] = 0;
    copy.ops = copy.n_ops ? copy_of(more, ops_bytes) : NULL;
    bool sound = true;
    for (size_t i = 0; i < copy.n_ops; i++)
        sound = sound && op_is_sound(&copy.ops[i]);
    if (!sound) {
        free(copy.ops);
        return false;
    }
    *visit = copy;
    if (rest->size && copy.outcome == PDNN_OUTCOME_OK) {
        rest->count = rest_bytes / rest->size;
        rest->entries = copy_of(more + ops_bytes, rest_bytes);
    }
    return true;
}

static void refuse(struct pdnn_worker *worker, struct pdnn_visit *visit) {
    pdnn_worker_stop(worker);
    visit->outcome = PDNN_OUTCOME_CRASH;
    snprintf(visit->reason, sizeof visit->reason, "the worker's answer was garbled");
}

static enum pdnn_status ask_visit(struct pdnn_worker *worker, const char *id, enum pdnn_message_kind kind,
                                  const struct pdnn_part *body, const struct pdnn_watch *watch,
                                  struct rest *rest, struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_message answer;
    struct pdnn_fate fate;
    int64_t started_unix_ms = pdnn_clock_unix_ms();
    enum pdnn_status status = pdnn_worker_ask_about(worker, id, kind, body, watch, &answer, &fate, err);
    if (status != PDNN_OK)
        return status;
    *visit = (struct pdnn_visit){.outcome = fate.outcome};
    memcpy(visit->reason, fate.reason, sizeof visit->reason);
    if (fate.outcome == PDNN_OUTCOME_OK && (answer.kind != kind || !read_visit(&answer, rest, visit)))
        refuse(worker, visit);
    visit->started_unix_ms = started_unix_ms;
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_visit(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct rest none = {.size = 0};
    return ask_visit(worker, request->id, PDNN_MESSAGE_VISIT, &body, watch, &none, visit, err);
}

enum pdnn_status pdnn_worker_operator(struct pdnn_worker *worker, const struct pdnn_operator_request *request,
                                      const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                      struct pdnn_operator_time **times, size_t *n_times,
                                      struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct rest rest = {.size = sizeof **times};
    enum pdnn_status status =
        ask_visit(worker, request->request.id, PDNN_MESSAGE_OPERATOR, &body, watch, &rest, visit, err);
    *times = rest.entries;
    *n_times = rest.count;
    return status;
}

static bool operators_are_sound(const struct pdnn_operator *operators, size_t count,
                                const struct pdnn_visit *visit) {
    bool sound = true;
    for (size_t i = 0; i < count; i++)
        sound = sound && is_text(operators[i].key, sizeof operators[i].key) && operators[i].op < visit->n_ops;
    return sound;
}

enum pdnn_status pdnn_worker_operators(struct pdnn_worker *worker, const struct pdnn_request *request,
                                       const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                       struct pdnn_operator **operators, size_t *n_operators,
                                       struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct rest rest = {.size = sizeof **operators};
    enum pdnn_status status =
        ask_visit(worker, request->id, PDNN_MESSAGE_OPERATORS, &body, watch, &rest, visit, err);
    if (!operators_are_sound(rest.entries, rest.count, visit)) {
        free(rest.entries);
        rest = (struct rest){.count = 0};
        refuse(worker, visit);
    }
    *operators = rest.entries;
    *n_operators = rest.count;
    return status;
}

void pdnn_worker_rest(struct pdnn_worker *worker) {
    const struct pdnn_part body = {NULL, 0};
    const struct pdnn_watch watch = {.time_limit_ns = rest_limit_ns};
    struct pdnn_message answer;
    struct pdnn_fate fate;
    /* A worker that dies during this is found dead at its next use. */
    if (worker->pid)
        pdnn_worker_ask(worker, PDNN_MESSAGE_REST, &body, &watch, &answer, &fate, NULL);
}

/* For requests without an outcome of their own: the worker's death, or a FAILED message,
 * becomes an error here. */
static enum pdnn_status ask_or_fail(struct pdnn_worker *worker, const char *id, enum pdnn_message_kind kind,
                                    const struct pdnn_part *body, const struct pdnn_watch *watch,
                                    struct pdnn_message *answer, struct pdnn_err *err) {
    struct pdnn_fate fate;
    struct pdnn_err failure;
    enum pdnn_status status = pdnn_worker_ask_about(worker, id, kind, body, watch, answer, &fate, err);
    if (status != PDNN_OK)
        return status;
    if (fate.outcome == PDNN_OUTCOME_OOM)
        return pdnn_fail(err, PDNN_NO_MEMORY, "worker: %s", fate.reason);
    if (fate.outcome != PDNN_OUTCOME_OK)
        return pdnn_fail(err, PDNN_IO, "worker: %s", fate.reason);
    if (answer->kind == kind)
        return PDNN_OK;
    memcpy(&failure, answer->body, sizeof failure);
    failure.text[sizeof failure.text - 1] = 0;
    if (failure.status <= PDNN_OK || failure.status >= PDNN_STATUS_COUNT)
        failure.status = PDNN_INTERNAL;
    return pdnn_fail(err, failure.status, "%s", *failure.text ? failure.text : "the worker gave no reason");
}

static enum pdnn_status fail_garbled(struct pdnn_worker *worker, struct pdnn_err *err) {
    pdnn_worker_stop(worker);
    return pdnn_fail(err, PDNN_IO, "the worker's answer was garbled");
}

enum pdnn_status pdnn_worker_roofs(struct pdnn_worker *worker, int64_t threads, double seconds,
                                   const struct pdnn_watch *watch, struct pdnn_roof_rows *roof_rows,
                                   struct pdnn_err *err) {
    /* The other half is for what has begun by then. */
    const double limit_ns = watch->time_limit_ns ? (double)watch->time_limit_ns / 2 : 1e18;
    const struct pdnn_roofs_request request = {
        .threads = threads, .seconds = seconds, .limit_seconds = limit_ns * 1e-9};
    const struct pdnn_part body = {&request, sizeof request};
    struct pdnn_message answer;
    enum pdnn_status status = ask_or_fail(worker, NULL, PDNN_MESSAGE_ROOFS, &body, watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    size_t count = answer.body_bytes / sizeof roof_rows->row[0];
    if (answer.body_bytes % sizeof roof_rows->row[0] != 0)
        return fail_garbled(worker, err);
    if (count > PDNN_ROOF_ROWS_MAX - roof_rows->count)
        return pdnn_fail(err, PDNN_OVERFLOW, "more than %d rows of roofs", PDNN_ROOF_ROWS_MAX);
    const struct pdnn_roof_row *row = answer.body;
    for (size_t i = 0; i < count; i++) {
        if (!roof_row_is_sound(&row[i]))
            return fail_garbled(worker, err);
    }
    memcpy(roof_rows->row + roof_rows->count, row, answer.body_bytes);
    roof_rows->count += count;
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_places(struct pdnn_worker *worker, int64_t threads, char **places,
                                    struct pdnn_err *err) {
    const struct pdnn_part body = {&threads, sizeof threads};
    const struct pdnn_watch watch = {.time_limit_ns = rest_limit_ns};
    struct pdnn_message answer;
    enum pdnn_status status = ask_or_fail(worker, NULL, PDNN_MESSAGE_PLACES, &body, &watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    *places = pdnn_alloc(answer.body_bytes + 1, 1);
    memcpy(*places, answer.body, answer.body_bytes);
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_check(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_check_row **rows,
                                   size_t *n_rows, struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct pdnn_message answer;
    enum pdnn_status status =
        ask_or_fail(worker, request->id, PDNN_MESSAGE_CHECK, &body, watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_check_row *row = answer.body;
    bool sound = answer.body_bytes % sizeof *row == 0;
    for (size_t i = 0; sound && i < answer.body_bytes / sizeof *row; i++)
        sound = is_text(row[i].op, sizeof row[i].op) && is_text(row[i].tensor, sizeof row[i].tensor);
    if (!sound)
        return fail_garbled(worker, err);
    *rows = copy_of(answer.body, answer.body_bytes);
    *n_rows = answer.body_bytes / sizeof **rows;
    return PDNN_OK;
}
