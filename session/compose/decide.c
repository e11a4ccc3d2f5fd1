/* A stage of a composition: what becomes of the operators and models that are listed, within the time left:
 * what is measured, what predicted from measured neighbours, what left. */
#include "base/memory.h"
#include "session/compose/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pdnn_compose_guess(const struct compose *compose, size_t number) {
    return pdnn_compose_plan_seconds(compose->session, compose->fates.floor_ns[number],
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
        for (size_t k = 0; is_composed(compose->role[i]) && k < operators->tasks[i].count; k++) {
            size_t number = operators->tasks[i].use[k].number;
            if (!compose->is_used[number] &&
                pdnn_compose_find_context(compose, i, &compose->context_of[number], err) != PDNN_OK)
                return err->status;
            compose->is_used[number] = true;
        }
    }
    return PDNN_OK;
}

static int64_t threads_of(const char *key) {
    const char *text = strstr(key, " threads=");
    return text ? strtoll(text + strlen(" threads="), NULL, 10) : 1;
}

static void init(struct compose *compose) {
    struct fates *fates = &compose->fates;
    const struct pdnn_compose_plan *plan = &compose->plan;
    const struct pdnn_operators *operators = &compose->operators;
    size_t n_tasks = plan->session->n_tasks, count = operators->keys.count;
    *fates = (struct fates){.task_of = pdnn_alloc(n_tasks + 1, sizeof *fates->task_of),
                            .of_task = pdnn_alloc(n_tasks + 1, sizeof *fates->of_task),
                            .floor_ns = pdnn_alloc(count + 1, sizeof *fates->floor_ns)};
    struct pdnn_choose *choose = &fates->choose;
    pdnn_arena_init(&fates->arena);
    *choose = (struct pdnn_choose){.operators = pdnn_alloc(count + 1, sizeof *choose->operators),
                                   .n_operators = count,
                                   .models = pdnn_alloc(n_tasks + 1, sizeof *choose->models),
                                   .caches = &fates->caches,
                                   .extrapolate = compose->request->extrapolate};
    pdnn_compose_plan_caches(plan->session, &fates->arena, &fates->caches);
    for (size_t i = 0; i < count; i++) {
        const char *key = operators->keys.text[i];
        choose->operators[i].key = key;
        fates->floor_ns[i] = pdnn_compose_plan_floor(plan, key, operators->facts[i].bytes, threads_of(key));
    }
}

void pdnn_compose_forget(struct compose *compose) {
    struct fates *fates = &compose->fates;
    pdnn_choose_finish(&fates->choose);
    pdnn_neighbours_destroy(fates->neighbours);
    pdnn_arena_finish(&fates->arena);
    free(fates->choose.operators);
    free(fates->choose.models);
    free(fates->task_of);
    free(fates->of_task);
    free(fates->floor_ns);
    *fates = (struct fates){.task_of = NULL};
}

/* A task that runs for that many seconds, or has operators. */
static void add_model(struct compose *compose, size_t task, double seconds, bool has_operators) {
    struct fates *fates = &compose->fates;
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    struct pdnn_choose_model *model = &fates->choose.models[fates->choose.n_models];
    size_t count = has_operators ? of->count : 0;
    uint32_t *numbers = pdnn_arena_alloc(&fates->arena, count + 1, sizeof *numbers);
    *model = (struct pdnn_choose_model){.operators = numbers, .seconds = seconds};
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < model->count && numbers[k] != of->use[i].number)
            k++;
        numbers[k] = (uint32_t)of->use[i].number;
        model->count += k == model->count;
    }
    fates->task_of[fates->choose.n_models++] = task;
}

enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct fates *fates = &compose->fates;
    struct pdnn_choose *choose = &fates->choose;
    pdnn_compose_forget(compose);
    init(compose);
    enum pdnn_status status = find_contexts(compose, err);
    for (size_t i = 0; i < choose->n_operators && status == PDNN_OK; i++)
        choose->operators[i].seconds = compose->is_used[i] ? seconds_of(compose, i) : INFINITY;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++) {
        int64_t lacks = compose->rules.rounds - (int64_t)session->tasks[i].visits_done;
        double seconds = compose->role[i] == ROLE_COMPOSED || lacks < 0
                             ? 0
                             : (double)session->tasks[i].visit_ns * 1e-9 * (double)lacks;
        if (compose->role[i] != ROLE_NONE)
            add_model(compose, i, seconds, is_composed(compose->role[i]));
    }
    choose->budget_seconds = seconds_left(compose);
    if (status == PDNN_OK)
        pdnn_choose(choose);
    compose->result->predicted = 0;
    for (size_t i = 0; i < choose->n_models && status == PDNN_OK; i++) {
        fates->of_task[fates->task_of[i]] = choose->models[i].fate;
        bool is_late = choose->models[i].fate == PDNN_FATE_LEFT && !isinf(choose->budget_seconds);
        compose->result->out_of_time = compose->result->out_of_time || is_late;
    }
    for (size_t i = 0; i < choose->n_operators && status == PDNN_OK; i++)
        compose->result->predicted += choose->operators[i].fate == PDNN_FATE_PREDICTED;
    return status;
}
