/* The sweep's rules, with a visitor that runs nothing: orders, rounds, resume,
 * retries, stops, progress. */
#include "base/rng.h"
#include "runtime/driver/sweep/sweep.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { TASKS_MAX = 8, VISITS_MAX = 256, NOW_NS = 5 };

/* A visitor whose visits take no time, and what it saw. */
struct stage {
    struct pdnn_task tasks[TASKS_MAX];
    char ids[TASKS_MAX][8];
    struct pdnn_sweep_rules rules;
    struct pdnn_sweep_result result;
    /* The script: the outcomes of a task's visits in order; OK once it is used up. */
    enum pdnn_outcome script[TASKS_MAX][4];
    size_t script_at[TASKS_MAX];
    double spread;  /* relative difference between a task's even and odd visits */
    size_t stop_at; /* the visit during which a stop is requested; 0: never */
    volatile int stop;
    size_t fail_visited_at; /* the entry that the journal refuses */
    size_t starts_to_fail;
    bool alive[PDNN_ISA_COUNT];
    size_t asked[VISITS_MAX]; /* tasks in the order visited */
    uint64_t max_visit_ns[VISITS_MAX];
    uint64_t grace_ns, deadline_ns; /* of the last visit */
    size_t n_asked, n_noted, n_starts, n_reports;
    bool cold;
    uint64_t cache_bytes;
    struct pdnn_sweep_progress last;
};

/* Time stands still. */
static uint64_t stage_clock_ns(void) {
    return NOW_NS;
}

static bool stage_alive(void *user, struct pdnn_worker_kind kind) {
    return ((struct stage *)user)->alive[kind.isa];
}

static enum pdnn_status stage_start(void *user, struct pdnn_worker_kind kind, struct pdnn_err *err) {
    struct stage *stage = user;
    stage->n_starts++;
    if (stage->starts_to_fail) {
        stage->starts_to_fail--;
        return pdnn_fail(err, PDNN_IO, "no worker today");
    }
    stage->alive[kind.isa] = true;
    return PDNN_OK;
}

static enum pdnn_status stage_visit(void *user, struct pdnn_worker_kind kind,
                                    const struct pdnn_request *request, const struct pdnn_watch *watch,
                                    struct pdnn_visit *visit, struct pdnn_err *err) {
    struct stage *stage = user;
    size_t task = (size_t)(request->id[0] - 'a');
    assert_true(stage->n_asked < VISITS_MAX);
    assert_true(stage->alive[kind.isa]);
    assert_int_equal(kind.isa, stage->tasks[task].instance.setting[PDNN_SETTING_ISA]);
    stage->max_visit_ns[stage->n_asked] = request->rules.max_visit_ns;
    stage->grace_ns = watch->grace_ns;
    stage->cold = request->rules.cold;
    stage->cache_bytes = request->cache_bytes;
    stage->deadline_ns = watch->deadline_ns;
    if (!watch->deadline_ns)
        assert_int_equal(request->rules.time_limit_ns, watch->time_limit_ns);
    stage->asked[stage->n_asked++] = task;
    watch->tick(watch->user);
    if (stage->n_asked == stage->stop_at) {
        stage->stop = 1;
        assert_ptr_equal(watch->stop, &stage->stop);
        stage->alive[kind.isa] = false;
        return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    }
    size_t turn = stage->script_at[task]++;
    visit->outcome = turn < 4 ? stage->script[task][turn] : PDNN_OUTCOME_OK;
    stage->alive[kind.isa] = visit->outcome != PDNN_OUTCOME_CRASH && visit->outcome != PDNN_OUTCOME_TIMEOUT;
    visit->median_ns = 1e6 * (1 + (turn % 2 ? stage->spread : 0));
    visit->mean_ns = 1e6;
    visit->samples = 5;
    visit->steps_per_sample = 2;
    return PDNN_OK;
}

static enum pdnn_status note(void *user, size_t task, const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct stage *stage = user;
    (void)visit;
    assert_int_equal(task, stage->asked[stage->n_asked - 1]);
    if (++stage->n_noted == stage->fail_visited_at)
        return pdnn_fail(err, PDNN_IO, "the disk is full");
    return PDNN_OK;
}

static void see_progress(void *user, const struct pdnn_sweep_progress *progress) {
    struct stage *stage = user;
    stage->n_reports++;
    stage->last = *progress;
}

static void stage_init(struct stage *stage, int64_t rounds) {
    *stage = (struct stage){.rules = {.request = {.seed = 7, .rules = {.precision = 0.02, .min_samples = 5}},
                                      .rounds = rounds,
                                      .max_time_ns = 1000000000,
                                      .time_limit_ns = 3000000000}};
    stage->rules.stop = &stage->stop;
    for (size_t i = 0; i < TASKS_MAX; i++) {
        snprintf(stage->ids[i], sizeof stage->ids[i], "%c", (int)('a' + i));
        stage->tasks[i].id = stage->ids[i];
        stage->tasks[i].flop_count = 100 - i;
    }
}

static enum pdnn_status stage_run(struct stage *stage, struct pdnn_err *err) {
    const struct pdnn_visitor visitor = {stage, stage_alive, stage_start, stage_visit, NULL, stage_clock_ns};
    const struct pdnn_sweep_hooks hooks = {stage, note, see_progress};
    return pdnn_sweep_run_with(&visitor, stage->tasks, TASKS_MAX, &stage->rules, &hooks, &stage->result, err);
}

static size_t visits_of(const struct stage *stage, size_t task, size_t from, size_t to) {
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += stage->asked[i] == task;
    return count;
}

static void test_sweep_run_long_id(void **state) {
    static char id[PDNN_ID_TEXT + 1];
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 1);
    memset(id, 'a', sizeof id - 1);
    stage.tasks[0].id = id;
    assert_int_equal(stage_run(&stage, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "aaa: instance id too long"));
    stage.tasks[0].closed = true;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
}

static void test_sweep_run_rounds(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 3);
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_asked, 3 * TASKS_MAX);
    assert_int_equal(stage.n_noted, stage.n_asked);
    assert_int_equal(stage.result.visits, stage.n_asked);
    assert_int_equal(stage.result.workers_started, 1);
    assert_int_equal(stage.result.workers_lost, 0);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < TASKS_MAX; i++)
            assert_int_equal(visits_of(&stage, i, round * TASKS_MAX, (round + 1) * TASKS_MAX), 1);
    }
    assert_int_not_equal(memcmp(stage.asked, stage.asked + TASKS_MAX, TASKS_MAX * sizeof *stage.asked), 0);
    for (size_t i = 0; i < stage.n_asked; i++)
        assert_int_equal(stage.max_visit_ns[i], 333333333);
}

/* Each isa has its own worker, which stays alive while another is used. */
static void test_sweep_run_isa(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 3);
    for (size_t i = 0; i < TASKS_MAX; i += 2)
        stage.tasks[i].instance.setting[PDNN_SETTING_ISA] = PDNN_ISA_AVX2;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_asked, 3 * TASKS_MAX);
    assert_int_equal(stage.result.workers_started, 2);
    assert_int_equal(stage.result.workers_lost, 0);
}

static void test_sweep_run_order(void **state) {
    struct stage one, same, other, cost;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&one, 2);
    stage_init(&same, 2);
    stage_init(&other, 2);
    stage_init(&cost, 2);
    other.rules.request.seed = 8;
    cost.rules.cost_order = true;
    cost.tasks[5].flop_count = 1000;
    assert_int_equal(stage_run(&one, &err), PDNN_OK);
    assert_int_equal(stage_run(&same, &err), PDNN_OK);
    assert_int_equal(stage_run(&other, &err), PDNN_OK);
    assert_int_equal(stage_run(&cost, &err), PDNN_OK);
    assert_memory_equal(one.asked, same.asked, sizeof one.asked);
    assert_memory_not_equal(one.asked, other.asked, sizeof one.asked);
    const size_t small_to_large[TASKS_MAX] = {7, 6, 4, 3, 2, 1, 0, 5};
    assert_memory_equal(cost.asked, small_to_large, sizeof small_to_large);
    assert_memory_equal(cost.asked + TASKS_MAX, small_to_large, sizeof small_to_large);
}

/* Interrupted anywhere and resumed, the visits are those of an undisturbed run, in the same order. */
static void test_sweep_run_resume(void **state) {
    static const double medians[] = {1e6, 1e6, 1e6};
    struct stage whole;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&whole, 3);
    assert_int_equal(stage_run(&whole, &err), PDNN_OK);
    for (size_t cut = 0; cut <= whole.n_asked; cut++) {
        struct stage rest;
        stage_init(&rest, 3);
        for (size_t i = 0; i < TASKS_MAX; i++) {
            rest.tasks[i].visits_done = visits_of(&whole, i, 0, cut);
            rest.tasks[i].medians = medians;
        }
        assert_int_equal(stage_run(&rest, &err), PDNN_OK);
        assert_int_equal(rest.n_asked, whole.n_asked - cut);
        assert_memory_equal(rest.asked, whole.asked + cut, rest.n_asked * sizeof *rest.asked);
        assert_int_equal(rest.last.visits_done, whole.n_asked);
    }
}

/* How often a task is visited, given the outcomes of its first visits, in two rounds. */
static void test_sweep_run_outcomes(void **state) {
    static const struct {
        enum pdnn_outcome script[4];
        size_t visits, lost;
    } cases[] = {
        {{PDNN_OUTCOME_OK, PDNN_OUTCOME_OK}, 2, 0},
        {{PDNN_OUTCOME_UNSUPPORTED}, 1, 0},
        {{PDNN_OUTCOME_OOM_PREDICTED}, 1, 0},
        {{PDNN_OUTCOME_OOM}, 1, 0},
        {{PDNN_OUTCOME_TIMEOUT}, 1, 1},
        {{PDNN_OUTCOME_INVALID}, 1, 0},
        {{PDNN_OUTCOME_NUMERIC_ERROR}, 1, 0},
        {{PDNN_OUTCOME_CRASH, PDNN_OUTCOME_CRASH}, 2, 2},
        {{PDNN_OUTCOME_CRASH, PDNN_OUTCOME_OK}, 3, 1},
        {{PDNN_OUTCOME_CRASH, PDNN_OUTCOME_OK, PDNN_OUTCOME_CRASH}, 4, 2},
        {{PDNN_OUTCOME_OK, PDNN_OUTCOME_TIMEOUT}, 2, 1},
        {{PDNN_OUTCOME_CRASH, PDNN_OUTCOME_UNSUPPORTED}, 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct pdnn_err err = {0};
        stage_init(&stage, 2);
        memcpy(stage.script[3], cases[i].script, sizeof cases[i].script);
        assert_int_equal(stage_run(&stage, &err), PDNN_OK);
        assert_int_equal(visits_of(&stage, 3, 0, stage.n_asked), cases[i].visits);
        assert_int_equal(stage.n_asked, 2 * (TASKS_MAX - 1) + cases[i].visits);
        assert_int_equal(stage.result.workers_lost, cases[i].lost);
        assert_int_equal(stage.n_starts, 1 + cases[i].lost - (stage.alive[PDNN_ISA_DEFAULT] ? 0 : 1));
    }
}

static void test_sweep_run_closed(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 2);
    stage.tasks[0].closed = true;
    stage.tasks[1].crashes = 2;
    stage.tasks[2].crashes = 1;
    stage.script[2][0] = PDNN_OUTCOME_CRASH;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(visits_of(&stage, 0, 0, stage.n_asked), 0);
    assert_int_equal(visits_of(&stage, 1, 0, stage.n_asked), 0);
    assert_int_equal(visits_of(&stage, 2, 0, stage.n_asked), 1);
    assert_int_equal(stage.n_asked, 2 * (TASKS_MAX - 3) + 1);
}

/* Each visit spends 10 ms: 5 samples of two 1 ms steps. */
static void test_sweep_run_extra_visits(void **state) {
    static const struct {
        int64_t rounds;
        double spread;
        uint64_t max_time_ns, spent_ns;
        size_t visits;
    } cases[] = {
        {3, 0.00, 1000000000, 0, 3},  /* precise at once */
        {3, 0.50, 1000000000, 0, 12}, /* never precise: at most four times the rounds */
        {3, 0.50, 55000000, 0, 6},    /* or until max_time is used up */
        {3, 0.50, 55000000, 30000000, 3},
        {3, 0.50, 1000000, 0, 3},    /* the rounds themselves are done whatever they cost */
        {1, 0.50, 1000000000, 0, 1}, /* one visit has no interval */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct pdnn_err err = {0};
        stage_init(&stage, cases[i].rounds);
        stage.spread = cases[i].spread;
        stage.rules.max_time_ns = cases[i].max_time_ns;
        for (size_t k = 0; k < TASKS_MAX; k++)
            stage.tasks[k].spent_ns = cases[i].spent_ns;
        assert_int_equal(stage_run(&stage, &err), PDNN_OK);
        for (size_t k = 0; k < TASKS_MAX; k++)
            assert_int_equal(visits_of(&stage, k, 0, stage.n_asked), cases[i].visits);
        assert_int_equal(stage.last.visits_done, stage.last.visits_planned);
        assert_int_equal(visits_of(&stage, 4, stage.n_asked - TASKS_MAX, stage.n_asked), 1);
    }
}

/* Extra visits are spread over the sweep: each half has about half of every
 * task's visits, each quarter some. */
static void test_sweep_run_extra_visits_spread(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 5);
    stage.spread = 0.5;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    for (size_t k = 0; k < TASKS_MAX; k++) {
        size_t all = visits_of(&stage, k, 0, stage.n_asked),
               half = visits_of(&stage, k, 0, stage.n_asked / 2);
        assert_int_equal(all, 20);
        assert_true(half >= 8 && half <= 12);
        for (size_t quarter = 0; quarter < 4; quarter++) {
            size_t from = stage.n_asked * quarter / 4, to = stage.n_asked * (quarter + 1) / 4;
            assert_true(visits_of(&stage, k, from, to) >= 3 && visits_of(&stage, k, from, to) <= 7);
        }
    }
}

static void test_sweep_run_stop(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 2);
    stage.stop_at = 5;
    assert_int_equal(stage_run(&stage, &err), PDNN_INTERRUPTED);
    assert_int_equal(stage.n_asked, 5);
    assert_int_equal(stage.n_noted, 4);
    assert_int_equal(stage.result.visits, 4);
    assert_int_equal(stage.result.workers_lost, 1);
    assert_int_equal(stage.result.unfinished, TASKS_MAX);
    /* Stopped before it starts, it does not start. */
    stage_init(&stage, 2);
    stage.stop = 1;
    assert_int_equal(stage_run(&stage, &err), PDNN_INTERRUPTED);
    assert_int_equal(stage.n_starts, 0);
    assert_int_equal(stage.result.unfinished, TASKS_MAX);
}

/* Visits that are not expected to fit before the end do not start; shorter ones do. */
static void test_sweep_run_passes_over(void **state) {
    (void)state;
    static const uint64_t hour_ns = UINT64_C(3600000000000);
    struct stage stage;
    struct pdnn_err err = {0};
    stage_init(&stage, 2);
    stage.rules.deadline_ns = NOW_NS + hour_ns;
    stage.rules.grace_ns = 17;
    stage.rules.time_limit_ns = 0;
    stage.tasks[2].visit_ns = 1000 * hour_ns;
    stage.tasks[3].visit_ns = hour_ns / 3;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_asked, 2 * (TASKS_MAX - 1));
    assert_int_equal(visits_of(&stage, 2, 0, stage.n_asked), 0);
    assert_int_equal(visits_of(&stage, 3, 0, stage.n_asked), 2);
    assert_true(stage.result.out_of_time);
    assert_int_equal(stage.result.unfinished, 1);
    assert_int_equal(stage.grace_ns, 17);
    assert_int_equal(stage.deadline_ns, stage.rules.deadline_ns);
}

static void test_sweep_run_deadline_has_passed(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 2);
    stage.rules.deadline_ns = NOW_NS;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_asked, 0);
    assert_int_equal(stage.n_starts, 0);
    assert_true(stage.result.out_of_time);
    assert_int_equal(stage.result.unfinished, TASKS_MAX);
}

/* A task's own visits say what the next takes; before them its prediction, scaled by what others took, and
 * never more than the limit. */
static void test_schedule_wall(void **state) {
    struct pdnn_schedule schedule;
    const struct pdnn_visit visit = {.outcome = PDNN_OUTCOME_OK, .median_ns = 1, .mean_ns = 1, .samples = 1};
    static const uint64_t second_ns = 1000000000;
    (void)state;
    struct pdnn_task tasks[] = {{.id = "a", .visit_ns = 100 * second_ns},
                                {.id = "b", .visit_ns = second_ns},
                                {.id = "c", .visit_ns = 1000 * second_ns},
                                {.id = "d"}};
    const struct pdnn_sweep_rules rules = {.rounds = 2, .time_limit_ns = 1500 * second_ns};
    pdnn_schedule_init(&schedule, tasks, 4, &rules);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 0), 100 * second_ns);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 3), 0);
    pdnn_schedule_note(&schedule, 0, &visit, 210 * second_ns);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 0), 210 * second_ns);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 1), 2 * second_ns);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 2), 1500 * second_ns);
    assert_int_equal(pdnn_schedule_wall_ns(&schedule, 3), 0);
    pdnn_schedule_finish(&schedule);
}

static void test_sweep_run_journal_fails(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 2);
    stage.fail_visited_at = 4;
    assert_int_equal(stage_run(&stage, &err), PDNN_IO);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(stage.n_asked, 4);
    assert_int_equal(stage.result.visits, 3);
}

static void test_sweep_run_worker_does_not_start(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 1);
    stage.starts_to_fail = 2;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_asked, TASKS_MAX);
    stage_init(&stage, 1);
    stage.starts_to_fail = 3;
    assert_int_equal(stage_run(&stage, &err), PDNN_IO);
    assert_string_equal(err.text, "no worker today");
    assert_int_equal(stage.n_asked, 0);
}

/* Uses the rows for the instance's threads, and found capacities rather than reported ones. */
static void test_sweep_run_tells_the_cache(void **state) {
    (void)state;
    static const struct pdnn_roof_rows roof_rows = {
        .count = 4,
        .row = {{.kind = "bandwidth", .level = "L2", .threads = 2, .capacity_bytes = 1000},
                {.kind = "bandwidth",
                 .level = "L3",
                 .threads = 2,
                 .capacity_bytes = 5000,
                 .reported_bytes = 90000},
                {.kind = "bandwidth", .level = "DRAM", .threads = 2},
                {.kind = "ladder", .level = "L3", .threads = 2, .capacity_bytes = 70000}},
    };
    static const struct {
        int64_t threads;
        uint64_t cache_bytes;
    } rows[] = {{2, 5000}, {1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage stage;
        struct pdnn_err err = {0};
        stage_init(&stage, 1);
        stage.rules.roof_rows = &roof_rows;
        for (size_t k = 0; k < TASKS_MAX; k++)
            stage.tasks[k].instance.setting[PDNN_SETTING_THREADS] = rows[i].threads;
        assert_int_equal(stage_run(&stage, &err), PDNN_OK);
        assert_true(stage.cache_bytes == rows[i].cache_bytes);
    }
}

static void test_sweep_run_cold(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 1);
    for (size_t i = 0; i < TASKS_MAX; i++)
        stage.tasks[i].instance.setting[PDNN_SETTING_CACHE] = PDNN_CACHE_COLD;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_true(stage.cold);
    stage_init(&stage, 1);
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_false(stage.cold);
}

static void test_sweep_run_nothing(void **state) {
    struct stage stage;
    struct pdnn_err err = {0};
    (void)state;
    stage_init(&stage, 2);
    for (size_t i = 0; i < TASKS_MAX; i++)
        stage.tasks[i].closed = true;
    assert_int_equal(stage_run(&stage, &err), PDNN_OK);
    assert_int_equal(stage.n_starts, 0);
    assert_int_equal(stage.result.visits, 0);
}

/* Tasks 7 (smallest) to 0 (largest). Some have been visited, for the given number of seconds. */
static void test_schedule_progress_eta(void **state) {
    static const struct {
        double wall_s[TASKS_MAX]; /* by task; 0: not visited yet */
        double eta_s;             /* two rounds; visited tasks have one to go */
    } cases[] = {
        {{0}, -1},
        {{[3] = 2}, 2 + 2 * 7 * 2},
        {{[7] = 1, [0] = 3}, 1 + 3 + 2 * 6 * 2},
        {{[6] = 1, [5] = 4}, 1 + 4 + 2 * 1 * 1 + 2 * 5 * 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct pdnn_schedule schedule;
        struct pdnn_sweep_progress progress = {0};
        const struct pdnn_visit visit = {.median_ns = 1, .mean_ns = 1};
        size_t visited = 0;
        stage_init(&stage, 2);
        pdnn_schedule_init(&schedule, stage.tasks, TASKS_MAX, &stage.rules);
        for (size_t k = 0; k < TASKS_MAX; k++) {
            if (!(cases[i].wall_s[k] > 0))
                continue;
            uint64_t wall_ns = (uint64_t)(cases[i].wall_s[k] * 1e9);
            pdnn_schedule_note(&schedule, k, &visit, wall_ns);
            visited++;
        }
        pdnn_schedule_progress(&schedule, UINT64_MAX, &progress);
        assert_int_equal(progress.visits_done, visited);
        assert_int_equal(progress.visits_planned, 2 * TASKS_MAX);
        assert_float_equal(progress.eta_seconds, cases[i].eta_s, 1e-9);
        pdnn_schedule_finish(&schedule);
    }
}

/* What is predicted beyond the rounds counts as long as it may come, scaled by what visits took. */
static void test_schedule_progress_extra(void **state) {
    static const struct {
        size_t visits;        /* to each */
        uint64_t wall_s;      /* of each visit */
        double spread, eta_s; /* of medians, for wide intervals */
    } cases[] = {
        {0, 0, 0, 2 * 2 + 5}, {1, 2, 0, 2 + 5}, {1, 4, 0, 4 + 10}, {2, 2, 0, 0}, /* narrow */
        {2, 2, 0.5, 5},                       /* wide, and none of the extra visits done */
        {5, 2, 0.5, 5.0 / 2}, {7, 2, 0.5, 2}, /* at least the next visit */
        {8, 2, 0.5, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct pdnn_schedule schedule;
        struct pdnn_sweep_progress progress = {0};
        size_t task;
        stage_init(&stage, 2);
        stage.rules.max_time_ns = 1000 * UINT64_C(1000000000);
        for (size_t k = 1; k < TASKS_MAX; k++)
            stage.tasks[k].closed = true;
        stage.tasks[0].visit_ns = 2 * UINT64_C(1000000000);
        stage.tasks[0].extra_ns = 5 * UINT64_C(1000000000);
        pdnn_schedule_init(&schedule, stage.tasks, TASKS_MAX, &stage.rules);
        for (size_t k = 0; k < cases[i].visits; k++) {
            const double median_ns = 1e6 * (1 + (k % 2 ? cases[i].spread : 0));
            const struct pdnn_visit visit = {.median_ns = median_ns, .mean_ns = 1e6, .samples = 1};
            assert_true(pdnn_schedule_next(&schedule, &task));
            pdnn_schedule_note(&schedule, task, &visit, cases[i].wall_s * 1000000000);
        }
        pdnn_schedule_progress(&schedule, UINT64_MAX, &progress);
        assert_float_equal(progress.eta_seconds, cases[i].eta_s, 1e-6);
        pdnn_schedule_finish(&schedule);
    }
}

/* Visits with random times until the schedule has enough; then the schedule of a rerun, which must want none.
 * Time is no limit here, so every task ends at a planned look. */
static void test_schedule_rerun_adds_nothing(void **state) {
    enum { ROUNDS = 3, EXTRA = PDNN_SCHEDULE_EXTRA * ROUNDS };
    size_t beyond_rounds = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct stage stage;
        struct pdnn_schedule schedule;
        struct pdnn_rng rng = {seed, 0};
        double medians[TASKS_MAX][EXTRA];
        size_t visits[TASKS_MAX] = {0}, task;
        stage_init(&stage, ROUNDS);
        pdnn_schedule_init(&schedule, stage.tasks, TASKS_MAX, &stage.rules);
        while (pdnn_schedule_next(&schedule, &task)) {
            struct pdnn_visit visit = {.median_ns = 1000 * (1 + 0.03 * pdnn_rng_double(&rng))};
            assert_true(visits[task] < EXTRA);
            medians[task][visits[task]++] = visit.median_ns;
            pdnn_schedule_note(&schedule, task, &visit, 1);
        }
        pdnn_schedule_finish(&schedule);
        for (size_t i = 0; i < TASKS_MAX; i++) {
            assert_int_equal(visits[i] % ROUNDS, 0);
            beyond_rounds += visits[i] > ROUNDS;
            stage.tasks[i].visits_done = visits[i];
            stage.tasks[i].medians = medians[i];
        }
        pdnn_schedule_init(&schedule, stage.tasks, TASKS_MAX, &stage.rules);
        assert_false(pdnn_schedule_next(&schedule, &task));
        pdnn_schedule_finish(&schedule);
    }
    assert_true(beyond_rounds > 0 && beyond_rounds < 200 * TASKS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_run_long_id),
        cmocka_unit_test(test_sweep_run_rounds),
        cmocka_unit_test(test_sweep_run_isa),
        cmocka_unit_test(test_sweep_run_order),
        cmocka_unit_test(test_sweep_run_resume),
        cmocka_unit_test(test_sweep_run_outcomes),
        cmocka_unit_test(test_sweep_run_closed),
        cmocka_unit_test(test_sweep_run_extra_visits),
        cmocka_unit_test(test_sweep_run_extra_visits_spread),
        cmocka_unit_test(test_sweep_run_stop),
        cmocka_unit_test(test_sweep_run_passes_over),
        cmocka_unit_test(test_sweep_run_deadline_has_passed),
        cmocka_unit_test(test_schedule_wall),
        cmocka_unit_test(test_sweep_run_journal_fails),
        cmocka_unit_test(test_sweep_run_worker_does_not_start),
        cmocka_unit_test(test_sweep_run_tells_the_cache),
        cmocka_unit_test(test_sweep_run_cold),
        cmocka_unit_test(test_sweep_run_nothing),
        cmocka_unit_test(test_schedule_progress_eta),
        cmocka_unit_test(test_schedule_progress_extra),
        cmocka_unit_test(test_schedule_rerun_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
