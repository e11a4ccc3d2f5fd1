/* What a composition does within a budget. */
#include "base/clock.h"
#include "base/memory.h"
#include "session/compose/compose_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds left until the deadline. */
static double budget_of(const struct compose *compose) {
    uint64_t now_ns = pdnn_clock_ns(), deadline_ns = compose->rules.deadline_ns;
    if (!deadline_ns)
        return INFINITY;
    return deadline_ns > now_ns ? (double)(deadline_ns - now_ns) * 1e-9 : 0;
}

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

enum pdnn_status pdnn_compose_decide(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct pdnn_compose_fates *fates = &compose->fates;
    struct pdnn_choose *choose = &fates->choose;
    pdnn_compose_fates_finish(fates);
    pdnn_compose_fates_init(fates, &compose->plan, &compose->operators, compose->request->extrapolate);
    enum pdnn_status status = find_contexts(compose, err);
    for (size_t i = 0; i < choose->n_operators && status == PDNN_OK; i++)
        choose->operators[i].seconds = compose->is_used[i] ? seconds_of(compose, i) : INFINITY;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++) {
        int64_t lacks = compose->rules.rounds - (int64_t)session->tasks[i].visits_done;
        double seconds = compose->role[i] == ROLE_COMPOSED || lacks < 0
                             ? 0
                             : (double)session->tasks[i].visit_ns * 1e-9 * (double)lacks;
        if (compose->role[i] != ROLE_NONE)
            pdnn_compose_fates_add(fates, i, seconds, is_composed(compose->role[i]));
    }
    choose->budget_seconds = budget_of(compose);
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

static struct pdnn_standing standing_of(const struct compose *compose, size_t task) {
    const struct pdnn_instance_visits of =
        pdnn_visits_of(pdnn_journal_visits(compose->sweep->journal), compose->session->tasks[task].id);
    return pdnn_standing_of(of.visit, of.count);
}

/* Whether the journal has all rounds of the task, of its own or composed of measured operators: what is
 * predicted may be measured this time. */
static bool is_complete(const struct compose *compose, size_t task) {
    const struct pdnn_standing standing = standing_of(compose, task);
    size_t rounds = (size_t)compose->rules.rounds;
    return standing.rounds[PDNN_METHOD_DIRECT] >= rounds || standing.rounds[PDNN_METHOD_COMPOSED] >= rounds;
}

/* What earlier runs have measured costs nothing in the plan. */
static enum pdnn_status note_known(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    size_t context;
    for (size_t i = 0; i < session->n_tasks; i++) {
        if (compose->plan.models[i].is_open &&
            pdnn_compose_find_context(compose, i, &context, err) != PDNN_OK)
            return err->status;
    }
    for (size_t i = 0; i < compose->n_contexts; i++) {
        const char *key;
        struct pdnn_library_times times;
        for (size_t at = 0; (at = pdnn_library_next(compose->request->library, at, compose->contexts[i].text,
                                                    &key, &times));)
            if (times.count >= (size_t)compose->rules.rounds)
                pdnn_compose_plan_known(&compose->plan, key);
    }
    return PDNN_OK;
}

/* What earlier runs have done is out of the plan, except for what validates and corrects. */
static void note_complete(struct compose *compose) {
    for (size_t i = 0; i < compose->session->n_tasks; i++)
        if (compose->plan.models[i].is_open && !compose->is_sampled[i] && is_complete(compose, i))
            pdnn_compose_plan_compiled(&compose->plan, i);
}

/* The plan learns what compiling and measuring really take. */
static void calibrate(struct compose *compose, double guessed_compiling) {
    static const double least_seconds = 0.5;
    const struct pdnn_compose_result *result = compose->result;
    if (guessed_compiling > least_seconds)
        compose->plan.compile_scale = (double)result->list_ns * 1e-9 / guessed_compiling;
    if (compose->guessed_seconds > least_seconds)
        compose->plan.measure_scale = (double)result->measure_ns * 1e-9 / compose->guessed_seconds;
}

/* Compiles what the budget may buy, until half of it is spent; what was drawn first, so that it does not
 * depend on how far that goes. */
static enum pdnn_status collect_some(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    double budget_seconds = budget_of(compose);
    struct pdnn_compose_choice choice = {0};
    struct pdnn_operators_order order = {.deadline_ns = pdnn_clock_ns() + (uint64_t)(0.5e9 * budget_seconds)};
    size_t *tasks = pdnn_alloc(session->n_tasks + 1, sizeof *tasks);
    pdnn_compose_plan_choose(&compose->plan, compose->request->extrapolate, budget_seconds, &choice);
    for (int drawn = 1; drawn >= 0; drawn--) {
        for (size_t i = 0; i < choice.choose.n_models; i++) {
            uint32_t model = choice.choose.order[i];
            size_t task = choice.task_of[model];
            if (compose->is_sampled[task] == drawn && choice.choose.models[model].fate != PDNN_FATE_LEFT)
                tasks[order.count++] = task;
        }
    }
    order.tasks = tasks;
    enum pdnn_status status =
        pdnn_operators_collect(&compose->operators, session, compose->workers, &compose->rules, &order, err);
    pdnn_compose_choice_finish(&choice);
    free(tasks);
    return status;
}

/* The array with zeros behind what it had. */
static void *grow(void *array, size_t had, size_t count, size_t size) {
    char *grown = pdnn_resize(array, count + 1, size);
    memset(grown + had * size, 0, (count + 1 - had) * size);
    return grown;
}

/* Arrays by operator, of which `had` were there. */
static void make_room(struct compose *compose, size_t had) {
    size_t count = compose->operators.keys.count;
    compose->context_of = grow(compose->context_of, had, count, sizeof *compose->context_of);
    compose->order = grow(compose->order, had, count, sizeof *compose->order);
    compose->is_tried = grow(compose->is_tried, had, count, sizeof *compose->is_tried);
    compose->is_used = grow(compose->is_used, had, count, sizeof *compose->is_used);
}

/* Compiles all models, or with a budget some more of them; *guessed: seconds, added up over all calls. */
static enum pdnn_status list(struct compose *compose, double *guessed, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    size_t had = compose->operators.keys.count;
    uint64_t began_ns = pdnn_clock_ns();
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = compose->closed[i];
    enum pdnn_status status = isinf(budget_of(compose))
                                  ? pdnn_operators_collect(&compose->operators, session, compose->workers,
                                                           &compose->rules, NULL, err)
                                  : collect_some(compose, err);
    compose->result->list_ns += pdnn_clock_ns() - began_ns;
    compose->result->operators = compose->operators.keys.count;
    compose->result->stateless = compose->operators.stateless.count;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++)
        if (compose->operators.tasks[i].is_listed)
            *guessed += pdnn_compose_plan_compiled(&compose->plan, i);
    if (status == PDNN_OK)
        make_room(compose, had);
    return status;
}

static bool is_done(const struct compose *compose, size_t task) {
    const struct pdnn_standing standing = standing_of(compose, task);
    return pdnn_standing_is_done(&standing, (size_t)compose->rules.rounds);
}

/* Also what was planned, where the budget was spent before it was measured. */
static bool is_anything_left(struct compose *compose) {
    bool left = false, is_spent = budget_of(compose) <= 0;
    for (size_t i = 0; i < compose->session->n_tasks; i++)
        left = left || compose->plan.models[i].is_open ||
               (compose->role[i] != ROLE_NONE &&
                (compose->fates.of_task[i] == PDNN_FATE_LEFT || (is_spent && !is_done(compose, i))));
    return left;
}

static enum pdnn_status plan(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    compose->role = pdnn_alloc(session->n_tasks + 1, sizeof *compose->role);
    compose->closed = pdnn_alloc(session->n_tasks + 1, sizeof *compose->closed);
    compose->is_sampled = pdnn_alloc(session->n_tasks + 1, sizeof *compose->is_sampled);
    for (size_t i = 0; i < session->n_tasks; i++)
        compose->closed[i] = session->tasks[i].closed;
    enum pdnn_status status = pdnn_compose_plan(&compose->plan, session, err);
    if (status == PDNN_OK && !isinf(budget_of(compose)))
        status = note_known(compose, err);
    if (status == PDNN_OK && !isinf(budget_of(compose)))
        pdnn_compose_draw_samples(compose, budget_of(compose));
    if (status == PDNN_OK && !isinf(budget_of(compose)))
        note_complete(compose);
    return status;
}

enum pdnn_status pdnn_compose_run_all(struct compose *compose, struct pdnn_err *err) {
    const double all_seconds = budget_of(compose);
    double guessed = 0;
    enum pdnn_status status = plan(compose, err);
    for (bool is_first = true, goes_on = true; goes_on && status == PDNN_OK; is_first = false) {
        const struct pdnn_compose_result before = *compose->result;
        status = list(compose, &guessed, err);
        if (status == PDNN_OK)
            status = pdnn_compose_rounds(compose, is_first, err);
        if (status != PDNN_OK || isinf(all_seconds))
            break;
        calibrate(compose, guessed);
        for (size_t i = 0; i < compose->operators.keys.count; i++) {
            struct pdnn_library_times times;
            if (compose->is_used[i] && find_times(compose, i, &times) &&
                times.count >= (size_t)compose->rules.rounds)
                pdnn_compose_plan_known(&compose->plan, compose->operators.keys.text[i]);
        }
        bool has_more =
            compose->result->models > before.models || compose->result->measured > before.measured;
        bool is_left = is_anything_left(compose);
        goes_on = has_more && is_left && budget_of(compose) > 0.03 * all_seconds;
        compose->result->out_of_time = is_left;
    }
    return status;
}
