#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/child.h"

#include "runtime/core/limit.h"
#include "runtime/kernels/simd/denormals.h"
#include "models/build.h"
#include "runtime/core/roofs.h"
#include "base/clock.h"
#include "runtime/facts/isa.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Beside tensors a worker maps thread stacks, allocator arenas, generated code and library buffers. */
static const uint64_t headroom_bytes = UINT64_C(1) << 30, headroom_per_thread_bytes = UINT64_C(256) << 20;

/* A larger pool of an earlier request would go on spinning beside a smaller one: it is ended, not only left
 * aside. The user's OpenMP settings may allow fewer threads than there are cores. */
static enum pdnn_status set_threads(int64_t threads, struct pdnn_err *err) {
    int team = 0;
    if (omp_get_max_threads() != (int)threads)
        omp_pause_resource_all(omp_pause_hard);
    omp_set_num_threads((int)threads);
#pragma omp parallel num_threads((int)threads) reduction(+ : team)
    team += 1;
    if (team != (int)threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "asks for %" PRId64
                         " threads, the OpenMP environment (OMP_THREAD_LIMIT, OMP_DYNAMIC) gives %d",
                         threads, team);
    pdnn_flush_denormals(threads);
    return PDNN_OK;
}

/* By the order of pdnn_backends; one that is not part of this build has the number after the last. */
static size_t backend_number(const char *name) {
    size_t i = 0;
    while (pdnn_backends[i] && strcmp(pdnn_backends[i]->name, name) != 0)
        i++;
    return i;
}

static enum pdnn_status check_isa(const struct pdnn_child *child, const struct pdnn_instance *instance,
                                  struct pdnn_err *err) {
    enum pdnn_isa isa = (enum pdnn_isa)instance->setting[PDNN_SETTING_ISA];
    size_t number = backend_number(pdnn_backend_names[instance->setting[PDNN_SETTING_BACKEND]]);
    if (isa != child->isa)
        return pdnn_fail(err, PDNN_INTERNAL, "isa=%s was asked of a worker for isa=%s", pdnn_isa_names[isa],
                         pdnn_isa_names[child->isa]);
    if (child->limit[number].status != PDNN_OK)
        return pdnn_fail(err, child->limit[number].status, "%s", child->limit[number].text);
    return PDNN_OK;
}

enum pdnn_status pdnn_child_instance(const struct pdnn_child *child, const char *id,
                                     struct pdnn_instance *instance, struct pdnn_err *err) {
    const struct pdnn_host *host = &child->host;
    enum pdnn_status status = pdnn_instance_parse(id, instance, err);
    if (status != PDNN_OK)
        return status;
    pdnn_instance_resolve(instance, host->threads);
    int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    if (threads > host->threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "asks for %" PRId64 " threads, this process may use %" PRId64 " cores", threads,
                         host->threads);
    status = check_isa(child, instance, err);
    return status == PDNN_OK ? set_threads(threads, err) : status;
}

enum pdnn_status pdnn_model_init(struct pdnn_model *model, const struct pdnn_child *child, const char *id,
                                 struct pdnn_err *err) {
    struct pdnn_model made = {0};
    enum pdnn_status status = pdnn_child_instance(child, id, &made.instance, err);
    if (status != PDNN_OK)
        return status;
    made.threads = made.instance.setting[PDNN_SETTING_THREADS];
    *model = made;
    const struct pdnn_instance run = pdnn_instance_as_run(&model->instance);
    status = pdnn_instance_graph(&run, &model->arena, &model->graph, err);
    if (status != PDNN_OK)
        pdnn_model_finish(model);
    return status;
}

void pdnn_model_finish(struct pdnn_model *model) {
    pdnn_arena_finish(&model->arena);
}

enum pdnn_status pdnn_child_open(struct pdnn_child *child, const char *name, int64_t threads,
                                 const struct pdnn_child_backend **backend, struct pdnn_err *err) {
    for (size_t i = 0; i < child->n_backends; i++) {
        struct pdnn_child_backend *open = &child->backend[i];
        if (open->threads == threads && strcmp(open->def->name, name) == 0) {
            *backend = open;
            return PDNN_OK;
        }
    }
    const struct pdnn_backend_def *def = pdnn_backends[backend_number(name)];
    if (!def)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "backend %s is not part of this build", name);
    struct pdnn_child_backend fresh = {.def = def, .threads = threads};
    enum pdnn_status status = fresh.def->open(threads, &fresh.state, err);
    if (status != PDNN_OK)
        return status;
    if (child->n_backends == PDNN_CHILD_BACKENDS_MAX) {
        child->backend[0].def->close(child->backend[0].state);
        memmove(child->backend, child->backend + 1, --child->n_backends * sizeof child->backend[0]);
    }
    child->backend[child->n_backends] = fresh;
    *backend = &child->backend[child->n_backends++];
    return PDNN_OK;
}

/* Lets allocations beyond the limit fail here, before the machine runs out of memory. */
static void limit_memory(const struct pdnn_hello *hello) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    if (!hello->memory_limit_bytes || !pages)
        return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    uint64_t bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) + hello->memory_limit_bytes +
                     headroom_bytes + (uint64_t)hello->host.threads * headroom_per_thread_bytes;
    /* Never above what the user's own limit says. */
    if (limit.rlim_cur == RLIM_INFINITY || bytes < limit.rlim_cur) {
        limit.rlim_cur = (rlim_t)bytes;
        setrlimit(RLIMIT_AS, &limit);
    }
}

/* Before any library is used: most take no limit later. */
static void limit_isa(struct pdnn_child *child) {
    enum pdnn_isa isa = child->isa;
    if (isa == PDNN_ISA_DEFAULT)
        return;
    pdnn_isa_limit_kernels(isa);
    for (size_t i = 0; pdnn_backends[i] && i < PDNN_CHILD_BACKENDS_MAX; i++) {
        const struct pdnn_backend_def *def = pdnn_backends[i];
        if (!pdnn_isa_is_here(&child->host, isa))
            pdnn_fail(&child->limit[i], PDNN_UNSUPPORTED, "isa=%s: this processor has %s",
                      pdnn_isa_names[isa], pdnn_isa_names[pdnn_isa_widest(&child->host)]);
        else if (!def->limit_isa)
            pdnn_fail(&child->limit[i], PDNN_UNSUPPORTED,
                      "%s has no choice of instruction sets; use isa=default", def->name);
        else
            def->limit_isa(isa, &child->limit[i]);
    }
}

static enum pdnn_status answer_hello(struct pdnn_child *child, const void *body, struct pdnn_err *err) {
    const struct pdnn_hello *hello = body;
    child->host = hello->host;
    child->isa = hello->isa;
    limit_isa(child);
    limit_memory(hello);
    return pdnn_message_send(child->answer_fd, PDNN_MESSAGE_HELLO, NULL, 0, err);
}

static enum pdnn_status answer_visit(struct pdnn_child *child, const void *body, struct pdnn_err *err) {
    struct pdnn_visit visit = {0};
    pdnn_child_visit(child, body, &visit);
    const struct pdnn_part parts[] = {{&visit, sizeof visit}, {visit.ops, visit.n_ops * sizeof *visit.ops}};
    enum pdnn_status status = pdnn_message_send(child->answer_fd, PDNN_MESSAGE_VISIT, parts, 2, err);
    pdnn_visit_finish(&visit);
    return status;
}

/* For what has no outcome: the answer itself, or why there is none. */
static enum pdnn_status send_result(const struct pdnn_child *child, enum pdnn_message_kind kind,
                                    enum pdnn_status result, const struct pdnn_part *part,
                                    struct pdnn_err *err) {
    if (result == PDNN_OK)
        return pdnn_message_send(child->answer_fd, kind, part, 1, err);
    struct pdnn_err failure = *err;
    const struct pdnn_part reason = {&failure, sizeof failure};
    return pdnn_message_send(child->answer_fd, PDNN_MESSAGE_FAILED, &reason, 1, err);
}

static void send_progress(void *user, double fraction) {
    const struct pdnn_child *child = user;
    const struct pdnn_part part = {&fraction, sizeof fraction};
    /* A driver that is gone shows at the next answer. */
    pdnn_message_send(child->answer_fd, PDNN_MESSAGE_PROGRESS, &part, 1, NULL);
}

static enum pdnn_status answer_ceilings(struct pdnn_child *child, const void *body, struct pdnn_err *err) {
    const struct pdnn_ceilings_order *order = body;
    struct pdnn_ceilings *ceilings = calloc(1, sizeof *ceilings);
    if (!ceilings)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the ceilings");
    enum pdnn_status result = PDNN_OK;
    if (order->threads > child->host.threads)
        result = pdnn_fail(err, PDNN_INVALID,
                           "ceilings at %" PRId64 " threads, this process may use %" PRId64 " cores",
                           order->threads, child->host.threads);
    if (result == PDNN_OK)
        result = set_threads(order->threads, err);
    if (result == PDNN_OK)
        result = pdnn_ceilings_measure(&child->host, pdnn_backends, order->threads, order->seconds,
                                       send_progress, child, ceilings, err);
    const struct pdnn_part part = {ceilings->row, ceilings->count * sizeof ceilings->row[0]};
    enum pdnn_status status = send_result(child, PDNN_MESSAGE_CEILINGS, result, &part, err);
    free(ceilings);
    return status;
}

static enum pdnn_status answer_check(struct pdnn_child *child, const void *body, struct pdnn_err *err) {
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    enum pdnn_status result = pdnn_child_check(child, body, &rows, &n_rows, err);
    const struct pdnn_part part = {rows, n_rows * sizeof *rows};
    enum pdnn_status status = send_result(child, PDNN_MESSAGE_CHECK, result, &part, err);
    free(rows);
    return status;
}

/* A soft pause would leave them waiting, which is spinning. */
static enum pdnn_status answer_rest(struct pdnn_child *child, const void *body, struct pdnn_err *err) {
    (void)body;
    omp_pause_resource_all(omp_pause_hard);
    return pdnn_message_send(child->answer_fd, PDNN_MESSAGE_REST, NULL, 0, err);
}

/* What the worker does for each request; the answer has the same kind. Only visits find an open set. */
static const struct {
    size_t body_bytes;
    enum pdnn_status (*answer)(struct pdnn_child *child, const void *body, struct pdnn_err *err);
} requests[PDNN_MESSAGE_COUNT] = {
    [PDNN_MESSAGE_HELLO] = {sizeof(struct pdnn_hello), answer_hello},
    [PDNN_MESSAGE_VISIT] = {sizeof(struct pdnn_visit_order), answer_visit},
    [PDNN_MESSAGE_CEILINGS] = {sizeof(struct pdnn_ceilings_order), answer_ceilings},
    [PDNN_MESSAGE_CHECK] = {sizeof(struct pdnn_check_order), answer_check},
    [PDNN_MESSAGE_REST] = {0, answer_rest},
};

static enum pdnn_status answer(struct pdnn_child *child, const struct pdnn_message *message,
                               struct pdnn_err *err) {
    if (message->kind != PDNN_MESSAGE_VISIT)
        pdnn_child_set_close(child);
    return requests[message->kind].answer(child, message->body, err);
}

/* Serves requests until the driver closes the connection. */
static enum pdnn_status serve(struct pdnn_child *child, struct pdnn_inbox *inbox, struct pdnn_err *err) {
    bool ended = false;
    while (!ended) {
        struct pdnn_message message;
        enum pdnn_inbox_state state = pdnn_inbox_next(inbox, &message);
        enum pdnn_status status = PDNN_OK;
        if (state == PDNN_INBOX_PARTIAL)
            status = pdnn_inbox_receive(inbox, child->request_fd, &ended, err);
        else if (state == PDNN_INBOX_GARBLED || !requests[message.kind].answer ||
                 requests[message.kind].body_bytes != message.body_bytes)
            status = pdnn_fail(err, PDNN_INVALID, "this is no request");
        else
            status = answer(child, &message, err);
        if (status != PDNN_OK)
            return status;
    }
    return PDNN_OK;
}

int pdnn_worker_main(int request_fd, int answer_fd) {
    struct pdnn_child child = {.request_fd = request_fd, .answer_fd = answer_fd};
    struct pdnn_inbox inbox = {0};
    struct pdnn_err err = {0};
    enum pdnn_status status = serve(&child, &inbox, &err);
    pdnn_inbox_finish(&inbox);
    pdnn_child_set_close(&child);
    for (size_t i = 0; i < child.n_backends; i++)
        child.backend[i].def->close(child.backend[i].state);
    return status == PDNN_OK ? 0 : 1;
}
