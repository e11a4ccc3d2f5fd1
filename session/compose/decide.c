/* A stage of a composition: what becomes of the operators and models that are listed, within the time left:
 * what is measured, what predicted from measured neighbours, what left. */
#include "session/compose/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pdnn_compose_guess(const struct compose *compose, size_t number) {
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
    double seconds = compose->plan.measure_scale * pdnn_compose_guess(compose, number);
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

static int64_t threads_of(const char *key) {
    const char *text = strstr(key, " threads=");
    return text ? strtoll(text + strlen(" threads="), NULL, 10) : 1;
}

static void begin(struct compose *compose) {
    const struct pdnn_operators *operators = &compose->operators;
    struct pdnn_choose *choose = &compose->fates.choose;
    pdnn_neighbours_destroy(compose->neighbours);
    compose->neighbours = NULL;
    pdnn_compose_choice_finish(&compose->fates);
    pdnn_compose_choice_begin(&compose->fates, compose->session, operators->keys.count);
    choose->extrapolate = compose->request->extrapolate;
    for (size_t i = 0; i < choose->n_operators; i++) {
        const char *key = operators->keys.text[i];
        choose->operators[i].key = key;
        compose->measured[i].floor_ns =
            pdnn_compose_plan_floor(&compose->plan, key, operators->facts[i].bytes, threads_of(key));
    }
}

/* A task that runs for that many seconds, or has operators. */
static void add_model(struct compose *compose, size_t task, double seconds, bool has_operators) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    struct pdnn_choose_model *model = &compose->fates.choose.models[task];
    size_t count = has_operators ? of->count : 0;
    uint32_t *numbers = pdnn_arena_alloc(&compose->fates.arena, count + 1, sizeof *numbers);
    *model = (struct pdnn_choose_model){.operators = numbers, .seconds = seconds};
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < model->count && numbers[k] != of->use[i].number)
            k++;
        numbers[k] = (uint32_t)of->use[i].number;
        model->count += k == model->count;
    }
}

enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct pdnn_choose *choose = &compose->fates.choose;
    struct pdnn_compose_result *result = compose->result;
    begin(compose);
    result->predicted = 0;
    if (find_contexts(compose, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < choose->n_operators; i++)
        choose->operators[i].seconds = compose->measured[i].is_used ? seconds_of(compose, i) : INFINITY;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const enum role role = compose->of[i].role;
        int64_t lacks = compose->rules.rounds - (int64_t)session->tasks[i].visits_done;
        double seconds = role == ROLE_COMPOSED || lacks < 0
                             ? 0
                             : (double)session->tasks[i].visit_ns * 1e-9 * (double)lacks;
        if (role != ROLE_NONE)
            add_model(compose, i, seconds, is_composed(role));
    }
    choose->budget_seconds = seconds_left(compose);
    pdnn_choose(choose);
    for (size_t i = 0; i < session->n_tasks && !isinf(choose->budget_seconds); i++) {
        bool is_late = compose->of[i].role != ROLE_NONE && choose->models[i].fate == PDNN_FATE_LEFT;
        result->out_of_time = result->out_of_time || is_late;
    }
    for (size_t i = 0; i < choose->n_operators; i++)
        result->predicted += choose->operators[i].fate == PDNN_FATE_PREDICTED;
    return PDNN_OK;
}
