#include "session/compose/operators.h"

#include "base/clock.h"
#include "base/memory.h"
#include "session/compose/plan.h"

#include <stdio.h>
#include <stdlib.h>

struct pdnn_request pdnn_operators_request(const struct pdnn_session *session,
                                           const struct pdnn_sweep_rules *rules, size_t task) {
    const struct pdnn_task *of = &session->tasks[task];
    struct pdnn_request request = rules->request;
    snprintf(request.id, sizeof request.id, "%s", of->id);
    if (rules->roof_rows)
        request.cache_bytes =
            pdnn_roof_rows_cache_bytes(rules->roof_rows, of->instance.setting[PDNN_SETTING_THREADS]);
    return request;
}

/* The number of the operator, with facts. */
static size_t enter(struct pdnn_operators *operators, const struct pdnn_operator *operator_) {
    size_t before = operators->keys.count, number = pdnn_texts_add(&operators->keys, operator_->key);
    if (operators->keys.count == before)
        return number;
    operators->facts = pdnn_grow(operators->facts, &operators->room, number, sizeof *operators->facts);
    operators->facts[number] =
        (struct pdnn_operator_facts){.bytes = operator_->bytes, .block_bytes = UINT64_MAX};
    return number;
}

static void add(struct pdnn_operators *operators, size_t task, const struct pdnn_visit *visit,
                const struct pdnn_operator *list, size_t count) {
    struct pdnn_operator_use *use = pdnn_arena_alloc(&operators->arena, count + 1, sizeof *use);
    for (size_t i = 0; i < count; i++) {
        use[i] = (struct pdnn_operator_use){
            .op = list[i].op, .number = enter(operators, &list[i]), .runs = list[i].runs};
        struct pdnn_operator_facts *facts = &operators->facts[use[i].number];
        facts->runs += list[i].runs;
        facts->models++;
        if (visit->plan_bytes < facts->block_bytes) {
            facts->block_bytes = visit->plan_bytes;
            facts->task = task;
        }
    }
    operators->tasks[task] = (struct pdnn_task_operators){use, count, true};
}

static enum pdnn_status list_one(struct pdnn_operators *operators, const struct pdnn_session *session,
                                 struct pdnn_sweep_workers *workers, const struct pdnn_sweep_rules *rules,
                                 size_t task, struct pdnn_err *err) {
    const struct pdnn_task *of = &session->tasks[task];
    const struct pdnn_watch watch = {
        .time_limit_ns = rules->time_limit_ns, .stop = rules->stop, .grace_ns = rules->grace_ns};
    const struct pdnn_request request = pdnn_operators_request(session, rules, task);
    struct pdnn_worker *worker;
    struct pdnn_visit visit = {0};
    struct pdnn_operator *list = NULL;
    size_t count = 0;
    enum pdnn_status status = pdnn_sweep_workers_get(workers, pdnn_session_kind(session, task), &worker, err);
    if (status == PDNN_OK)
        status = pdnn_worker_operators(worker, &request, &watch, &visit, &list, &count, err);
    if (status == PDNN_OK) {
        add(operators, task, &visit, list, count);
        pdnn_visits_add(&operators->listed, of->id, &visit);
    }
    free(list);
    pdnn_visit_finish(&visit);
    return status;
}

static void show(const struct pdnn_session *session, const struct pdnn_operators_order *order,
                 uint64_t began_ns, size_t done, size_t all) {
    const double passed = (double)(pdnn_clock_ns() - began_ns) * 1e-9, share = (double)done / (double)all;
    const double left = order->seconds >= 0
                            ? pdnn_compose_plan_left(order->seconds, order->seconds * share, passed)
                        : done ? passed / share - passed
                               : -1;
    session->hooks->work(session->hooks->user, "models compiled", done, all,
                         pdnn_session_shown_seconds(session, left));
}

enum pdnn_status pdnn_operators_collect(struct pdnn_operators *operators, const struct pdnn_session *session,
                                        struct pdnn_sweep_workers *workers,
                                        const struct pdnn_sweep_rules *rules,
                                        const struct pdnn_operators_order *order, struct pdnn_err *err) {
    const uint64_t began_ns = pdnn_clock_ns();
    size_t done = 0, all = 0;
    enum pdnn_status status = PDNN_OK;
    if (!operators->tasks)
        operators->tasks = pdnn_alloc(session->n_tasks + 1, sizeof *operators->tasks);
    const size_t count = order->tasks ? order->count : session->n_tasks;
    for (size_t i = 0; i < count; i++)
        all += !session->tasks[order->tasks ? order->tasks[i] : i].closed;
    for (size_t i = 0; i < count && status == PDNN_OK; i++) {
        size_t task = order->tasks ? order->tasks[i] : i;
        if (session->tasks[task].closed)
            continue;
        if (order->deadline_ns && pdnn_clock_ns() > order->deadline_ns)
            break;
        show(session, order, began_ns, done, all);
        if (rules->stop && *rules->stop)
            status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        else
            status = list_one(operators, session, workers, rules, task, err);
        done++;
    }
    if (done)
        show(session, order, began_ns, done, all);
    session->hooks->ended(session->hooks->user);
    return status;
}

void pdnn_operators_finish(struct pdnn_operators *operators) {
    pdnn_texts_finish(&operators->keys);
    pdnn_visits_finish(&operators->listed);
    pdnn_arena_finish(&operators->arena);
    free(operators->facts);
    free(operators->tasks);
    *operators = (struct pdnn_operators){0};
}
