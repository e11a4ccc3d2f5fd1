#define _GNU_SOURCE /* qsort_r */
/* What a deadline leaves time for: which tasks a sweep begins, so that those it begins get all their rounds.
 */
#include "base/memory.h"
#include "runtime/driver/sweep/sweep_schedule.h"

#include <math.h>
#include <stdlib.h>

/* As long as there are others, one instance takes this part of the time at most. */
enum { SPREAD_LEAST = 16 };

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A Kronecker sequence: whatever its length, the first tasks lie evenly among all, and since neighbours in it
 * are far apart by a number coprime to that of the tasks, every value of every axis comes equally often. */
static void order_by_spread(uint32_t *order, size_t count, uint64_t seed) {
    const double golden = 0.6180339887498949;
    uint64_t step = count > 2 ? (uint64_t)((double)count * golden) : 1, at = count ? seed % count : 0;
    while (gcd(step, count) > 1)
        step++;
    for (size_t i = 0; i < count; i++, at = (at + step) % count)
        order[i] = (uint32_t)at;
}

static int by_length(const void *left, const void *right, void *user) {
    const struct pdnn_schedule *schedule = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct pdnn_task *one = &schedule->tasks[a], *other = &schedule->tasks[b];
    if (one->visit_ns != other->visit_ns)
        return one->visit_ns < other->visit_ns ? -1 : 1;
    if (one->flop_count != other->flop_count)
        return one->flop_count < other->flop_count ? -1 : 1;
    return (a > b) - (a < b);
}

static void order_by_length(struct pdnn_schedule *schedule) {
    for (size_t i = 0; i < schedule->n_tasks; i++)
        schedule->reach[i] = (uint32_t)i;
    qsort_r(schedule->reach, schedule->n_tasks, sizeof *schedule->reach, by_length, schedule);
}

void pdnn_schedule_reach(struct pdnn_schedule *schedule) {
    size_t count = schedule->n_tasks;
    if (!schedule->rules->deadline_ns)
        return;
    schedule->reach = pdnn_alloc(count + 1, sizeof *schedule->reach);
    if (schedule->rules->reach == PDNN_REACH_SMALLEST)
        order_by_length(schedule);
    else
        order_by_spread(schedule->reach, count, schedule->rules->request.seed);
}

static bool is_begun(const struct pdnn_schedule_task *task) {
    return task->visits || task->walls;
}

/* Time for the rest of the task's rounds. */
static double rounds_ns(const struct pdnn_schedule *schedule, size_t task) {
    size_t rounds = schedule->rules->rounds > 0 ? (size_t)schedule->rules->rounds : 1;
    size_t visits = schedule->state[task].visits;
    return visits < rounds ? (double)(rounds - visits) * (double)pdnn_schedule_wall_ns(schedule, task) : 0;
}

/* Lets tasks begin, in their order, that take `most_ns` at most, and takes their time from *room_ns. */
static void admit(struct pdnn_schedule *schedule, double most_ns, double *room_ns) {
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        struct pdnn_schedule_task *task = &schedule->state[schedule->reach[i]];
        double need_ns = task->waits ? rounds_ns(schedule, schedule->reach[i]) : 0;
        if (!task->waits || need_ns > *room_ns || need_ns > most_ns)
            continue;
        task->waits = false;
        schedule->n_waiting--;
        *room_ns -= need_ns;
    }
}

/* Lets the first task begin that has time for a single visit. */
static void admit_one(struct pdnn_schedule *schedule, double left_ns) {
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        struct pdnn_schedule_task *task = &schedule->state[schedule->reach[i]];
        if (!task->waits || (double)pdnn_schedule_wall_ns(schedule, schedule->reach[i]) > left_ns)
            continue;
        task->waits = false;
        schedule->n_waiting--;
        return;
    }
}

void pdnn_schedule_plan(struct pdnn_schedule *schedule, uint64_t left_ns) {
    double room_ns = (double)left_ns;
    uint64_t rounds = schedule->rules->rounds > 0 ? (uint64_t)schedule->rules->rounds : 1;
    if (!schedule->most_visit_ns)
        schedule->most_visit_ns = left_ns / SPREAD_LEAST / rounds + 1;
    size_t n_begun = 0, n_waited;
    schedule->n_waiting = 0;
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        struct pdnn_schedule_task *task = &schedule->state[i];
        task->waits = !task->closed && !task->passed_over && !is_begun(task);
        schedule->n_waiting += task->waits;
        if (task->closed || task->passed_over || task->waits)
            continue;
        double need_ns = rounds_ns(schedule, i);
        room_ns -= need_ns;
        n_begun += need_ns > 0;
    }
    n_waited = schedule->n_waiting;
    if (schedule->rules->reach == PDNN_REACH_SPREAD)
        admit(schedule, (double)left_ns / SPREAD_LEAST, &room_ns);
    admit(schedule, INFINITY, &room_ns);
    if (!n_begun && n_waited && schedule->n_waiting == n_waited)
        admit_one(schedule, (double)left_ns);
}

size_t pdnn_sweep_reach(const struct pdnn_task *tasks, size_t n_tasks, const struct pdnn_sweep_rules *rules,
                        uint64_t left_ns) {
    struct pdnn_schedule schedule;
    size_t count = 0;
    pdnn_schedule_init(&schedule, tasks, n_tasks, rules);
    pdnn_schedule_plan(&schedule, left_ns);
    for (size_t i = 0; i < n_tasks; i++)
        count += !schedule.state[i].closed && !schedule.state[i].waits;
    pdnn_schedule_finish(&schedule);
    return count;
}

bool pdnn_schedule_is_waiting(const struct pdnn_schedule *schedule) {
    return schedule->n_waiting > 0;
}
