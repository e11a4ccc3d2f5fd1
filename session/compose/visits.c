/* The last stages of a composition: visits of models as sums of a round's times of their operators, then the
 * times and intervals of its rows. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "results/stats/means.h"
#include "session/compose/state.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gives the visit, which owns them, the rows of these ops. */
static void copy_ops(const struct pdnn_measured_ops *ops, struct pdnn_visit *visit) {
    visit->ops = pdnn_alloc(ops->count + 1, sizeof *visit->ops);
    visit->n_ops = ops->count;
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_measured_op *from = &ops->op[i];
        struct pdnn_visit_op *to = &visit->ops[i];
        snprintf(to->key, sizeof to->key, "%s", from->key);
        snprintf(to->layer, sizeof to->layer, "%s", from->layer);
        snprintf(to->implementation, sizeof to->implementation, "%s", from->implementation);
        to->count = from->count;
        to->bytes = from->bytes;
        to->extra = from->extra;
        to->time_ns = from->time_ns;
    }
}

/* An operator that has no time of its own. Fails if it cannot be measured either; then that is the visit's
 * outcome. */
static bool predict(struct compose *compose, size_t number, const struct pdnn_library_times *times,
                    const char *row, struct pdnn_prediction_of_operator *prediction,
                    struct pdnn_visit *visit) {
    const struct pdnn_choose_operator *one = &compose->fates.operators[number];
    bool has_failed = times->outcome != PDNN_OUTCOME_OK;
    if (!has_failed && one->fate == PDNN_FATE_MEASURED)
        return false; /* in a later run */
    const char *reason = pdnn_neighbours_predict(compose->neighbours, compose->operators.keys.text[number],
                                                 compose->measured[number].floor_ns, prediction);
    if (!reason) {
        visit->flags |= PDNN_FLAG_PREDICTED;
        return true;
    }
    if (has_failed || isinf(one->seconds)) {
        visit->outcome = PDNN_OUTCOME_UNPREDICTED;
        snprintf(visit->reason, sizeof visit->reason, "%s of %.100s: %.70s%snot predicted: %s",
                 has_failed ? pdnn_outcome_name(times->outcome) : "timeout", row, times->reason,
                 *times->reason ? ", and " : "too long to measure, and ", reason);
    }
    return false;
}

/* Adds up the times of round `round`. True if all are there or predicted; else a failure, if any, is the
 * visit's outcome. */
static bool add_up(struct compose *compose, size_t task, size_t round, struct pdnn_visit *visit) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    double sum_ns = 0, low_ns = 0, high_ns = 0;
    bool complete = true;
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_operator_use *use = &of->use[i];
        struct pdnn_prediction_of_operator prediction;
        struct pdnn_library_times times;
        bool known = find_times(compose, use->number, &times);
        if (known && times.count > round) {
            prediction.time_ns = prediction.low_ns = prediction.high_ns = times.ns[round];
        } else if (!predict(compose, use->number, &times, visit->ops[use->op].key, &prediction, visit)) {
            complete = false;
            continue;
        }
        visit->ops[use->op].time_ns += prediction.time_ns * use->runs;
        sum_ns += prediction.time_ns * use->runs;
        low_ns += prediction.low_ns * use->runs;
        high_ns += prediction.high_ns * use->runs;
    }
    visit->median_ns = visit->min_ns = visit->mean_ns = visit->stamped_ns = sum_ns;
    visit->p10_ns = low_ns;
    visit->p90_ns = high_ns;
    visit->samples = visit->steps_per_sample = 1;
    return complete;
}

/* Whether all operators of the task have a time of this round. */
static bool is_measured(const struct compose *compose, size_t task, size_t round) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    struct pdnn_library_times times;
    for (size_t i = 0; i < of->count; i++)
        if (!find_times(compose, of->use[i].number, &times) || times.count <= round)
            return false;
    return true;
}

static enum pdnn_status compose_one(struct compose *compose, size_t task, size_t round,
                                    struct pdnn_err *err) {
    const struct pdnn_instance_visits of = listed(compose, task);
    struct pdnn_visit visit = *of.visit;
    enum pdnn_status status = PDNN_OK;
    copy_ops(of.ops, &visit);
    const bool complete = add_up(compose, task, round, &visit);
    visit.flags |= PDNN_FLAG_COMPOSED;
    visit.flags &= complete ? UINT_MAX : ~(unsigned)PDNN_FLAG_PREDICTED;
    visit.started_unix_ms = pdnn_clock_unix_ms();
    if (!complete) {
        free(visit.ops);
        visit.ops = NULL;
        visit.n_ops = visit.samples = 0;
    }
    /* What could not be predicted may be later, when more is measured; until then, it is said once. */
    const struct pdnn_instance_visits had = pdnn_sweep_directory_visits(compose->sweep, task);
    bool is_new = complete || visit.outcome == PDNN_OUTCOME_UNPREDICTED;
    for (size_t i = 0; i < had.count && !complete; i++)
        is_new = is_new &&
                 (had.visit[i].outcome != visit.outcome || strcmp(had.visit[i].reason, visit.reason) != 0);
    if (is_new)
        status = pdnn_sweep_directory_commit(compose->sweep, task, &visit, err);
    pdnn_visit_finish(&visit);
    return status;
}

/* Neighbours are what has been measured by now, in this round where it has. */
static void find_neighbours(struct compose *compose, size_t round) {
    pdnn_neighbours_destroy(compose->neighbours);
    compose->neighbours = pdnn_neighbours_create(&compose->fates.caches);
    for (size_t i = 0; i < compose->operators.keys.count; i++) {
        struct pdnn_library_times times;
        if (compose->measured[i].is_used && find_times(compose, i, &times) && times.count)
            pdnn_neighbours_add(compose->neighbours, compose->operators.keys.text[i],
                                compose->measured[i].floor_ns,
                                times.ns[round < times.count ? round : times.count - 1]);
    }
}

enum pdnn_status pdnn_compose_add_up(struct compose *compose, size_t round, struct pdnn_err *err) {
    find_neighbours(compose, round);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < compose->session->n_tasks && status == PDNN_OK; i++) {
        if (!is_composed(compose->of[i].role))
            continue;
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(compose->sweep, i);
        size_t count = standing.rounds[PDNN_METHOD_COMPOSED];
        /* Visits with predicted times do not count where there are measured ones now. */
        if (!is_measured(compose, i, round))
            count += standing.rounds[PDNN_METHOD_PREDICTED];
        if (count <= round)
            status = compose_one(compose, i, round, err);
    }
    return status;
}

/* A model is large if it needs this many times the last-level cache. */
enum { LARGE = 4 };

/* The nominal level of the intervals. */
#define LEVEL 0.9

struct settle {
    struct compose *compose;
    struct pdnn_texts strata;
    struct pdnn_conformal_case *cases;
    size_t n_cases;
    double *scratch; /* as many as there are cases, or visits to a model */
    int64_t started_unix_ms;
    enum pdnn_status status; /* of the commits; nothing is done any more once it is not PDNN_OK */
    struct pdnn_err *err;
};

/* The rounds of one model: those of measured operators, or if there are none, those with predicted ones. */
struct rounds {
    struct pdnn_instance_visits of;
    enum pdnn_method method;
    const struct pdnn_visit *last; /* NULL: none */
    double median_ns, direct_ns;   /* of the model's own visits; NaN without any */
};

static bool is_one(const struct rounds *rounds, const struct pdnn_visit *visit) {
    return pdnn_visit_is_round(visit) && pdnn_method_of(visit->flags) == rounds->method;
}

static struct rounds find_rounds(const struct settle *settle, size_t task) {
    const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(settle->compose->sweep, task);
    const struct pdnn_standing standing = pdnn_standing_of(of.visit, of.count);
    struct rounds rounds = {.of = of, .method = PDNN_METHOD_PREDICTED};
    size_t count = 0;
    rounds.direct_ns = pdnn_visits_median_ns(of.visit, of.count, PDNN_VISITS_DIRECT, settle->scratch);
    if (standing.rounds[PDNN_METHOD_COMPOSED])
        rounds.method = PDNN_METHOD_COMPOSED;
    for (size_t i = 0; i < of.count; i++) {
        if (!is_one(&rounds, &of.visit[i]))
            continue;
        rounds.last = &of.visit[i];
        settle->scratch[count++] = of.visit[i].median_ns;
    }
    rounds.median_ns = count ? pdnn_median(settle->scratch, count) : NAN;
    return rounds;
}

/* The strata of a model, from the finest. */
static void find_strata(struct settle *settle, size_t task, uint64_t plan_bytes,
                        size_t stratum[PDNN_CONFORMAL_STRATA]) {
    const struct pdnn_session *session = settle->compose->session;
    const struct pdnn_instance *instance = &session->tasks[task].instance;
    const char *family = instance->family->name,
               *mode = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? "train" : "infer";
    uint64_t cache_bytes =
        pdnn_roof_rows_cache_bytes(session->roof_rows, instance->setting[PDNN_SETTING_THREADS]);
    char text[PDNN_CONFORMAL_STRATA][96];
    snprintf(text[0], sizeof text[0], "%s %s %s", family, mode,
             plan_bytes / LARGE < cache_bytes ? "small" : "large");
    snprintf(text[1], sizeof text[1], "%s %s", family, mode);
    snprintf(text[2], sizeof text[2], "%s", mode);
    snprintf(text[3], sizeof text[3], "all");
    for (int i = 0; i < PDNN_CONFORMAL_STRATA; i++)
        stratum[i] = pdnn_texts_add(&settle->strata, text[i]);
}

static void add_to_calibration(struct settle *settle, size_t task, const struct rounds *rounds) {
    struct pdnn_conformal_case *one = &settle->cases[settle->n_cases];
    /* What was predicted says nothing of the method's own error. */
    if (rounds->method == PDNN_METHOD_PREDICTED)
        return;
    find_strata(settle, task, rounds->last->plan_bytes, one->stratum);
    one->score = fabs(rounds->direct_ns / rounds->median_ns - 1);
    settle->n_cases++;
}

/* What was predicted has the error of its rounds beside that of the method. */
static void find_limits(struct settle *settle, size_t task, const struct rounds *rounds, double *low_ns,
                        double *high_ns) {
    size_t stratum[PDNN_CONFORMAL_STRATA];
    const struct pdnn_visit *round = rounds->last;
    find_strata(settle, task, round->plan_bytes, stratum);
    double reach = pdnn_conformal_find(settle->cases, settle->n_cases, stratum, LEVEL, settle->scratch);
    double below = 1 - round->p10_ns / round->median_ns, above = round->p90_ns / round->median_ns - 1;
    reach = isinf(reach) ? 0 : reach;
    *low_ns = rounds->median_ns * (1 - fmin(reach + below, 1));
    *high_ns = rounds->median_ns * (1 + reach + above);
}

/* Whether the visits that were settled last are of these rounds and have these limits. */
static bool is_known(const struct rounds *rounds, double low_ns, double high_ns) {
    const struct pdnn_instance_visits *of = &rounds->of;
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_visit *old = &of->visit[i];
        if (!(old->flags & PDNN_FLAG_SETTLED) || !pdnn_visit_is(old, PDNN_VISITS_COMPOSED, &standing))
            continue;
        if (!(fabs(old->p10_ns - low_ns) + fabs(old->p90_ns - high_ns) <= 1e-6 * rounds->median_ns))
            return false;
        count++;
    }
    return standing.settled_method == rounds->method && count == standing.rounds[rounds->method];
}

/* Each round once more, with limits. */
static void settle_one(struct settle *settle, size_t task, const struct rounds *rounds) {
    double low_ns, high_ns;
    find_limits(settle, task, rounds, &low_ns, &high_ns);
    if (is_known(rounds, low_ns, high_ns))
        return;
    for (size_t i = 0; i < rounds->of.count && settle->status == PDNN_OK; i++) {
        /* A commit may move the visits. */
        const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(settle->compose->sweep, task);
        if (!is_one(rounds, &of.visit[i]))
            continue;
        struct pdnn_visit visit = of.visit[i];
        visit.flags |= PDNN_FLAG_SETTLED;
        visit.started_unix_ms = settle->started_unix_ms;
        visit.p10_ns = low_ns;
        visit.p90_ns = high_ns;
        copy_ops(&of.ops[i], &visit);
        settle->status = pdnn_sweep_directory_commit(settle->compose->sweep, task, &visit, settle->err);
        pdnn_visit_finish(&visit);
    }
}

enum pdnn_status pdnn_compose_settle(struct compose *compose, struct pdnn_err *err) {
    const size_t n_tasks = compose->session->n_tasks;
    struct settle settle = {.compose = compose, .started_unix_ms = pdnn_clock_unix_ms(), .err = err};
    bool *calibrates = pdnn_resize(compose->result->calibrates, n_tasks + 1, sizeof *calibrates);
    compose->result->calibrates = calibrates;
    for (size_t i = 0; i < n_tasks; i++)
        calibrates[i] = compose->of[i].role == ROLE_CALIBRATES;
    const size_t most = pdnn_visits_most(&compose->sweep->journal->known);
    settle.cases = pdnn_alloc(n_tasks + 1, sizeof *settle.cases);
    settle.scratch = pdnn_alloc((n_tasks > most ? n_tasks : most) + 1, sizeof *settle.scratch);
    /* First those that calibrate and have run, then the composed ones, among which are those that were to
     * calibrate and did not run, such as in an interrupted composition. */
    for (int settles = 0; settles < 2; settles++) {
        for (size_t i = 0; i < n_tasks && settle.status == PDNN_OK; i++) {
            if (!is_composed(compose->of[i].role))
                continue;
            const struct rounds rounds = find_rounds(&settle, i);
            bool says = calibrates[i] && !isnan(rounds.direct_ns);
            if (rounds.last && says != settles)
                (settles ? settle_one : add_to_calibration)(&settle, i, &rounds);
        }
    }
    compose->result->calibrated = settle.n_cases;
    pdnn_texts_finish(&settle.strata);
    free(settle.cases);
    free(settle.scratch);
    return settle.status;
}
