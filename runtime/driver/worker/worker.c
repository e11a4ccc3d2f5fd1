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

static bool ceiling_is_sound(const struct pdnn_ceiling *ceiling) {
    return is_text(ceiling->kind, sizeof ceiling->kind) &&
           is_text(ceiling->pattern, sizeof ceiling->pattern) &&
           is_text(ceiling->dtype, sizeof ceiling->dtype) && is_text(ceiling->level, sizeof ceiling->level) &&
           is_text(ceiling->host, sizeof ceiling->host);
}

/* Copies a visit and its ops out of the message, whose body ends with n_rest entries of rest_size bytes.
 * False if the message does not hold that. */
static bool read_visit(const struct pdnn_message *message, size_t rest_size, struct pdnn_visit *visit,
                       size_t *n_rest) {
    struct pdnn_visit copy;
    if (message->body_bytes < sizeof copy)
        return false;
    memcpy(&copy, message->body, sizeof copy);
    size_t more_bytes = message->body_bytes - sizeof copy;
    if (copy.n_ops > more_bytes / sizeof *copy.ops || (unsigned)copy.outcome >= PDNN_OUTCOME_COUNT ||
        (unsigned)copy.stop >= PDNN_STOP_COUNT)
        return false;
    size_t ops_bytes = copy.n_ops * sizeof *copy.ops, rest_bytes = more_bytes - ops_bytes;
    if (rest_size ? rest_bytes % rest_size != 0 : rest_bytes != 0)
        return false;
    copy.reason[sizeof copy.reason - 1] = 0;
    copy.ops = NULL;
    if (copy.n_ops) {
        copy.ops = pdnn_alloc(ops_bytes, 1);
        memcpy(copy.ops, (const char *)message->body + sizeof copy, ops_bytes);
    }
    bool sound = true;
    for (size_t i = 0; i < copy.n_ops; i++)
        sound = sound && op_is_sound(&copy.ops[i]);
    if (!sound) {
        free(copy.ops);
        return false;
    }
    *visit = copy;
    *n_rest = rest_size ? rest_bytes / rest_size : 0;
    return true;
}

/* An answer that is a visit, perhaps with something behind it. */
struct visit_answer {
    struct pdnn_message message;
    size_t rest_size, n_rest;
};

static void refuse(struct pdnn_worker *worker, struct pdnn_visit *visit) {
    pdnn_worker_stop(worker);
    visit->outcome = PDNN_OUTCOME_CRASH;
    snprintf(visit->reason, sizeof visit->reason, "the worker's answer was garbled");
}

static enum pdnn_status ask_visit(struct pdnn_worker *worker, enum pdnn_message_kind kind,
                                  const struct pdnn_part *body, const struct pdnn_watch *watch,
                                  struct visit_answer *answer, struct pdnn_visit *visit,
                                  struct pdnn_err *err) {
    struct pdnn_fate fate;
    int64_t started_unix_ms = pdnn_clock_unix_ms();
    enum pdnn_status status = pdnn_worker_ask(worker, kind, body, watch, &answer->message, &fate, err);
    if (status != PDNN_OK)
        return status;
    *visit = (struct pdnn_visit){.outcome = fate.outcome};
    memcpy(visit->reason, fate.reason, sizeof visit->reason);
    if (fate.outcome == PDNN_OUTCOME_OK &&
        (answer->message.kind != kind ||
         !read_visit(&answer->message, answer->rest_size, visit, &answer->n_rest)))
        refuse(worker, visit);
    visit->started_unix_ms = started_unix_ms;
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_visit(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct visit_answer answer = {.rest_size = 0};
    return ask_visit(worker, PDNN_MESSAGE_VISIT, &body, watch, &answer, visit, err);
}

/* What follows a visit in its answer. */
static void *copy_rest(const struct visit_answer *answer) {
    size_t bytes = answer->n_rest * answer->rest_size;
    void *copy = pdnn_alloc(bytes ? bytes : 1, 1);
    if (bytes)
        memcpy(copy, (const char *)answer->message.body + answer->message.body_bytes - bytes, bytes);
    return copy;
}

enum pdnn_status pdnn_worker_operator(struct pdnn_worker *worker, const struct pdnn_operator_request *request,
                                      const struct pdnn_watch *watch, struct pdnn_visit *visit,
                                      struct pdnn_operator_time **times, size_t *n_times,
                                      struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct visit_answer answer = {.rest_size = sizeof **times};
    *times = NULL;
    *n_times = 0;
    enum pdnn_status status = ask_visit(worker, PDNN_MESSAGE_OPERATOR, &body, watch, &answer, visit, err);
    if (status != PDNN_OK || visit->outcome != PDNN_OUTCOME_OK)
        return status;
    *times = copy_rest(&answer);
    *n_times = answer.n_rest;
    return PDNN_OK;
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
    struct visit_answer answer = {.rest_size = sizeof **operators};
    *operators = NULL;
    *n_operators = 0;
    enum pdnn_status status = ask_visit(worker, PDNN_MESSAGE_OPERATORS, &body, watch, &answer, visit, err);
    if (status != PDNN_OK || visit->outcome != PDNN_OUTCOME_OK)
        return status;
    struct pdnn_operator *copy = copy_rest(&answer);
    if (!operators_are_sound(copy, answer.n_rest, visit)) {
        free(copy);
        refuse(worker, visit);
        return PDNN_OK;
    }
    *operators = copy;
    *n_operators = answer.n_rest;
    return PDNN_OK;
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
static enum pdnn_status ask_or_fail(struct pdnn_worker *worker, enum pdnn_message_kind kind,
                                    const struct pdnn_part *body, const struct pdnn_watch *watch,
                                    struct pdnn_message *answer, struct pdnn_err *err) {
    struct pdnn_fate fate;
    struct pdnn_err failure;
    enum pdnn_status status = pdnn_worker_ask(worker, kind, body, watch, answer, &fate, err);
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

enum pdnn_status pdnn_worker_ceilings(struct pdnn_worker *worker, int64_t threads, double seconds,
                                      const struct pdnn_watch *watch, struct pdnn_ceilings *ceilings,
                                      struct pdnn_err *err) {
    const struct pdnn_roofs_request request = {.threads = threads, .seconds = seconds};
    const struct pdnn_part body = {&request, sizeof request};
    struct pdnn_message answer;
    enum pdnn_status status = ask_or_fail(worker, PDNN_MESSAGE_CEILINGS, &body, watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    size_t count = answer.body_bytes / sizeof ceilings->row[0];
    if (answer.body_bytes % sizeof ceilings->row[0] != 0)
        return fail_garbled(worker, err);
    if (count > PDNN_CEILINGS_MAX - ceilings->count)
        return pdnn_fail(err, PDNN_OVERFLOW, "more than %d ceilings", PDNN_CEILINGS_MAX);
    const struct pdnn_ceiling *row = answer.body;
    for (size_t i = 0; i < count; i++) {
        if (!ceiling_is_sound(&row[i]))
            return fail_garbled(worker, err);
    }
    memcpy(ceilings->row + ceilings->count, row, answer.body_bytes);
    ceilings->count += count;
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_places(struct pdnn_worker *worker, int64_t threads, char **places,
                                    struct pdnn_err *err) {
    const struct pdnn_part body = {&threads, sizeof threads};
    const struct pdnn_watch watch = {.time_limit_ns = rest_limit_ns};
    struct pdnn_message answer;
    enum pdnn_status status = ask_or_fail(worker, PDNN_MESSAGE_PLACES, &body, &watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    char *text = pdnn_alloc(answer.body_bytes + 1, 1);
    memcpy(text, answer.body, answer.body_bytes);
    text[answer.body_bytes] = 0;
    *places = text;
    return PDNN_OK;
}

enum pdnn_status pdnn_worker_check(struct pdnn_worker *worker, const struct pdnn_request *request,
                                   const struct pdnn_watch *watch, struct pdnn_check_row **rows,
                                   size_t *n_rows, struct pdnn_err *err) {
    const struct pdnn_part body = {request, sizeof *request};
    struct pdnn_message answer;
    enum pdnn_status status = ask_or_fail(worker, PDNN_MESSAGE_CHECK, &body, watch, &answer, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_check_row *row = answer.body;
    bool sound = answer.body_bytes % sizeof *row == 0;
    for (size_t i = 0; sound && i < answer.body_bytes / sizeof *row; i++)
        sound = is_text(row[i].op, sizeof row[i].op) && is_text(row[i].tensor, sizeof row[i].tensor);
    if (!sound)
        return fail_garbled(worker, err);
    struct pdnn_check_row *copy = pdnn_alloc(answer.body_bytes ? answer.body_bytes : 1, 1);
    memcpy(copy, answer.body, answer.body_bytes);
    *rows = copy;
    *n_rows = answer.body_bytes / sizeof **rows;
    return PDNN_OK;
}
