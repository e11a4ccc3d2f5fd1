#define _GNU_SOURCE /* qsort_r */
#include "runtime/measure/window_times.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/backend/core_share.h"
#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 256, WARM_RUNS = 2, SHORT_CLOCK_READS = 1000 };

/* A run that takes more than 1 / LONG_SHARE of the time is not repeated for warm-up; one that takes
 * LONG_TIMES the time is repeated LONG_RUNS times, not until there are min_samples. */
enum { LONG_SHARE = 2, LONG_TIMES = 4, LONG_RUNS = 3 };

struct session {
    const struct pdnn_call_window_target *target;
    const struct pdnn_measure_rules *rules;
    uint64_t clock_cost_ns, began_ns, longest_ns;
    uint64_t *call_ns;
    double *runs, *sums; /* RUNS_MAX rows of n_parts; their sums, scratch */
    double *calls_of;    /* by part */
    size_t *order;
    size_t n_runs, n_warm;
    struct pdnn_core_share share;
    struct pdnn_stops stops;
};

static int run_once(struct session *session) {
    const struct pdnn_call_window_target *target = session->target;
    const uint64_t began_ns = pdnn_clock_ns();
    double *row = session->runs + session->n_runs * target->n_parts;
    pdnn_call_window_restore(target->window);
    if (target->evict)
        target->evict(target->user);
    pdnn_core_share_begin(&session->share);
    pdnn_stops_begin(&session->stops);
    int code = pdnn_call_window_run(target->window, session->clock_cost_ns, session->call_ns);
    if (code)
        return code;
    if (pdnn_stops_end(&session->stops, 0) && session->n_runs) /* no run */
        return 0;
    pdnn_core_share_end(&session->share);
    memset(row, 0, target->n_parts * sizeof *row);
    for (size_t i = 0; i < target->window->count; i++)
        if (target->part_of[i] != PDNN_NONE)
            row[target->part_of[i]] += (double)session->call_ns[i] / session->calls_of[target->part_of[i]];
    session->n_runs++;
    uint64_t took_ns = pdnn_clock_ns() - began_ns;
    session->longest_ns = took_ns > session->longest_ns ? took_ns : session->longest_ns;
    return 0;
}

/* What stops took does not count. */
static uint64_t passed(const struct session *session) {
    return pdnn_clock_ns() - session->began_ns - session->stops.lost_ns;
}

static int warm_up(struct session *session) {
    for (int i = 0; i < WARM_RUNS; i++) {
        if (i && passed(session) * LONG_SHARE > session->rules->max_visit_ns)
            break;
        int code = run_once(session);
        if (code)
            return code;
        session->n_runs = 0;
        session->share = (struct pdnn_core_share){.team = session->target->team};
        session->stops = (struct pdnn_stops){0};
        session->n_warm++;
    }
    session->longest_ns = 0;
    return 0;
}

static double sum_of(const struct session *session, size_t run) {
    double sum = 0;
    for (size_t i = 0; i < session->target->n_parts; i++)
        sum += session->runs[run * session->target->n_parts + i];
    return sum;
}

static bool is_precise(const struct session *session) {
    for (size_t i = 0; i < session->n_runs; i++)
        session->sums[i] = sum_of(session, i);
    double median = pdnn_median(session->sums, session->n_runs);
    double reach = median * session->rules->precision;
    return pdnn_quantile_sorted(session->sums, session->n_runs, 0.25) >= median - reach &&
           pdnn_quantile_sorted(session->sums, session->n_runs, 0.75) <= median + reach;
}

static int take_runs(struct session *session, enum pdnn_stop *stop) {
    const struct pdnn_measure_rules *rules = session->rules;
    for (;;) {
        int code = run_once(session);
        if (code)
            return code;
        bool is_up = passed(session) >= rules->max_visit_ns;
        bool is_enough =
            session->n_runs >= rules->min_samples ||
            (is_up && session->n_runs >= LONG_RUNS && session->longest_ns > LONG_TIMES * rules->max_visit_ns);
        if (rules->time_limit_ns && passed(session) + session->longest_ns > rules->time_limit_ns)
            *stop = PDNN_STOP_TIME_LIMIT;
        else if (session->n_runs == RUNS_MAX)
            *stop = PDNN_STOP_SAMPLES;
        else if (is_enough && is_up)
            *stop = PDNN_STOP_MAX_TIME;
        else if (is_enough && session->n_runs % 5 == 0 && is_precise(session))
            *stop = PDNN_STOP_PRECISION;
        else
            continue;
        return 0;
    }
}

static int compare(const void *a, const void *b, void *user) {
    const double *sums = user;
    double x = sums[*(const size_t *)a], y = sums[*(const size_t *)b];
    return (x > y) - (x < y);
}

void pdnn_middle_means(const double *runs, size_t n_runs, size_t n_parts, double *sums, size_t *order,
                       struct pdnn_part_time *times) {
    for (size_t run = 0; run < n_runs; run++) {
        order[run] = run;
        sums[run] = 0;
        for (size_t i = 0; i < n_parts; i++)
            sums[run] += runs[run * n_parts + i];
    }
    qsort_r(order, n_runs, sizeof *order, compare, sums);
    size_t from = (n_runs + 1) / 4, to = n_runs - from;
    for (size_t i = 0; i < n_parts; i++) {
        struct pdnn_part_time *time = &times[i];
        *time = (struct pdnn_part_time){0, runs[i], 0};
        for (size_t k = from; k < to; k++)
            time->ns += runs[order[k] * n_parts + i] / (double)(to - from);
        for (size_t run = 0; run < n_runs; run++) {
            double ns = runs[run * n_parts + i];
            time->min_ns = ns < time->min_ns ? ns : time->min_ns;
        }
    }
}

static void summarize(struct session *session, struct pdnn_part_time *times, struct pdnn_visit *visit) {
    size_t n_parts = session->target->n_parts, n_runs = session->n_runs;
    double *deviations = session->runs + RUNS_MAX * n_parts;
    pdnn_middle_means(session->runs, n_runs, n_parts, session->sums, session->order, times);
    visit->median_ns = visit->min_ns = 0;
    for (size_t i = 0; i < n_parts; i++) {
        for (size_t run = 0; run < n_runs; run++)
            session->sums[run] = session->runs[run * n_parts + i];
        times[i].mad_ns = pdnn_mad(session->sums, n_runs, times[i].ns, deviations);
        visit->median_ns += times[i].ns;
        visit->min_ns += times[i].min_ns;
    }
    visit->samples = n_runs;
    visit->steps_per_sample = 1;
    visit->warmups = session->n_warm;
    if (pdnn_core_share_is_low(pdnn_core_share_of(&session->share, session->target->threads)))
        visit->flags |= PDNN_FLAG_PREEMPTED;
    if (session->longest_ns < SHORT_CLOCK_READS * session->clock_cost_ns)
        visit->flags |= PDNN_FLAG_SHORT;
}

static void reserve(struct session *session) {
    const struct pdnn_call_window_target *target = session->target;
    size_t n_parts = target->n_parts;
    session->call_ns = pdnn_alloc(target->window->count, sizeof *session->call_ns);
    session->runs = pdnn_alloc((n_parts + 1) * (RUNS_MAX + 1), sizeof *session->runs);
    session->sums = pdnn_alloc(RUNS_MAX, sizeof *session->sums);
    session->order = pdnn_alloc(RUNS_MAX, sizeof *session->order);
    session->calls_of = pdnn_alloc(n_parts, sizeof *session->calls_of);
    for (size_t i = 0; i < target->window->count; i++)
        if (target->part_of[i] != PDNN_NONE)
            session->calls_of[target->part_of[i]]++;
}

enum pdnn_status pdnn_call_window_measure(const struct pdnn_call_window_target *target,
                                          const struct pdnn_measure_rules *rules,
                                          struct pdnn_part_time *times, struct pdnn_visit *visit,
                                          struct pdnn_err *err) {
    struct session session = {.target = target, .rules = rules, .share.team = target->team};
    enum pdnn_status status = PDNN_OK;
    reserve(&session);
    session.clock_cost_ns = pdnn_clock_read_cost_ns();
    session.began_ns = pdnn_clock_ns();
    int code = warm_up(&session);
    if (code == 0)
        code = take_runs(&session, &visit->stop);
    if (code)
        status = pdnn_fail(err, PDNN_INTERNAL, "a kernel call failed with code %d", code);
    else
        summarize(&session, times, visit);
    free(session.call_ns);
    free(session.runs);
    free(session.sums);
    free(session.order);
    free(session.calls_of);
    return status;
}
