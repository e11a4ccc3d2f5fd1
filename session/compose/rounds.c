/* The stages of a composition in their order, once or as long as a budget buys more. */
#include "session/compose/state.h"

#include <math.h>
#include <stdlib.h>

/* Models that cannot run have that as their outcome; those that fit the cache run; the others are composed.
 */
static enum pdnn_status give_roles(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    for (size_t i = 0; i < session->n_tasks; i++) {
        if (!compose->operators.tasks[i].is_listed || compose->of[i].role != ROLE_NONE ||
            compose->of[i].is_closed)
            continue;
        const struct pdnn_visit *visit = listed(compose, i).visit;
        compose->result->models++;
        if (visit->outcome != PDNN_OUTCOME_OK) {
            if (pdnn_sweep_directory_commit(compose->sweep, i, visit, err) != PDNN_OK)
                return err->status;
            session->tasks[i].closed = compose->of[i].is_closed = true;
            continue;
        }
        uint64_t cache_bytes = pdnn_roof_rows_cache_bytes(
            session->roof_rows, session->tasks[i].instance.setting[PDNN_SETTING_THREADS]);
        bool is_small = visit->plan_bytes <= cache_bytes;
        compose->of[i].role = is_small ? ROLE_DIRECT : ROLE_COMPOSED;
        compose->result->small += is_small;
        compose->result->composed += !is_small;
    }
    return PDNN_OK;
}

/* Round `round` of the models that run: the small ones, or those that are composed as well. With a budget,
 * small ones sample as long as operators do, since there are many of them. */
static enum pdnn_status visit_some(struct compose *compose, size_t round, bool is_small,
                                   struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    struct pdnn_sweep_rules rules = compose->rules;
    struct pdnn_sweep_result result = {0};
    rules.rounds = (int64_t)round + 1;
    if (is_small && rules.deadline_ns &&
        rules.max_time_ns > (uint64_t)PDNN_COMPOSE_MEASURE_NS * (uint64_t)rules.rounds)
        rules.max_time_ns = (uint64_t)PDNN_COMPOSE_MEASURE_NS * (uint64_t)rules.rounds;
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = compose->of[i].is_closed || compose->of[i].role == ROLE_COMPOSED ||
                                   (compose->of[i].role == ROLE_DIRECT) != is_small ||
                                   compose->fates.models[i].fate == PDNN_FATE_LEFT;
    pdnn_sweep_directory_resume(compose->sweep);
    enum pdnn_status status =
        pdnn_sweep_directory_visit(compose->sweep, compose->workers, &rules, NULL, &result, err);
    pdnn_sweep_result_add(&compose->result->direct, &result);
    return status;
}

/* What is guessed to come after the operators of a round, or after its visits, as far as operators took what
 * they were guessed to take. count: operators in the order of measurement. */
static double guess_later(const struct compose *compose, size_t count, size_t round, bool are_measured) {
    static const double trust_seconds = 10;
    const double rounds = (double)compose->rules.rounds,
                 pace = ((double)compose->result->measure_ns * 1e-9 + trust_seconds) /
                        (compose->guessed_seconds * compose->plan.measure_scale + trust_seconds);
    double measuring = 0;
    for (size_t i = 0; i < count; i++)
        measuring += compose->fates.operators[compose->order[i]].seconds;
    double visiting = fmax(compose->fates.seconds - measuring, 0);
    /* But for the first round's, the estimate of visits has all extra ones that are likely until the end. */
    for (size_t i = 0; i < compose->session->n_tasks && are_measured && round; i++)
        if (compose->fates.models[i].fate != PDNN_FATE_LEFT && compose->of[i].role != ROLE_COMPOSED)
            visiting -=
                fmin((double)compose->session->tasks[i].extra_ns * 1e-9, compose->fates.models[i].seconds);
    return (rounds - 1 - (double)round) / rounds * (measuring * pace + visiting) +
           (are_measured ? 0 : visiting / rounds);
}

/* Roles for the models listed since the last call, what becomes of their operators, and all rounds. is_first:
 * samples are drawn. */
static enum pdnn_status run_rounds(struct compose *compose, bool is_first, struct pdnn_err *err) {
    enum pdnn_status status = give_roles(compose, err);
    if (status == PDNN_OK && is_first)
        pdnn_compose_give_samples(compose);
    if (status == PDNN_OK)
        status = pdnn_compose_decide(compose, err);
    if (status != PDNN_OK)
        return status;
    size_t count = pdnn_compose_order(compose), rounds = (size_t)compose->rules.rounds;
    for (size_t round = 0; round < rounds && status == PDNN_OK; round++) {
        compose->sweep->session->later_seconds = guess_later(compose, count, round, false);
        status = pdnn_compose_measure(compose, count, round, err);
        compose->sweep->session->later_seconds = guess_later(compose, count, round, true);
        if (status == PDNN_OK)
            status = pdnn_compose_add_up(compose, round, err);
        if (status == PDNN_OK)
            status = visit_some(compose, round, false, err);
        if (status == PDNN_OK)
            status = visit_some(compose, round, true, err);
    }
    return status == PDNN_OK ? pdnn_compose_settle(compose, err) : status;
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

/* Also what was planned, where the budget was spent before it was measured. */
static bool is_anything_left(struct compose *compose) {
    const bool is_spent = pdnn_session_seconds_left(compose->session) <= 0;
    for (size_t i = 0; i < compose->session->n_tasks; i++) {
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(compose->sweep, i);
        bool is_left = compose->fates.models[i].fate == PDNN_FATE_LEFT ||
                       (is_spent && !pdnn_standing_is_done(&standing, (size_t)compose->rules.rounds));
        if (compose->plan.models[i].is_open || (compose->of[i].role != ROLE_NONE && is_left))
            return true;
    }
    return false;
}

/* The plan, then rounds: once without a budget; with one, as long as it buys more, since the first guesses
 * are rough. */
static enum pdnn_status run_all(struct compose *compose, struct pdnn_err *err) {
    const double all_seconds = pdnn_session_seconds_left(compose->session);
    double guessed = 0;
    enum pdnn_status status = pdnn_compose_prepare(compose, err);
    for (bool is_first = true, goes_on = true; goes_on && status == PDNN_OK; is_first = false) {
        const struct pdnn_compose_result before = *compose->result;
        status = pdnn_compose_list(compose, &guessed, err);
        if (status == PDNN_OK)
            status = run_rounds(compose, is_first, err);
        if (status != PDNN_OK || isinf(all_seconds))
            break;
        calibrate(compose, guessed);
        pdnn_compose_note_known(compose);
        bool has_more =
            compose->result->models > before.models || compose->result->measured > before.measured;
        bool is_left = is_anything_left(compose);
        goes_on = has_more && is_left && pdnn_session_seconds_left(compose->session) > 0.03 * all_seconds;
        compose->result->out_of_time = is_left;
    }
    return status;
}

enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err) {
    struct compose compose = {
        .sweep = sweep, .session = sweep->session, .request = request, .result = result};
    struct pdnn_err tables = {0};
    *result = (struct pdnn_compose_result){0};
    sweep->session->hooks->watch(sweep->session->hooks->user);
    pdnn_sweep_directory_resume(sweep);
    enum pdnn_status status = pdnn_sweep_directory_roofs(sweep, err);
    if (status == PDNN_OK) {
        compose.rules = pdnn_session_rules(sweep->session);
        pdnn_session_predict(sweep->session);
        compose.workers =
            pdnn_sweep_workers_create(&sweep->session->host, sweep->session->memory_limit_bytes);
        status = run_all(&compose, err);
        pdnn_sweep_workers_destroy(compose.workers);
    }
    if (result->out_of_time) {
        const struct pdnn_sweep_result late = {.out_of_time = true};
        pdnn_session_note_end(sweep->session, &late);
    }
    if (pdnn_sweep_directory_write(sweep, &tables) != PDNN_OK && status == PDNN_OK)
        status = pdnn_fail(err, tables.status, "%s", tables.text);
    pdnn_operators_finish(&compose.operators);
    pdnn_neighbours_destroy(compose.neighbours);
    pdnn_arena_finish(&compose.fates.arena);
    pdnn_compose_plan_finish(&compose.plan);
    free(compose.of);
    free(compose.measured);
    free(compose.order);
    free(compose.contexts);
    return status;
}
