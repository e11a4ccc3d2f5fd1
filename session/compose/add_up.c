/* A stage of a composition: visits of models, as sums of a round's times of their operators. */
#include "base/clock.h"
#include "base/memory.h"
#include "session/compose/state.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pdnn_compose_copy_ops(const struct pdnn_measured_ops *ops, struct pdnn_visit *visit) {
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
    }
}

/* An operator that has no time of its own. Fails if it cannot be measured either; then that is the visit's
 * outcome. */
static bool predict(struct compose *compose, size_t number, const struct pdnn_library_times *times,
                    const char *row, struct pdnn_prediction_of_operator *prediction,
                    struct pdnn_visit *visit) {
    const struct pdnn_choose_operator *one = &compose->fates.choose.operators[number];
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

/* Adds up the times of round `round`. *complete: all are there or predicted; else a failure, if any, is the
 * visit's outcome. */
static void add_up(struct compose *compose, size_t task, size_t round, struct pdnn_visit *visit,
                   bool *complete) {
    const struct pdnn_task_operators *of = &compose->operators.tasks[task];
    double sum_ns = 0, low_ns = 0, high_ns = 0;
    *complete = true;
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_operator_use *use = &of->use[i];
        struct pdnn_prediction_of_operator prediction;
        struct pdnn_library_times times;
        bool known = find_times(compose, use->number, &times);
        if (known && times.count > round) {
            prediction.time_ns = prediction.low_ns = prediction.high_ns = times.ns[round];
        } else if (!predict(compose, use->number, &times, visit->ops[use->op].key, &prediction, visit)) {
            *complete = false;
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

/* What could not be predicted may be later, when more is measured; until then, it is said once. */
static bool is_said(const struct compose *compose, size_t task, const struct pdnn_visit *visit) {
    const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(compose->sweep, task);
    for (size_t i = 0; i < of.count; i++)
        if (of.visit[i].outcome == visit->outcome && strcmp(of.visit[i].reason, visit->reason) == 0)
            return true;
    return false;
}

static enum pdnn_status compose_one(struct compose *compose, size_t task, size_t round,
                                    struct pdnn_err *err) {
    const struct pdnn_instance_visits of = listed(compose, task);
    struct pdnn_visit visit = *of.visit;
    bool complete;
    enum pdnn_status status = PDNN_OK;
    pdnn_compose_copy_ops(of.ops, &visit);
    add_up(compose, task, round, &visit, &complete);
    visit.flags |= PDNN_FLAG_COMPOSED;
    visit.flags &= complete ? UINT_MAX : ~(unsigned)PDNN_FLAG_PREDICTED;
    visit.started_unix_ms = pdnn_clock_unix_ms();
    if (!complete) {
        free(visit.ops);
        visit.ops = NULL;
        visit.n_ops = visit.samples = 0;
    }
    bool has_failed = visit.outcome == PDNN_OUTCOME_UNPREDICTED;
    if (complete || (has_failed && !is_said(compose, task, &visit)))
        status = pdnn_sweep_directory_commit(compose->sweep, task, &visit, err);
    pdnn_visit_finish(&visit);
    return status;
}

/* Neighbours are what has been measured by now, in this round where it has. */
static void find_neighbours(struct compose *compose, size_t round) {
    const struct pdnn_compose_choice *fates = &compose->fates;
    pdnn_neighbours_destroy(compose->neighbours);
    compose->neighbours = pdnn_neighbours_create(&fates->caches, fates->choose.extrapolate);
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
