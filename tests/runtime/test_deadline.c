/* What a sweep does with a deadline, on a clock that only its visits move: it ends in time, uses the time,
 * and chooses sensibly what it begins. */
#include "base/rng.h"
#include "models/zoo/catalog.h"
#include "runtime/driver/sweep/sweep.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS_MAX = 9720, ROUNDS = 3 };

static const uint64_t second_ns = 1000000000;

/* Sweeps begin at this moment. */
static const uint64_t begin_ns = UINT64_C(1000000000000);

static uint64_t fake_now_ns;

static uint64_t fake_clock_ns(void) {
    return fake_now_ns;
}

/* A machine whose visits take `factor` times as long as predicted, give or take `noise`. */
struct machine {
    struct pdnn_task *tasks;
    char (*ids)[24];
    size_t n_tasks;
    struct pdnn_sweep_rules rules;
    struct pdnn_sweep_result result;
    double factor, noise;
    struct pdnn_rng rng;
    size_t *visits;
    double first_eta_s; /* before any visit has ended */
    bool has_eta, is_alive;
    size_t n_dropped;
};

static bool is_alive(void *user, struct pdnn_worker_kind kind) {
    (void)kind;
    return ((struct machine *)user)->is_alive;
}

static enum pdnn_status start(void *user, struct pdnn_worker_kind kind, struct pdnn_err *err) {
    (void)kind, (void)err;
    ((struct machine *)user)->is_alive = true;
    return PDNN_OK;
}

/* Like a worker: dropped at the deadline. */
static enum pdnn_status have_visited(void *user, struct pdnn_worker_kind kind,
                                     const struct pdnn_request *request, const struct pdnn_watch *watch,
                                     struct pdnn_visit *visit, struct pdnn_err *err) {
    struct machine *machine = user;
    size_t task = (size_t)strtoul(request->id, NULL, 10);
    double swing = 1 + machine->noise * (2 * pdnn_rng_double(&machine->rng) - 1);
    uint64_t took_ns = (uint64_t)((double)machine->tasks[task].visit_ns * machine->factor * swing);
    (void)kind;
    watch->tick(watch->user);
    if (watch->deadline_ns && fake_now_ns + took_ns > watch->deadline_ns) {
        fake_now_ns = watch->deadline_ns;
        machine->is_alive = false;
        machine->n_dropped++;
        return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    }
    fake_now_ns += took_ns;
    machine->visits[task]++;
    *visit =
        (struct pdnn_visit){.median_ns = 1e6 * swing, .mean_ns = 1e6, .samples = 5, .steps_per_sample = 2};
    return PDNN_OK;
}

static enum pdnn_status keep(void *user, size_t task, const struct pdnn_visit *visit, struct pdnn_err *err) {
    (void)user, (void)task, (void)visit, (void)err;
    return PDNN_OK;
}

static void see(void *user, const struct pdnn_sweep_progress *progress) {
    struct machine *machine = user;
    if (!machine->has_eta)
        machine->first_eta_s = progress->eta_seconds;
    machine->has_eta = true;
    assert_true(progress->eta_seconds * 1e9 <= (double)(machine->rules.deadline_ns - begin_ns) + 1);
}

enum { N_AXES = 5 };
static const size_t axis_sizes[N_AXES] = {9, 5, 4, 9, 6};

/* Tasks that take from 20 ms to 20 s a visit, in the order of an odometer of five axes, the first of
 * which changes fastest. */
static void machine_init(struct machine *machine, size_t n_tasks, uint64_t budget_ns) {
    *machine = (struct machine){.n_tasks = n_tasks,
                                .tasks = calloc(n_tasks, sizeof *machine->tasks),
                                .ids = calloc(n_tasks, sizeof *machine->ids),
                                .visits = calloc(n_tasks, sizeof *machine->visits),
                                .factor = 1,
                                .rng = {5, 0},
                                .rules = {.request = {.seed = 7, .rules = {.precision = 0.02}},
                                          .rounds = ROUNDS,
                                          .max_time_ns = 60 * second_ns,
                                          .deadline_ns = begin_ns + budget_ns}};
    assert_true(machine->tasks && machine->ids && machine->visits);
    for (size_t i = 0; i < n_tasks; i++) {
        double scale = (double)(i % 9) / 8 + (double)(i / 45 % 4) / 3 + (double)(i / 180 % 9) / 8;
        snprintf(machine->ids[i], sizeof machine->ids[i], "%zu", i);
        machine->tasks[i].id = machine->ids[i];
        machine->tasks[i].visit_ns = (uint64_t)(20e6 * pow(10, scale));
        machine->tasks[i].flop_count = machine->tasks[i].visit_ns;
        machine->tasks[i].instance.family = pdnn_family_find("fc");
        for (size_t axis = 0, at = i; axis < N_AXES; at /= axis_sizes[axis++])
            machine->tasks[i].instance.hyper[axis] = pdnn_value_of((int64_t)(at % axis_sizes[axis]));
    }
    fake_now_ns = begin_ns;
}

static void machine_finish(struct machine *machine) {
    free(machine->tasks);
    free(machine->ids);
    free(machine->visits);
}

static void machine_run(struct machine *machine) {
    const struct pdnn_visitor visitor = {machine, is_alive, start, have_visited, NULL, fake_clock_ns};
    const struct pdnn_sweep_hooks hooks = {machine, keep, see};
    struct pdnn_err err = {0};
    if (pdnn_sweep_run_with(&visitor, machine->tasks, machine->n_tasks, &machine->rules, &hooks,
                            &machine->result, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static size_t count_begun(const struct machine *machine, size_t least_visits) {
    size_t count = 0;
    for (size_t i = 0; i < machine->n_tasks; i++)
        count += machine->visits[i] >= least_visits;
    return count;
}

/* Whatever the number of instances, and however wrong the predictions are. */
static void test_deadline_is_kept_and_used(void **state) {
    static const size_t sizes[] = {12, 100, 1000, TASKS_MAX};
    static const double factors[] = {0.3, 1, 4};
    static const uint64_t budgets_s[] = {45, 300};
    (void)state;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
            for (size_t b = 0; b < 2; b++) {
                struct machine machine;
                uint64_t budget_ns = budgets_s[b] * second_ns;
                machine_init(&machine, sizes[n], budget_ns);
                machine.factor = factors[f];
                machine.noise = 0.2;
                machine_run(&machine);
                bool is_all = count_begun(&machine, ROUNDS) == sizes[n];
                assert_true(fake_now_ns <= begin_ns + budget_ns);
                assert_true(is_all || fake_now_ns >= begin_ns + budget_ns / 10 * 9);
                assert_true(is_all || machine.result.out_of_time);
                assert_true(machine.n_dropped <= 1);
                /* What was begun got its rounds, but for what turned out longer at the end. */
                assert_true(count_begun(&machine, ROUNDS) * 10 >= count_begun(&machine, 1) * 7);
                machine_finish(&machine);
            }
        }
    }
}

/* Of what was begun, each value of each axis has its share, give or take `most`. */
static void check_spread(const struct machine *machine, double most) {
    const double begun = (double)count_begun(machine, 1);
    size_t stride = 1;
    for (size_t axis = 0; axis < N_AXES; stride *= axis_sizes[axis++]) {
        size_t of[9] = {0};
        for (size_t i = 0; i < machine->n_tasks; i++)
            of[i / stride % axis_sizes[axis]] += machine->visits[i] > 0;
        for (size_t k = 0; k < axis_sizes[axis]; k++)
            assert_true(fabs((double)of[k] - begun / (double)axis_sizes[axis]) <= most);
    }
}

/* Where the predictions are right, nearly everything begun is complete, and each axis of the spec has been
 * sampled evenly. */
static void test_deadline_spreads(void **state) {
    struct machine machine;
    size_t begun = 0;
    (void)state;
    machine_init(&machine, TASKS_MAX, 300 * second_ns);
    for (size_t i = 0; i < TASKS_MAX; i++)
        machine.tasks[i].visit_ns = second_ns / 5;
    machine_run(&machine);
    for (size_t i = 0; i < TASKS_MAX; i++) {
        begun += machine.visits[i] > 0;
    }
    assert_true(begun >= 490 && begun <= 500);
    assert_true(count_begun(&machine, ROUNDS) + 1 >= begun);
    check_spread(&machine, 3);
    machine_finish(&machine);
}

/* However little some of them take: time for a few more short ones is not filled with those. */
static void test_deadline_spreads_costs(void **state) {
    static const uint64_t budgets_s[] = {45, 100, 300};
    (void)state;
    for (size_t b = 0; b < sizeof budgets_s / sizeof *budgets_s; b++) {
        struct machine machine;
        machine_init(&machine, TASKS_MAX, budgets_s[b] * second_ns);
        for (size_t i = 0; i < TASKS_MAX; i++)
            machine.tasks[i].visit_ns = second_ns / (i % 9 < 4 ? 1000 : 2);
        machine.noise = 0.2;
        machine_run(&machine);
        assert_true(fake_now_ns >= begin_ns + budgets_s[b] * second_ns / 10 * 9);
        check_spread(&machine, 3);
        machine_finish(&machine);
    }
}

static void test_deadline_smallest_first(void **state) {
    struct machine machine;
    uint64_t longest_ns = 0, shortest_left_ns = UINT64_MAX;
    (void)state;
    machine_init(&machine, 1000, 45 * second_ns);
    machine.rules.reach = PDNN_REACH_SMALLEST;
    machine_run(&machine);
    for (size_t i = 0; i < machine.n_tasks; i++) {
        uint64_t ns = machine.tasks[i].visit_ns;
        if (machine.visits[i])
            longest_ns = ns > longest_ns ? ns : longest_ns;
        else
            shortest_left_ns = ns < shortest_left_ns ? ns : shortest_left_ns;
    }
    assert_true(longest_ns && longest_ns <= shortest_left_ns);
    machine_finish(&machine);
}

/* One run after the other gets through the sweep, without repeating a visit. */
static void test_deadline_rerun_goes_on(void **state) {
    struct machine machine;
    static const double medians[] = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6};
    size_t runs = 0, before = 0;
    (void)state;
    machine_init(&machine, 100, 45 * second_ns);
    for (size_t i = 0; i < machine.n_tasks; i++)
        machine.tasks[i].visit_ns = 500000000;
    while (count_begun(&machine, ROUNDS) < machine.n_tasks) {
        fake_now_ns = begin_ns;
        machine_run(&machine);
        assert_true(++runs <= 5);
        assert_true(count_begun(&machine, ROUNDS) > before);
        before = count_begun(&machine, ROUNDS);
        for (size_t i = 0; i < machine.n_tasks; i++) {
            assert_true(machine.visits[i] <= ROUNDS);
            machine.tasks[i].visits_done = machine.visits[i];
            machine.tasks[i].medians = medians;
        }
    }
    assert_int_equal(runs, 4); /* 150 s of visits */
    machine_finish(&machine);
}

/* A single visit that fits is made even if the rounds do not fit. */
static void test_deadline_one_visit(void **state) {
    struct machine machine;
    (void)state;
    machine_init(&machine, 10, 45 * second_ns);
    for (size_t i = 0; i < machine.n_tasks; i++)
        machine.tasks[i].visit_ns = 40 * second_ns;
    machine_run(&machine);
    assert_int_equal(count_begun(&machine, 1), 1);
    assert_int_equal(count_begun(&machine, 2), 0);
    machine_finish(&machine);
}

/* The first report comes before the first visit has ended and knows both the predictions and the deadline. */
static void test_deadline_eta(void **state) {
    struct machine machine;
    (void)state;
    machine_init(&machine, 10, 300 * second_ns);
    for (size_t i = 0; i < machine.n_tasks; i++)
        machine.tasks[i].visit_ns = 2 * second_ns;
    machine_run(&machine);
    assert_float_equal(machine.first_eta_s, 60, 1e-6);
    machine_finish(&machine);
    machine_init(&machine, 1000, 45 * second_ns);
    machine_run(&machine);
    assert_float_equal(machine.first_eta_s, 45, 1e-6);
    machine_finish(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadline_is_kept_and_used),
        cmocka_unit_test(test_deadline_spreads),
        cmocka_unit_test(test_deadline_smallest_first),
        cmocka_unit_test(test_deadline_spreads_costs),
        cmocka_unit_test(test_deadline_rerun_goes_on),
        cmocka_unit_test(test_deadline_one_visit),
        cmocka_unit_test(test_deadline_eta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
