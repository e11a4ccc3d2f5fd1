#define _GNU_SOURCE /* qsort_r */
#include "runtime/driver/sweep/sweep_schedule.h"

#include "base/memory.h"
#include "base/rng.h"
#include "runtime/driver/sweep/sweep_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Predictions count as if they had been right for this long: the first few short visits say little. */
static const double trust_ns = 10e9;

static size_t least_visits(const struct pdnn_schedule *schedule) {
    return schedule->rules->rounds > 0 ? (size_t)schedule->rules->rounds : 1;
}

/* Makes room for `count` medians in the task and in the scratch. */
static void make_room(struct pdnn_schedule *schedule, struct pdnn_schedule_task *task, size_t count) {
    if (count > task->room) {
        size_t room = count + least_visits(schedule);
        task->medians = pdnn_resize(task->medians, room, sizeof *task->medians);
        task->room = room;
    }
    if (count > schedule->scratch_room) {
        schedule->scratch = pdnn_resize(schedule->scratch, 2 * count, sizeof *schedule->scratch);
        schedule->scratch_room = 2 * count;
    }
}

/* Sampling time that one pass adds to a task's budget; a round has PDNN_SCHEDULE_EXTRA passes. */
static uint64_t pass_ns(const struct pdnn_schedule *schedule) {
    return schedule->rules->max_time_ns / (PDNN_SCHEDULE_EXTRA * least_visits(schedule));
}

/* Whether the budget of this many passes has room for an extra visit. */
static bool has_time(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task,
                     size_t passes) {
    return task->spent_ns + pass_ns(schedule) <= pass_ns(schedule) * passes;
}

static struct pdnn_scatter scatter_of(const struct pdnn_schedule *schedule,
                                      const struct pdnn_schedule_task *task) {
    memcpy(schedule->scratch, task->medians, task->visits * sizeof *task->medians);
    return pdnn_visits_scatter(schedule->scratch, task->visits);
}

/* A single visit has no interval, and a sweep with one round wants no extra visits. Once the rounds are done,
 * a task ends only at planned looks, after every further `rounds` visits. Looking after each visit would stop
 * when the visits happen to agree, and the interval would be too narrow. */
static bool wants_extra(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task) {
    size_t least = least_visits(schedule), passes = PDNN_SCHEDULE_EXTRA * least;
    if (least < 2 || task->visits < 2 || task->visits >= passes || !has_time(schedule, task, passes))
        return false;
    if (task->visits > least && task->visits % least != 0)
        return true;
    struct pdnn_interval interval =
        pdnn_visits_interval(task->medians, task->visits, schedule->pool, schedule->scratch);
    return interval.high - interval.low > 2 * schedule->rules->request.rules.precision * interval.center;
}

/* Pools the scatters of all tasks and decides with that pool which of them are done. A sweep ends after such
 * a decision on all its visits, so that a rerun, which begins with the same one, adds none. */
static void decide_all(struct pdnn_schedule *schedule) {
    if (schedule->rules->paired) /* groups are judged visit by visit */
        return;
    for (size_t i = 0; i < schedule->n_tasks; i++)
        schedule->scatters[i] = schedule->state[i].scatter;
    schedule->pool = pdnn_scatter_pool(schedule->scatters, schedule->n_tasks);
    for (size_t i = 0; i < schedule->n_tasks; i++)
        schedule->state[i].wide = !schedule->state[i].closed && wants_extra(schedule, &schedule->state[i]);
}

/* As long as others wait, a group gets no more than its rounds. */
static bool group_is_open(const struct pdnn_schedule *schedule, size_t task) {
    const struct pdnn_paired_group *group = pdnn_paired_group_of(&schedule->groups, task);
    return group->is_open && !(schedule->n_waiting && group->has_rounds);
}

static bool is_open(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task) {
    if (schedule->rules->paired)
        return !task->closed && !task->passed_over && !task->waits &&
               group_is_open(schedule, (size_t)(task - schedule->state));
    bool may_have_extra = task->wide && !schedule->n_waiting;
    return !task->closed && !task->passed_over && !task->waits &&
           (task->visits < least_visits(schedule) || may_have_extra);
}

/* In the first pass of a round, each open task gets the visit that the round requires. */
static bool is_due_by_rounds(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task) {
    size_t round = (schedule->pass - 1) / PDNN_SCHEDULE_EXTRA + 1;
    return task->visits < least_visits(schedule) && task->visits < round;
}

/* Extra visits come in any pass, provided that their time and number stay in step with the sweep. If all of
 * them came at the end, they would measure the machine as it is in the last seconds. */
static bool is_due(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task) {
    if (!is_open(schedule, task))
        return false;
    if (schedule->rules->paired) {
        const size_t at = (size_t)(task - schedule->state), turns = schedule->groups.side[at].n_turns;
        return turns < pdnn_paired_group_of(&schedule->groups, at)->round && turns < schedule->pass;
    }
    return is_due_by_rounds(schedule, task) ||
           (task->wide && !schedule->n_waiting && task->visits < schedule->pass &&
            has_time(schedule, task, schedule->pass));
}

/* Equal ones in the order of the spec. */
static int by_cost(const void *left, const void *right, void *user) {
    const struct pdnn_schedule *schedule = user;
    const struct pdnn_task *tasks = schedule->tasks;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (tasks[a].flop_count != tasks[b].flop_count)
        return tasks[a].flop_count < tasks[b].flop_count ? -1 : 1;
    return (a > b) - (a < b);
}

/* The order depends only on seed and pass, not on what has been visited. The first pass begins the tasks. */
static void begin_pass(struct pdnn_schedule *schedule) {
    schedule->pass++;
    schedule->next = 0;
    if (schedule->rules->paired) {
        pdnn_paired_order(&schedule->groups, schedule->pass, schedule->spread, schedule->order);
        return;
    }
    const uint32_t *from = schedule->rules->cost_order ? schedule->by_cost : schedule->spread;
    memcpy(schedule->order, from, schedule->n_tasks * sizeof *schedule->order);
    if (schedule->rules->cost_order || schedule->pass == 1)
        return;
    struct pdnn_rng rng = {pdnn_rng_at(schedule->rules->request.seed, schedule->pass), 0};
    pdnn_rng_shuffle(&rng, schedule->order, schedule->n_tasks, sizeof *schedule->order);
}

static void take_up(struct pdnn_schedule *schedule, size_t index) {
    const struct pdnn_task *from = &schedule->tasks[index];
    struct pdnn_schedule_task *task = &schedule->state[index];
    for (size_t i = 0; i < from->crashes; i++)
        pdnn_standing_add(&task->standing, &(struct pdnn_visit){.outcome = PDNN_OUTCOME_CRASH});
    task->spent_ns = from->spent_ns;
    task->closed = from->closed || pdnn_standing_is_final(&task->standing);
    if (!from->visits_done)
        return;
    make_room(schedule, task, from->visits_done);
    task->visits = from->visits_done;
    memcpy(task->medians, from->medians, task->visits * sizeof *task->medians);
    task->scatter = scatter_of(schedule, task);
}

static void order_by_spread(struct pdnn_schedule *schedule) {
    const size_t count = schedule->n_tasks;
    const struct pdnn_instance **instances = pdnn_alloc(count + 1, sizeof *instances);
    for (size_t i = 0; i < count; i++)
        instances[i] = &schedule->tasks[i].instance;
    pdnn_sweep_spread(instances, count, schedule->rules->request.seed, schedule->spread);
    free(instances);
}

static int by_length(const void *left, const void *right, void *user) {
    const struct pdnn_task *tasks = ((const struct pdnn_schedule *)user)->tasks;
    uint64_t a = tasks[*(const uint32_t *)left].visit_ns, b = tasks[*(const uint32_t *)right].visit_ns;
    return a != b ? (a < b ? -1 : 1) : by_cost(left, right, user);
}

static void order_by_length(struct pdnn_schedule *schedule) {
    memcpy(schedule->reach, schedule->by_cost, schedule->n_tasks * sizeof *schedule->reach);
    qsort_r(schedule->reach, schedule->n_tasks, sizeof *schedule->reach, by_length, schedule);
}

/* Sets the order in which tasks are begun if there is a deadline. */
static void find_reach(struct pdnn_schedule *schedule) {
    if (!schedule->rules->deadline_ns)
        return;
    schedule->reach = pdnn_alloc(schedule->n_tasks + 1, sizeof *schedule->reach);
    if (schedule->rules->reach == PDNN_REACH_SMALLEST)
        order_by_length(schedule);
    else
        memcpy(schedule->reach, schedule->spread, schedule->n_tasks * sizeof *schedule->reach);
}

/* In paired order, with the earlier visits. */
static void form_groups(struct pdnn_schedule *schedule) {
    const struct pdnn_sweep_rules *rules = schedule->rules;
    const struct pdnn_paired_rules made = {.rounds = least_visits(schedule),
                                           .precision = rules->request.rules.precision,
                                           .max_time_ns = rules->max_time_ns,
                                           .seed = rules->request.seed,
                                           .shards = rules->shards ? rules->shards : 1};
    size_t *numbers = pdnn_alloc(schedule->n_tasks + 1, sizeof *numbers);
    for (size_t i = 0; i < schedule->n_tasks; i++)
        numbers[i] = schedule->tasks[i].group;
    if (rules->paired)
        pdnn_paired_init(&schedule->groups, &made, numbers, schedule->n_tasks);
    free(numbers);
    for (size_t i = 0; i < schedule->n_tasks && rules->paired; i++) {
        const struct pdnn_task *task = &schedule->tasks[i];
        for (size_t turn = 0; turn < task->n_turns; turn++)
            pdnn_paired_add(&schedule->groups, i, task->turns[turn], turn ? 0 : task->spent_ns);
        if (schedule->state[i].closed)
            pdnn_paired_end(&schedule->groups, i);
    }
    for (size_t i = 0; i < schedule->n_tasks && rules->paired; i++)
        pdnn_paired_judge(&schedule->groups, i, true);
}

void pdnn_schedule_init(struct pdnn_schedule *schedule, const struct pdnn_task *tasks, size_t n_tasks,
                        const struct pdnn_sweep_rules *rules) {
    struct pdnn_schedule made = {.tasks = tasks, .rules = rules, .n_tasks = n_tasks};
    size_t room = n_tasks ? n_tasks : 1;
    made.state = pdnn_alloc(room, sizeof *made.state);
    made.order = pdnn_alloc(room, sizeof *made.order);
    made.by_cost = pdnn_alloc(room, sizeof *made.by_cost);
    made.spread = pdnn_alloc(room, sizeof *made.spread);
    made.scatters = pdnn_alloc(room, sizeof *made.scatters);
    for (size_t i = 0; i < n_tasks; i++) {
        made.by_cost[i] = (uint32_t)i;
        take_up(&made, i);
    }
    order_by_spread(&made);
    find_reach(&made);
    form_groups(&made);
    decide_all(&made);
    qsort_r(made.by_cost, n_tasks, sizeof *made.by_cost, by_cost, &made);
    made.next = n_tasks;
    *schedule = made;
}

void pdnn_schedule_finish(struct pdnn_schedule *schedule) {
    for (size_t i = 0; schedule->state && i < schedule->n_tasks; i++)
        free(schedule->state[i].medians);
    pdnn_paired_finish(&schedule->groups);
    free(schedule->state);
    free(schedule->order);
    free(schedule->by_cost);
    free(schedule->spread);
    free(schedule->reach);
    free(schedule->scatters);
    free(schedule->scratch);
    *schedule = (struct pdnn_schedule){0};
}

static bool any_open(const struct pdnn_schedule *schedule) {
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        if (is_open(schedule, &schedule->state[i]))
            return true;
    }
    return false;
}

bool pdnn_schedule_next(struct pdnn_schedule *schedule, size_t *task) {
    for (;;) {
        while (schedule->next < schedule->n_tasks) {
            uint32_t candidate = schedule->order[schedule->next++];
            if (is_due(schedule, &schedule->state[candidate])) {
                *task = candidate;
                return true;
            }
        }
        decide_all(schedule);
        if (!any_open(schedule))
            return false;
        begin_pass(schedule);
    }
}

uint64_t pdnn_schedule_visit_ns(const struct pdnn_schedule *schedule, size_t task) {
    const struct pdnn_schedule_task *state = &schedule->state[task];
    uint64_t share = schedule->rules->max_time_ns / least_visits(schedule);
    if (schedule->rules->paired) {
        share /= pdnn_paired_group_of(&schedule->groups, task)->n;
        share = share < PDNN_SCHEDULE_PAIRED_NS ? share : PDNN_SCHEDULE_PAIRED_NS;
    }
    if (schedule->n_waiting && schedule->most_visit_ns < share)
        share = schedule->most_visit_ns;
    uint64_t given = pass_ns(schedule) * schedule->pass;
    uint64_t left = given > state->spent_ns ? given - state->spent_ns : 0;
    /* A visit required by the rounds gets its full share, whatever has been spent; an extra visit gets what
     * is left of the budget so far. */
    return !schedule->rules->paired && !is_due_by_rounds(schedule, state) && left < share ? left : share;
}

bool pdnn_schedule_is_first(const struct pdnn_schedule *schedule, size_t task) {
    return !schedule->rules->paired || !pdnn_paired_group_of(&schedule->groups, task)->is_within;
}

void pdnn_schedule_pass_over(struct pdnn_schedule *schedule, size_t task) {
    const struct pdnn_paired_group *group =
        schedule->rules->paired ? pdnn_paired_group_of(&schedule->groups, task) : NULL;
    schedule->state[task].passed_over = true;
    for (size_t k = 0; group && k < group->n; k++)
        schedule->state[group->member[k]].passed_over = true;
}

void pdnn_schedule_note(struct pdnn_schedule *schedule, size_t task, const struct pdnn_visit *visit,
                        uint64_t wall_ns) {
    struct pdnn_schedule_task *state = &schedule->state[task];
    uint64_t predicted_ns = schedule->tasks[task].visit_ns;
    state->wall_ns += wall_ns;
    state->walls++;
    schedule->wall_ns += predicted_ns ? wall_ns : 0;
    schedule->predicted_ns += predicted_ns;
    pdnn_standing_add(&state->standing, visit);
    state->closed = pdnn_standing_is_final(&state->standing);
    const uint64_t spent_ns =
        visit->outcome == PDNN_OUTCOME_OK
            ? (uint64_t)(visit->mean_ns * (double)visit->samples * (double)visit->steps_per_sample)
            : 0;
    if (visit->outcome == PDNN_OUTCOME_OK) {
        make_room(schedule, state, state->visits + 1);
        state->medians[state->visits++] = visit->median_ns;
        state->spent_ns += spent_ns;
    }
    if (schedule->rules->paired) {
        pdnn_paired_add(&schedule->groups, task, pdnn_turn_of(visit), spent_ns);
        if (state->closed)
            pdnn_paired_end(&schedule->groups, task);
        pdnn_paired_judge(&schedule->groups, task, false);
    } else if (visit->outcome == PDNN_OUTCOME_OK) {
        state->scatter = scatter_of(schedule, state);
        state->wide = wants_extra(schedule, state);
    }
}

size_t pdnn_schedule_unfinished(const struct pdnn_schedule *schedule) {
    size_t count = 0;
    for (size_t i = 0; i < schedule->n_tasks; i++)
        count += !schedule->state[i].closed && schedule->state[i].visits < least_visits(schedule);
    return count;
}

/* Visits still to come: the missing rounds, or one extra, since nobody knows whether one will be enough. */
static size_t visits_to_come(const struct pdnn_schedule *schedule, const struct pdnn_schedule_task *task) {
    if (!is_open(schedule, task))
        return 0;
    return task->visits < least_visits(schedule) ? least_visits(schedule) - task->visits : 1;
}

/* Mean wall time of the task's visits in this run, 0 if there were none. */
static double mean_wall_ns(const struct pdnn_schedule_task *task) {
    return task->walls ? (double)task->wall_ns / (double)task->walls : 0;
}

uint64_t pdnn_schedule_wall_ns(const struct pdnn_schedule *schedule, size_t task) {
    double own_ns = mean_wall_ns(&schedule->state[task]);
    double scale = ((double)schedule->wall_ns + trust_ns) / ((double)schedule->predicted_ns + trust_ns);
    double limit_ns = schedule->rules->time_limit_ns ? (double)schedule->rules->time_limit_ns : 1e18;
    double expected_ns = own_ns > 0 ? own_ns : scale * (double)schedule->tasks[task].visit_ns;
    return (uint64_t)(expected_ns < limit_ns ? expected_ns : limit_ns);
}

uint64_t pdnn_schedule_turn_ns(const struct pdnn_schedule *schedule, size_t task) {
    const struct pdnn_paired_group *group =
        schedule->rules->paired ? pdnn_paired_group_of(&schedule->groups, task) : NULL;
    uint64_t sum_ns = group ? 0 : pdnn_schedule_wall_ns(schedule, task);
    for (size_t k = 0; group && k < group->n; k++)
        if (is_due(schedule, &schedule->state[group->member[k]]))
            sum_ns += pdnn_schedule_wall_ns(schedule, group->member[k]);
    return sum_ns;
}

/* What a visit takes as far as is known: see pdnn_schedule_wall_ns. */
static double expected_ns(const struct pdnn_schedule *schedule, size_t task) {
    double own_ns = mean_wall_ns(&schedule->state[task]);
    return own_ns > 0 ? own_ns : (double)pdnn_schedule_wall_ns(schedule, task);
}

/* What visits beyond those to come are likely to take, by the prediction and what others took: all that is
 * predicted as long as the rounds are not over, and of one whose interval is wide the part that is left. */
static double likely_extra_ns(const struct pdnn_schedule *schedule, size_t task) {
    const struct pdnn_schedule_task *state = &schedule->state[task];
    const size_t least = least_visits(schedule), passes = PDNN_SCHEDULE_EXTRA * least;
    const double predicted_ns = (double)schedule->tasks[task].visit_ns;
    if (!is_open(schedule, state) || !(predicted_ns > 0) || least < 2)
        return 0;
    const double scale = expected_ns(schedule, task) / predicted_ns,
                 all_ns = scale * (double)schedule->tasks[task].extra_ns;
    if (state->visits < least)
        return all_ns;
    if (schedule->rules->paired)
        return 0;
    const double left_ns = all_ns * (double)(passes - state->visits) / (double)(passes - least);
    return fmax(left_ns - expected_ns(schedule, task), 0);
}

/* An instance without a visit takes as long as predicted, if there is a prediction, scaled by what others
 * took; or as long as the nearest ones by FLOP, below and above. Scaling with FLOP would be far off: most
 * visits end by their rules, not by the amount of work. */
void pdnn_schedule_progress(const struct pdnn_schedule *schedule, uint64_t left_ns,
                            struct pdnn_sweep_progress *progress) {
    double eta_ns = 0, below_ns = 0, most_ns = left_ns == UINT64_MAX ? INFINITY : (double)left_ns;
    size_t done = 0, to_come = 0, unknown = 0;
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        const struct pdnn_schedule_task *task = &schedule->state[schedule->by_cost[i]];
        size_t more = visits_to_come(schedule, task);
        double wall_ns = expected_ns(schedule, schedule->by_cost[i]);
        done += task->visits;
        to_come += more;
        if (wall_ns <= 0) {
            unknown += more;
            continue;
        }
        eta_ns += wall_ns * (double)more + likely_extra_ns(schedule, schedule->by_cost[i]);
        eta_ns += (double)unknown * (below_ns > 0 ? (below_ns + wall_ns) / 2 : wall_ns);
        unknown = 0;
        below_ns = wall_ns;
    }
    eta_ns += (double)unknown * below_ns;
    bool is_known = below_ns > 0 || !to_come;
    eta_ns = schedule->n_waiting || eta_ns > most_ns ? most_ns : eta_ns;
    progress->visits_done = done;
    progress->visits_planned = done + to_come;
    progress->eta_seconds = is_known || schedule->n_waiting ? eta_ns / 1e9 : -1;
}

/* What a deadline leaves time for: which tasks a sweep begins, so that those it begins get all their rounds.
 */

static bool is_begun(const struct pdnn_schedule_task *task) {
    return task->visits || task->walls;
}

/* Time for the rest of the task's rounds. */
static double rounds_ns(const struct pdnn_schedule *schedule, size_t task) {
    size_t rounds = least_visits(schedule), visits = schedule->state[task].visits;
    return visits < rounds ? (double)(rounds - visits) * (double)pdnn_schedule_wall_ns(schedule, task) : 0;
}

/* The tasks that begin with this one: its group, or only itself. */
static size_t list_together(const struct pdnn_schedule *schedule, const uint32_t *task,
                            const uint32_t **together) {
    const struct pdnn_paired_group *group =
        schedule->rules->paired ? pdnn_paired_group_of(&schedule->groups, *task) : NULL;
    *together = group ? group->member : task;
    return group ? group->n : 1;
}

/* Time for the rounds of the task and what begins with it. */
static double begin_ns(const struct pdnn_schedule *schedule, const uint32_t *task) {
    const uint32_t *together;
    const size_t count = list_together(schedule, task, &together);
    double sum_ns = 0;
    for (size_t k = 0; k < count; k++)
        sum_ns += schedule->state[together[k]].closed ? 0 : rounds_ns(schedule, together[k]);
    return sum_ns;
}

static void admit(struct pdnn_schedule *schedule, const uint32_t *task, double *room_ns) {
    const uint32_t *together;
    const size_t count = list_together(schedule, task, &together);
    *room_ns -= begin_ns(schedule, task);
    for (size_t k = 0; k < count; k++) {
        schedule->n_waiting -= schedule->state[together[k]].waits;
        schedule->state[together[k]].waits = false;
    }
}

/* Whether some visit was made to the task or to what begins with it. */
static bool has_begun(const struct pdnn_schedule *schedule, uint32_t task) {
    const uint32_t *together;
    const size_t count = list_together(schedule, &task, &together);
    bool begun = false;
    for (size_t k = 0; k < count; k++)
        begun = begun || is_begun(&schedule->state[together[k]]);
    return begun;
}

/* Lets tasks begin, in their order, that take a small part of the time, up to the first of them that there is
 * no room for: with shorter ones in its place, those begun would not be a sample of all. False then; room is
 * less than that part, and nothing longer fits either. */
static bool admit_short(struct pdnn_schedule *schedule, double *room_ns) {
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        const uint32_t task = schedule->reach[i];
        const struct pdnn_schedule_task *state = &schedule->state[task];
        const double need_ns = begin_ns(schedule, &schedule->reach[i]);
        const bool was_late = state->passed_over && !has_begun(schedule, task);
        if (!(state->waits || was_late) || need_ns > schedule->most_rounds_ns)
            continue;
        if (was_late || need_ns > *room_ns)
            return false;
        admit(schedule, &schedule->reach[i], room_ns);
    }
    return true;
}

/* Lets tasks begin, in their order, that there is room for. */
static void admit_any(struct pdnn_schedule *schedule, double *room_ns) {
    for (size_t i = 0; i < schedule->n_tasks; i++)
        if (schedule->state[schedule->reach[i]].waits && begin_ns(schedule, &schedule->reach[i]) <= *room_ns)
            admit(schedule, &schedule->reach[i], room_ns);
}

/* Lets the first task begin that has time for a single visit. */
static void admit_one(struct pdnn_schedule *schedule, double left_ns) {
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        const struct pdnn_schedule_task *task = &schedule->state[schedule->reach[i]];
        const uint32_t *together;
        const size_t count = list_together(schedule, &schedule->reach[i], &together);
        double need_ns = 0, none_ns = 0;
        for (size_t k = 0; k < count; k++)
            need_ns += (double)pdnn_schedule_wall_ns(schedule, together[k]);
        if (!task->waits || need_ns > left_ns)
            continue;
        admit(schedule, &schedule->reach[i], &none_ns);
        return;
    }
}

void pdnn_schedule_plan(struct pdnn_schedule *schedule, uint64_t left_ns) {
    double room_ns = (double)left_ns;
    if (!schedule->most_visit_ns) {
        schedule->most_rounds_ns = room_ns / PDNN_SPREAD_LEAST;
        schedule->most_visit_ns = left_ns / PDNN_SPREAD_LEAST / least_visits(schedule) + 1;
    }
    size_t n_begun = 0, n_waited;
    schedule->n_waiting = 0;
    for (size_t i = 0; i < schedule->n_tasks; i++) {
        struct pdnn_schedule_task *task = &schedule->state[i];
        task->waits = !task->closed && !task->passed_over && !has_begun(schedule, (uint32_t)i);
        schedule->n_waiting += task->waits;
        if (task->closed || task->passed_over || task->waits)
            continue;
        double need_ns = rounds_ns(schedule, i);
        room_ns -= need_ns;
        n_begun += need_ns > 0;
    }
    n_waited = schedule->n_waiting;
    if (schedule->rules->reach == PDNN_REACH_SPREAD && !admit_short(schedule, &room_ns))
        return;
    admit_any(schedule, &room_ns);
    if (!n_begun && n_waited && schedule->n_waiting == n_waited)
        admit_one(schedule, (double)left_ns);
}

void pdnn_sweep_begin_order(const struct pdnn_task *tasks, size_t n_tasks,
                            const struct pdnn_sweep_rules *rules, uint32_t *order) {
    struct pdnn_schedule schedule;
    pdnn_schedule_init(&schedule, tasks, n_tasks, rules);
    memcpy(order, schedule.reach, n_tasks * sizeof *order);
    pdnn_schedule_finish(&schedule);
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
