/* A stage of a composition: what becomes of the operators and models that are listed, within the time left:
 * what is measured, what predicted from measured neighbours, what left. Then the measurements, round by
 * round. */
#include "base/clock.h"
#include "base/memory.h"
#include "session/compose/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One measurement of the operator, as guessed before anything was measured. */
static double guess(const struct compose *compose, size_t number) {
    return pdnn_compose_plan_seconds(compose->session, compose->measured[number].floor_ns,
                                     compose->operators.facts[number].bytes);
}

/* What the measurements cost that the library lacks; INFINITY: there is no use in trying. */
static double seconds_of(const struct compose *compose, size_t number) {
    size_t rounds = (size_t)compose->rules.rounds;
    struct pdnn_library_times times;
    bool known = find_times(compose, number, &times);
    size_t lacks = times.count < rounds ? rounds - times.count : 0;
    if (!lacks)
        return 0;
    if (known && times.outcome != PDNN_OUTCOME_OK && !compose->request->retry)
        return INFINITY;
    double seconds = compose->plan.measure_scale * guess(compose, number);
    if (compose->rules.time_limit_ns && seconds > (double)compose->rules.time_limit_ns * 1e-9)
        return INFINITY;
    return (double)lacks * seconds;
}

/* Finds the contexts of all operators of composed models. */
static enum pdnn_status find_contexts(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_operators *operators = &compose->operators;
    for (size_t i = 0; i < compose->session->n_tasks; i++) {
        for (size_t k = 0; is_composed(compose->of[i].role) && k < operators->tasks[i].count; k++) {
            size_t number = operators->tasks[i].use[k].number;
            struct measured *measured = &compose->measured[number];
            if (!measured->is_used &&
                pdnn_compose_find_context(compose, i, &measured->context, err) != PDNN_OK)
                return err->status;
            measured->is_used = true;
        }
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct pdnn_choose *choose = &compose->fates;
    struct pdnn_compose_result *result = compose->result;
    pdnn_neighbours_destroy(compose->neighbours);
    compose->neighbours = NULL;
    pdnn_arena_finish(&choose->arena);
    pdnn_compose_choice_begin(choose, &compose->plan, compose->operators.keys.count);
    result->predicted = 0;
    if (find_contexts(compose, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < choose->n_operators; i++) {
        struct measured *measured = &compose->measured[i];
        choose->operators[i].key = compose->operators.keys.text[i];
        choose->operators[i].seconds = INFINITY;
        if (!measured->is_used)
            continue;
        measured->floor_ns = pdnn_compose_plan_floor(&compose->plan, choose->operators[i].key,
                                                     compose->operators.facts[i].bytes,
                                                     compose->contexts[measured->context].threads);
        choose->operators[i].seconds = seconds_of(compose, i);
    }
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_task_operators *of = &compose->operators.tasks[i];
        const enum role role = compose->of[i].role;
        const int64_t lacks = compose->rules.rounds - (int64_t)session->tasks[i].visits_done;
        const size_t count = is_composed(role) ? of->count : 0;
        struct pdnn_choose_model *model = &choose->models[i];
        if (role == ROLE_NONE)
            continue;
        uint32_t *numbers = pdnn_arena_alloc(&choose->arena, count + 1, sizeof *numbers);
        *model = (struct pdnn_choose_model){.operators = numbers};
        if (role != ROLE_COMPOSED && lacks > 0)
            model->seconds = (double)session->tasks[i].visit_ns * 1e-9 * (double)lacks +
                             (double)session->tasks[i].extra_ns * 1e-9;
        for (size_t k = 0, at = 0; k < count; k++, at = 0) {
            while (at < model->count && numbers[at] != of->use[k].number)
                at++;
            numbers[at] = (uint32_t)of->use[k].number;
            model->count += at == model->count;
        }
    }
    choose->budget_seconds = pdnn_session_seconds_left(session);
    pdnn_choose(choose);
    for (size_t i = 0; i < choose->n_operators; i++)
        result->predicted += choose->operators[i].fate == PDNN_FATE_PREDICTED;
    return PDNN_OK;
}

/* To be measured: of a composed model, and neither predicted nor left. */
static bool is_chosen(const struct compose *compose, size_t number) {
    return compose->measured[number].is_used && compose->fates.operators[number].fate == PDNN_FATE_MEASURED;
}

size_t pdnn_compose_order(struct compose *compose) {
    const struct pdnn_operators *operators = &compose->operators;
    const size_t n_tasks = compose->session->n_tasks;
    bool *is_ordered = pdnn_alloc(operators->keys.count + 1, sizeof *is_ordered);
    size_t count = 0;
    for (size_t i = 0; i < 2 * n_tasks; i++) {
        const uint32_t task = compose->plan.order[i % n_tasks];
        const struct pdnn_task_operators *of = &operators->tasks[task];
        for (size_t k = 0; k < of->count && compose->of[task].is_sampled == (i < n_tasks); k++) {
            const size_t number = of->use[k].number;
            if (is_ordered[number] || !is_chosen(compose, number))
                continue;
            compose->order[count++] = number;
            is_ordered[number] = true;
        }
    }
    free(is_ordered);
    return count;
}

/* Whether round `round` has its time of the operator, or will never have it. */
static bool is_done(const struct compose *compose, size_t number, size_t round) {
    struct pdnn_library_times times;
    bool known = find_times(compose, number, &times);
    bool may_retry = compose->request->retry && !compose->measured[number].is_tried;
    return known && (times.count > round || (times.outcome != PDNN_OUTCOME_OK && !may_retry));
}

static enum pdnn_status add_row(struct compose *compose, size_t number, const struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    const struct context *context = &compose->contexts[compose->measured[number].context];
    const struct pdnn_library_row row = {.context = context->text,
                                         .host = compose->session->host.name,
                                         .software = context->software,
                                         .key = compose->operators.keys.text[number],
                                         .visit = visit};
    enum pdnn_status status = pdnn_library_add(compose->request->library, &row, err);
    compose->measured[number].is_tried = true;
    compose->result->measured++;
    compose->guessed_seconds += guess(compose, number);
    return status;
}

/* A row for each time; for a failure, one for the operator that was asked for. */
static enum pdnn_status add_rows(struct compose *compose, size_t number, size_t round,
                                 const struct pdnn_visit *visit, const struct pdnn_operator_time *times,
                                 size_t n_times, struct pdnn_err *err) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[compose->operators.facts[number].task];
    if (visit->outcome != PDNN_OUTCOME_OK)
        return add_row(compose, number, visit, err);
    for (size_t i = 0; i < n_times; i++) {
        struct pdnn_visit one = *visit;
        one.median_ns = times[i].ns;
        one.min_ns = times[i].min_ns;
        one.mad_ns = times[i].mad_ns;
        if (times[i].number >= of->count)
            return pdnn_fail(err, PDNN_INTERNAL, "the worker measured an operator that the model lacks");
        size_t measured = of->use[times[i].number].number;
        if (!is_done(compose, measured, round) && add_row(compose, measured, &one, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

static enum pdnn_status measure_one(struct compose *compose, size_t number, size_t round,
                                    struct pdnn_err *err) {
    const size_t task = compose->operators.facts[number].task;
    const struct pdnn_watch watch = {.time_limit_ns = compose->rules.time_limit_ns,
                                     .stop = compose->rules.stop,
                                     .grace_ns = compose->rules.grace_ns};
    struct pdnn_operator_request *request = pdnn_alloc(1, sizeof *request);
    struct pdnn_visit visit = {0};
    struct pdnn_operator_time *times = NULL;
    size_t n_times = 0;
    struct pdnn_worker *worker;
    enum pdnn_status status =
        pdnn_sweep_workers_get(compose->workers, pdnn_session_kind(compose->session, task), &worker, err);
    if (status == PDNN_OK) {
        request->request = pdnn_operators_request(compose->session, &compose->rules, task);
        request->request.rules.max_visit_ns = PDNN_COMPOSE_MEASURE_NS;
        request->request.rules.time_limit_ns = watch.time_limit_ns;
        snprintf(request->key, sizeof request->key, "%s", compose->operators.keys.text[number]);
        /* The operators of the same model that this round lacks too. */
        const struct pdnn_task_operators *of = &compose->operators.tasks[task];
        for (size_t i = 0; i < of->count && i < PDNN_OPERATOR_WANTED_MAX; i++)
            if (is_chosen(compose, of->use[i].number) && !is_done(compose, of->use[i].number, round))
                request->wanted[i / 8] |= (unsigned char)(1u << i % 8);
        status = pdnn_worker_operator(worker, request, &watch, &visit, &times, &n_times, err);
    }
    if (status == PDNN_OK)
        status = add_rows(compose, number, round, &visit, times, n_times, err);
    free(times);
    free(request);
    return status;
}

enum pdnn_status pdnn_compose_measure(struct compose *compose, size_t count, size_t round,
                                      struct pdnn_err *err) {
    const struct pdnn_session_hooks *hooks = compose->session->hooks;
    const uint64_t began_ns = pdnn_clock_ns();
    double done_seconds = 0, seconds = 0, *each = pdnn_alloc(count + 1, sizeof *each);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < count; i++) {
        const size_t number = compose->order[i];
        each[i] = is_done(compose, number, round) ? 0 : compose->plan.measure_scale * guess(compose, number);
        seconds += each[i];
    }
    for (size_t i = 0; i < count && status == PDNN_OK && pdnn_session_seconds_left(compose->session) > 0;
         i++) {
        /* The time left goes by what was guessed for the operators done and for the others. */
        const double passed = (double)(pdnn_clock_ns() - began_ns) * 1e-9;
        hooks->work(hooks->user, "operators measured", i, count,
                    pdnn_session_shown_seconds(compose->session,
                                               pdnn_compose_plan_left(seconds, done_seconds, passed)));
        if (compose->rules.stop && *compose->rules.stop)
            status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        else if (!is_done(compose, compose->order[i], round))
            status = measure_one(compose, compose->order[i], round, err);
        done_seconds += each[i];
    }
    hooks->ended(hooks->user);
    free(each);
    compose->result->measure_ns += pdnn_clock_ns() - began_ns;
    return status;
}
