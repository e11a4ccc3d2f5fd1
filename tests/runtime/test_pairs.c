/* Comparisons in paired order, on a machine that is made of seeded components, without clocks or processes:
 * how often a verdict is false and how often a slow-down of 2 % is found; and that either is not so where the
 * order, the workers, the choices, the interval or the looks are wrong. Then what happens within a round. */
#include "base/rng.h"
#include "runtime/driver/sweep/sweep.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS = 4000, ROUNDS_MAX = 128, TASKS_MAX = 8, TURNS_MAX = 400 };

static const uint64_t visit_ns = 58000000;

/* How a machine differs from what the driver is made for. */
struct wrong {
    uint64_t apart_ns;      /* passes between the sides */
    double process_part;    /* what a process shifts its visits by; 0: 0.25 % */
    bool keeps_workers;     /* retired workers go on */
    double choices_part;    /* one group of 14 has other choices on side B, that cost this */
    bool is_welch;          /* intervals of the sides' own times, as of directories apart */
    bool is_sure_each_look; /* 1 % at every look */
};

struct machine {
    struct wrong wrong;
    struct pdnn_rng rng;
    double slow_down;      /* of side B */
    double state, drift;   /* factor of the present state; logarithm */
    uint64_t state_end_ns; /* when it changes */
    uint64_t process;      /* the worker's number */
    bool is_alive;
    size_t n_starts, n_retired;
    struct pdnn_task tasks[TASKS_MAX];
    char ids[TASKS_MAX][8];
    size_t n_tasks;
    struct pdnn_sweep_rules rules;
    struct pdnn_sweep_result result;
    struct pdnn_turn turns[TASKS_MAX][TURNS_MAX];
    size_t n_turns[TASKS_MAX], asked[TASKS_MAX * TURNS_MAX], n_asked;
    bool probes[TASKS_MAX * TURNS_MAX], unstamped[TASKS_MAX * TURNS_MAX];
    enum pdnn_outcome script[TASKS_MAX][4];
    struct pdnn_visit_choices choices[TASKS_MAX]; /* of the visits before this turn; then all answer alike */
    size_t choose_until;
    size_t stop_at; /* the visit that is interrupted; 0: none */
    volatile int stop;
};

static uint64_t now_ns;

static uint64_t machine_clock_ns(void) {
    return now_ns;
}

static double normal(struct pdnn_rng *rng) {
    const double u = pdnn_rng_double(rng), v = pdnn_rng_double(rng);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* The machine goes on: two states with stays of 15 s in the mean, the slower one by a factor of its own; and
 * a drift of 4 % that forgets in 7 s. */
static void pass_time(struct machine *machine, uint64_t ns) {
    const double part = exp(-(double)ns / 7e9);
    now_ns += ns;
    machine->drift = machine->drift * part + 0.04 * sqrt(1 - part * part) * normal(&machine->rng);
    if (now_ns < machine->state_end_ns)
        return;
    machine->state = machine->state > 1 ? 1 : 1 + 1.4 * pdnn_rng_double(&machine->rng);
    machine->state_end_ns = now_ns + (uint64_t)(-15e9 * log(1 - pdnn_rng_double(&machine->rng)));
}

/* What this process adds to the logarithms of a task's times. */
static double of_process(const struct machine *machine, size_t task) {
    struct pdnn_rng rng = {pdnn_rng_at(machine->process, task + 1), 0};
    return (machine->wrong.process_part > 0 ? machine->wrong.process_part : 0.0025) * normal(&rng);
}

static bool machine_alive(void *user, struct pdnn_worker_kind kind) {
    (void)kind;
    return ((struct machine *)user)->is_alive;
}

static enum pdnn_status machine_start(void *user, struct pdnn_worker_kind kind, struct pdnn_err *err) {
    struct machine *machine = user;
    (void)kind, (void)err;
    machine->is_alive = true;
    machine->n_starts++;
    machine->process = pdnn_rng_next(&machine->rng);
    return PDNN_OK;
}

static void machine_retire(void *user) {
    struct machine *machine = user;
    machine->n_retired++;
    machine->is_alive = machine->is_alive && machine->wrong.keeps_workers;
}

static double step_ns(struct machine *machine, size_t task) {
    struct pdnn_rng *rng = &machine->rng;
    const bool is_b = task % 2;
    double part = machine->drift + 0.012 * normal(rng) + of_process(machine, task);
    part += pdnn_rng_double(rng) < 0.025 ? log(1.3) : 0;
    part += is_b ? log1p(machine->slow_down) : 0;
    return 1e6 * machine->state * exp(part);
}

static enum pdnn_status machine_visit(void *user, struct pdnn_worker_kind kind,
                                      const struct pdnn_request *request, const struct pdnn_watch *watch,
                                      struct pdnn_visit *visit, struct pdnn_err *err) {
    struct machine *machine = user;
    const size_t task = (size_t)(request->id[0] - 'a'), turn = machine->n_turns[task];
    (void)kind;
    assert_true(machine->is_alive && machine->n_asked < TASKS_MAX * TURNS_MAX);
    machine->probes[machine->n_asked] = request->probe;
    machine->unstamped[machine->n_asked] = request->unstamped;
    machine->asked[machine->n_asked++] = task;
    watch->tick(watch->user);
    pass_time(machine, visit_ns + machine->wrong.apart_ns);
    if (machine->n_asked == machine->stop_at) {
        machine->stop = 1;
        return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    }
    visit->outcome = turn < 4 ? machine->script[task][turn] : PDNN_OUTCOME_OK;
    machine->is_alive = visit->outcome != PDNN_OUTCOME_CRASH;
    visit->started_unix_ms = (int64_t)(now_ns / 1000000);
    visit->median_ns = visit->mean_ns = step_ns(machine, task);
    visit->samples = 50;
    visit->steps_per_sample = 1;
    visit->choices = machine->choices[task];
    visit->choices.answers = turn < machine->choose_until ? visit->choices.answers : 1;
    return PDNN_OK;
}

static enum pdnn_status take_visit(void *user, size_t task, const struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    struct machine *machine = user;
    (void)err;
    machine->turns[task][machine->n_turns[task]++] = pdnn_turn_of(visit);
    return PDNN_OK;
}

/* Pairs of tasks a and b, c and d, and so on. */
static void machine_init(struct machine *machine, uint64_t seed, size_t n_tasks) {
    memset(machine, 0, sizeof *machine);
    machine->rng = (struct pdnn_rng){seed, 0};
    machine->state = 1;
    machine->n_tasks = n_tasks;
    machine->rules =
        (struct pdnn_sweep_rules){.request = {.seed = seed, .rules = {.precision = 0.02}, .probe = true},
                                  .rounds = 8,
                                  .paired = true,
                                  .max_time_ns = UINT64_C(60000000000),
                                  .stop = &machine->stop};
    for (size_t i = 0; i < n_tasks; i++) {
        snprintf(machine->ids[i], sizeof machine->ids[i], "%c", (int)('a' + i));
        machine->tasks[i] = (struct pdnn_task){.id = machine->ids[i], .group = i / 2 + 1};
    }
}

static enum pdnn_status machine_run(struct machine *machine) {
    const struct pdnn_visitor visitor = {machine,       machine_alive,  machine_start,
                                         machine_visit, machine_retire, machine_clock_ns};
    const struct pdnn_sweep_hooks hooks = {machine, take_visit, NULL};
    struct pdnn_err err = {0};
    return pdnn_sweep_run_with(&visitor, machine->tasks, machine->n_tasks, &machine->rules, &hooks,
                               &machine->result, &err);
}

static void moments(const struct pdnn_turn *turns, size_t count, double *mean, double *variance) {
    *mean = *variance = 0;
    for (size_t i = 0; i < count; i++)
        *mean += log(turns[i].ns) / (double)count;
    for (size_t i = 0; i < count; i++)
        *variance += pow(log(turns[i].ns) - *mean, 2) / (double)(count - 1) / (double)count;
}

/* Welch's t of the sides' own times, at the same looks. */
static enum pdnn_paired judge_apart(const struct machine *machine) {
    for (int look = 0; look < PDNN_LOOKS && pdnn_looks[look] <= machine->n_turns[0]; look++) {
        const size_t n = pdnn_looks[look];
        double mean[2], of[2];
        for (int side = 0; side < 2; side++)
            moments(machine->turns[side], n, &mean[side], &of[side]);
        const double both = of[0] + of[1],
                     degrees = both * both * (double)(n - 1) / (of[0] * of[0] + of[1] * of[1]),
                     half = pdnn_student_quantile(PDNN_LOOK_ALPHA, degrees) * sqrt(both),
                     gap = mean[1] - mean[0];
        if (fabs(gap) > half)
            return gap > 0 ? PDNN_PAIRED_SLOWER : PDNN_PAIRED_FASTER;
        if (fabs(gap) + half < log1p(0.02))
            return PDNN_PAIRED_ALIKE;
    }
    return PDNN_PAIRED_UNDECIDED;
}

static enum pdnn_paired judge(const struct machine *machine, size_t a, size_t b, size_t comparisons) {
    double logs[TURNS_MAX], scratch[TURNS_MAX];
    const size_t count =
        pdnn_pairs_logs(machine->turns[a], machine->n_turns[a], machine->turns[b], machine->n_turns[b], logs);
    if (machine->wrong.is_welch)
        return judge_apart(machine);
    for (int look = 0; machine->wrong.is_sure_each_look && look < PDNN_LOOKS; look++) {
        memcpy(scratch, logs, sizeof scratch);
        if (pdnn_looks[look] > count)
            break;
        const struct pdnn_interval interval = pdnn_pairs_interval(scratch, pdnn_looks[look], 0.01);
        if (interval.low > 0 || interval.high < 0)
            return interval.low > 0 ? PDNN_PAIRED_SLOWER : PDNN_PAIRED_FASTER;
    }
    return machine->wrong.is_sure_each_look
               ? PDNN_PAIRED_UNDECIDED
               : pdnn_pairs_judge(logs, count, comparisons, machine->rules.request.rules.precision, scratch);
}

struct found {
    double false_part, found_part, rounds;
};

/* Sweeps of one group each. What other intervals and looks say is of all rounds that there may be. */
static struct found find(struct wrong wrong, size_t n_groups) {
    struct found found = {0};
    struct machine *machine = test_malloc(sizeof *machine);
    for (size_t i = 0; i < n_groups; i++) {
        for (int is_slow = 0; is_slow < 2; is_slow++) {
            const bool has_others = !is_slow && i % 14 == 0;
            machine_init(machine, 2 * i + (size_t)is_slow, 2);
            machine->wrong = wrong;
            machine->slow_down = is_slow ? 0.02 : has_others ? wrong.choices_part : 0;
            if (wrong.is_welch || wrong.is_sure_each_look)
                machine->rules.rounds = ROUNDS_MAX;
            assert_int_equal(machine_run(machine), PDNN_OK);
            const enum pdnn_paired verdict = judge(machine, 0, 1, 1);
            const bool is_found = verdict == PDNN_PAIRED_SLOWER,
                       is_false = is_found || verdict == PDNN_PAIRED_FASTER;
            found.false_part += (double)(!is_slow && is_false) / (double)n_groups;
            found.found_part += (double)(is_slow && is_found) / (double)n_groups;
            found.rounds += (double)machine->n_turns[0] / (double)(2 * n_groups);
        }
    }
    test_free(machine);
    return found;
}

static bool holds(struct found found) {
    return found.false_part <= 0.015 && found.found_part >= 0.9;
}

static void test_pairs_verdicts(void **state) {
    (void)state;
    const struct found found = find((struct wrong){.apart_ns = 0}, GROUPS);
    print_message("false %.4f, found %.4f, rounds %.1f\n", found.false_part, found.found_part, found.rounds);
    assert_true(holds(found));
}

/* It is a sweep, of several models with several sides, that is false once in a hundred. */
static void test_pairs_sweeps(void **state) {
    enum { SWEEPS = 1000, COMPARISONS = 6 };
    static struct machine machine;
    size_t n_false = 0;
    (void)state;
    for (uint64_t i = 0; i < SWEEPS; i++) {
        bool is_false = false;
        machine_init(&machine, 7 * i, 8);
        for (size_t task = 0; task < 8; task++)
            machine.tasks[task].group = task / 4 + 1;
        assert_int_equal(machine_run(&machine), PDNN_OK);
        for (size_t task = 0; task < 8; task++) {
            const enum pdnn_paired verdict = judge(&machine, task / 4 * 4, task, COMPARISONS);
            is_false =
                is_false || (task % 4 && (verdict == PDNN_PAIRED_SLOWER || verdict == PDNN_PAIRED_FASTER));
        }
        n_false += is_false;
    }
    print_message("%zu of %d sweeps false\n", n_false, SWEEPS);
    assert_true(n_false <= SWEEPS * 15 / 1000);
}

static void test_pairs_wrong_variants(void **state) {
    static const struct {
        const char *name;
        struct wrong wrong;
    } rows[] = {{"sides a pass apart", {.apart_ns = UINT64_C(5000000000)}},
                {"choices of their own", {.choices_part = 0.046}},
                {"workers kept", {.process_part = 0.03, .keeps_workers = true}},
                {"intervals of the sides apart", {.is_welch = true}},
                {"one per cent at every look", {.is_sure_each_look = true}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct found found = find(rows[i].wrong, GROUPS / 16);
        print_message("%s: false %.4f, found %.4f, rounds %.1f\n", rows[i].name, found.false_part,
                      found.found_part, found.rounds);
        assert_false(holds(found));
    }
}

/* Sides next to each other, turned round each pass, in new workers; a probe with the first, stamps thrice. */
static void test_pairs_order(void **state) {
    static struct machine machine;
    (void)state;
    machine_init(&machine, 3, 6);
    assert_int_equal(machine_run(&machine), PDNN_OK);
    for (size_t i = 0; i < machine.n_asked; i += 2) {
        const size_t first = machine.asked[i];
        const int64_t round = (int64_t)i / 6;
        assert_int_equal(machine.asked[i + 1], first ^ 1);
        assert_true(machine.probes[i] && !machine.probes[i + 1]);
        if (round >= machine.rules.rounds) /* some groups are decided */
            continue;
        assert_int_equal(first % 2, round % 2);
        assert_int_equal(machine.unstamped[i], round >= 3);
    }
    assert_int_equal(machine.n_starts, machine.n_retired + 1);
    size_t most = 0;
    for (size_t task = 0; task < 6; task++)
        most = machine.n_turns[task] > most ? machine.n_turns[task] : most;
    assert_int_equal(machine.n_starts, most);
    for (size_t group = 0; group < 3; group++) {
        assert_int_equal(machine.n_turns[2 * group], machine.n_turns[2 * group + 1]);
        assert_int_not_equal(judge(&machine, 2 * group, 2 * group + 1, 3), PDNN_PAIRED_UNDECIDED);
    }
}

/* What the journal tells of visits: which are turns, and which turns are pairs. */
static void test_pairs_kinds(void **state) {
    static const struct {
        struct pdnn_visit a, b;
        bool are_turns, is_pair;
    } rows[] = {
#define OK(begun, ns, steps)                                                                                 \
    {.started_unix_ms = begun, .median_ns = ns, .mean_ns = ns, .samples = steps, .steps_per_sample = 1}
        {OK(1000, 1e6, 50), OK(1060, 1e6, 50), true, true},
        {OK(1060, 1e6, 50), OK(1000, 1e6, 50), true, true},   /* either side may be the first */
        {OK(1000, 1e6, 50), OK(11100, 1e6, 50), true, true},  /* 10 s beyond twice 50 ms */
        {OK(1000, 1e6, 50), OK(11101, 1e6, 50), true, false}, /* and no longer */
        {OK(1000, 20e9, 5), OK(171000, 20e9, 5), true, true}, /* a visit of 100 s, with as much of stamps */
        {OK(171000, 20e9, 5), OK(1000, 20e9, 5), true, true},
        {OK(1000, 1e6, 50), OK(171000, 20e9, 5), true, false}, /* it is the first that takes long */
        /* A failed visit keeps its place and makes no pair; a sum of operators is no turn. */
        {OK(1000, 1e6, 50), {.started_unix_ms = 1060, .outcome = PDNN_OUTCOME_CRASH}, true, false},
        {OK(1000, 1e6, 50),
         {.started_unix_ms = 1060, .flags = PDNN_FLAG_COMPOSED, .median_ns = 1},
         false,
         false},
        {OK(1000, 1e6, 50),
         {.started_unix_ms = 1060, .flags = PDNN_FLAG_COMPOSED | PDNN_FLAG_PREDICTED, .median_ns = 1},
         false,
         false},
#undef OK
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_turn a = pdnn_turn_of(&rows[i].a), b = pdnn_turn_of(&rows[i].b);
        double logs[1];
        assert_int_equal(pdnn_pairs_others(&a, 1, &b, 1), 0);
        assert_true(pdnn_visit_is_turn(&rows[i].a));
        assert_int_equal(pdnn_visit_is_turn(&rows[i].b), rows[i].are_turns);
        assert_int_equal(pdnn_pairs_logs(&a, 1, &b, 1, logs), rows[i].is_pair);
        if (rows[i].is_pair)
            assert_true(logs[0] == 0);
    }
}

static const struct pdnn_paired_rules paired_rules = {
    .rounds = 8, .precision = 0.02, .max_time_ns = UINT64_C(60000000000), .seed = 1, .shards = 1};

/* All sides beside the first ones share the one per cent, of all shards; a model with one side has none. */
static void test_pairs_comparisons(void **state) {
    static const struct {
        size_t n, numbers[8], shards, comparisons, groups;
    } rows[] = {
        {4, {1, 1, 2, 2}, 1, 2, 2},
        {8, {1, 1, 1, 1, 2, 2, 2, 2}, 1, 6, 2},
        {7, {1, 1, 1, 2, 2, 2, 0}, 1, 4, 3},
        {4, {1, 2, 1, 2}, 5, 10, 2},
        {3, {0, 0, 0}, 1, 0, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_paired_groups groups;
        struct pdnn_paired_rules rules = paired_rules;
        rules.shards = rows[i].shards;
        pdnn_paired_init(&groups, &rules, rows[i].numbers, rows[i].n);
        assert_int_equal(groups.comparisons, rows[i].comparisons);
        assert_int_equal(groups.count, rows[i].groups);
        pdnn_paired_finish(&groups);
    }
}

/* Both others are slower than a first side; when that ends for good, they are compared anew. */
static void test_pairs_first_ends(void **state) {
    struct pdnn_paired_groups groups;
    (void)state;
    pdnn_paired_init(&groups, &paired_rules, (const size_t[]){1, 1, 1}, 3);
    for (size_t round = 0; round < 8; round++)
        for (size_t task = 0; task < 3; task++) {
            const double noise = !task ? 0 : (task + round) % 2 ? 0.02 : -0.02;
            pdnn_paired_add(&groups, task,
                            (struct pdnn_turn){.ns = (task ? 1.2 : 1) * exp(noise), .begun_unix_ms = 1}, 1);
        }
    pdnn_paired_judge(&groups, 0, false);
    assert_int_equal(groups.group[0].verdict[1], PDNN_PAIRED_SLOWER);
    assert_int_equal(groups.group[0].verdict[2], PDNN_PAIRED_SLOWER);
    assert_false(groups.group[0].is_open);
    pdnn_paired_end(&groups, 2); /* of another one, verdicts stay */
    pdnn_paired_judge(&groups, 0, false);
    assert_int_equal(groups.group[0].verdict[1], PDNN_PAIRED_SLOWER);
    assert_false(groups.group[0].is_open);
    groups.side[2].closed = false;
    pdnn_paired_end(&groups, 0);
    pdnn_paired_judge(&groups, 1, false);
    assert_int_equal(groups.group[0].verdict[2], PDNN_PAIRED_UNDECIDED);
    assert_true(groups.group[0].is_open);
    pdnn_paired_finish(&groups);
}

/* Four sides next to each other, in an order that turns round, as long as one of them is undecided. */
static void test_pairs_four_sides(void **state) {
    static struct machine machine;
    (void)state;
    machine_init(&machine, 3, 8);
    for (size_t i = 0; i < 8; i++)
        machine.tasks[i].group = i / 4 + 1;
    assert_int_equal(machine_run(&machine), PDNN_OK);
    assert_int_equal(machine.n_asked % 4, 0);
    for (size_t i = 0; i < machine.n_asked; i++) {
        const size_t first = machine.asked[i / 4 * 4], of = machine.asked[i];
        assert_int_equal(of, first % 4 ? first - i % 4 : first + i % 4);
        assert_int_equal(machine.probes[i], i % 4 == 0);
    }
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(machine.n_turns[i], machine.n_turns[i / 4 * 4]);
        assert_true(i % 4 == 0 || judge(&machine, i / 4 * 4, i, 6) != PDNN_PAIRED_UNDECIDED);
    }
}

/* With shared choices, a side's first visit is in a process that began after the first side's, and in no
 * other round. */
static void test_pairs_shared_choices(void **state) {
    static struct machine machine;
    (void)state;
    machine_init(&machine, 3, 6);
    machine.rules.request.choices_are_shared = true;
    assert_int_equal(machine_run(&machine), PDNN_OK);
    size_t most = 0;
    for (size_t task = 0; task < 6; task++)
        most = machine.n_turns[task] > most ? machine.n_turns[task] : most;
    assert_int_equal(machine.n_starts, most + 3);
}

/* Pairs of visits that answered the same questions otherwise count for nothing, and as long as too few answer
 * alike, the sides are undecided, by any time. */
static void test_pairs_other_choices(void **state) {
    static const struct {
        struct pdnn_visit_choices a, b;
        size_t until, others;
    } rows[] = {
        {{7, 1}, {7, 2}, 3, 3}, /* then the side takes what the other one has chosen */
        {{7, 1}, {7, 2}, TURNS_MAX, ROUNDS_MAX},
        {{7, 1}, {7, 1}, TURNS_MAX, 0},
        {{7, 1}, {8, 2}, TURNS_MAX, 0}, /* another instruction set in effect */
        {{0, 0}, {0, 0}, TURNS_MAX, 0}, /* each side for itself */
        {{7, 1}, {0, 0}, TURNS_MAX, 0},
    };
    static struct machine machine;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double logs[TURNS_MAX];
        machine_init(&machine, 3, 2);
        machine.slow_down = 0.05;
        machine.choices[0] = rows[i].a;
        machine.choices[1] = rows[i].b;
        machine.choose_until = rows[i].until;
        assert_int_equal(machine_run(&machine), PDNN_OK);
        const size_t n = machine.n_turns[0],
                     others = pdnn_pairs_others(machine.turns[0], n, machine.turns[1], n);
        assert_int_equal(machine.n_turns[1], n);
        assert_int_equal(others, rows[i].others);
        assert_int_equal(pdnn_pairs_logs(machine.turns[0], n, machine.turns[1], n, logs), n - others);
        assert_int_equal(judge(&machine, 0, 1, 1), n == others ? PDNN_PAIRED_UNDECIDED : PDNN_PAIRED_SLOWER);
        /* The second visit of a round is the one that differs from the first. */
        for (size_t turn = 0; turn < n; turn++) {
            const bool first_is_a = machine.asked[2 * turn] == 0;
            assert_false(machine.turns[first_is_a ? 0 : 1][turn].is_other);
            assert_int_equal(machine.turns[first_is_a ? 1 : 0][turn].is_other, turn < others);
        }
    }
}

/* What a killed run has left, up to its visit number `cut`. */
static void take_over(struct machine *rest, const struct machine *whole, size_t cut,
                      double medians[TASKS_MAX][TURNS_MAX]) {
    for (size_t i = 0; i < cut; i++) {
        const size_t task = whole->asked[i], turn = rest->n_turns[task]++;
        rest->turns[task][turn] = whole->turns[task][turn];
        medians[task][turn] = whole->turns[task][turn].ns;
    }
    for (size_t task = 0; task < rest->n_tasks; task++) {
        rest->tasks[task].turns = rest->turns[task];
        rest->tasks[task].n_turns = rest->tasks[task].visits_done = rest->n_turns[task];
        rest->tasks[task].medians = medians[task];
    }
}

/* Wherever it is interrupted, within a group too, a resumed sweep makes the visits that are missing first. */
static void test_pairs_resume(void **state) {
    static struct machine whole, rest;
    static double medians[TASKS_MAX][TURNS_MAX];
    (void)state;
    machine_init(&whole, 5, 4);
    assert_int_equal(machine_run(&whole), PDNN_OK);
    for (size_t cut = 0; cut <= 31; cut++) {
        machine_init(&rest, 5, 4);
        take_over(&rest, &whole, cut, medians);
        assert_int_equal(machine_run(&rest), PDNN_OK);
        if (cut % 2)
            assert_int_equal(rest.asked[0], whole.asked[cut]);
        for (size_t i = 0; i < 32 - cut; i++)
            assert_int_equal(rest.asked[i], whole.asked[cut + i]);
        for (size_t task = 0; task < 4; task++)
            assert_int_equal(rest.n_turns[task], rest.n_turns[task ^ 1]);
    }
    /* A sweep that is done stays so. */
    machine_init(&rest, 5, 4);
    take_over(&rest, &whole, whole.n_asked, medians);
    assert_int_equal(machine_run(&rest), PDNN_OK);
    assert_int_equal(rest.n_asked, 0);
}

static void test_pairs_stop(void **state) {
    static struct machine machine;
    (void)state;
    machine_init(&machine, 5, 4);
    machine.stop_at = 10;
    assert_int_equal(machine_run(&machine), PDNN_INTERRUPTED);
    assert_int_equal(machine.n_asked, 10);
}

/* A worker that dies within a round leaves no pair there, and the group goes on; one that dies again ends the
 * comparison, and the other side gets its rounds. */
static void test_pairs_crash(void **state) {
    static struct machine machine;
    double logs[TURNS_MAX];
    (void)state;
    machine_init(&machine, 9, 2);
    machine.script[1][2] = PDNN_OUTCOME_CRASH;
    assert_int_equal(machine_run(&machine), PDNN_OK);
    assert_int_equal(machine.n_turns[0], machine.n_turns[1]);
    assert_int_equal(
        pdnn_pairs_logs(machine.turns[0], machine.n_turns[0], machine.turns[1], machine.n_turns[1], logs),
        machine.n_turns[0] - 1);
    assert_int_not_equal(judge(&machine, 0, 1, 1), PDNN_PAIRED_UNDECIDED);
    machine_init(&machine, 9, 2);
    machine.script[1][2] = machine.script[1][3] = PDNN_OUTCOME_CRASH;
    assert_int_equal(machine_run(&machine), PDNN_OK);
    assert_int_equal(machine.n_turns[0], 8);
    assert_int_equal(machine.n_turns[1], 4);
    machine_init(&machine, 9, 2);
    machine.tasks[0].closed = true;
    assert_int_equal(machine_run(&machine), PDNN_OK);
    assert_int_equal(machine.n_turns[0], 0);
    assert_int_equal(machine.n_turns[1], 8);
}

/* What ends a group that stays undecided, and one that has one round. */
static void test_pairs_ends(void **state) {
    static const struct {
        int64_t rounds;
        uint64_t max_time_ns;
        double precision;
        size_t least, most;
    } rows[] = {
        {8, UINT64_C(60000000000), 1e-6, 128, 128}, /* the last look; a visit takes about 50 ms of samples */
        {8, UINT64_C(3000000000), 1e-6, 10, 40},    /* or max_time */
        {8, 1000, 1e-6, 8, 8},                      /* but for the rounds themselves */
        {8, UINT64_C(60000000000), 1, 8, 8},        /* alike at the first look */
        {20, UINT64_C(60000000000), 1, 20, 20},
        {1, UINT64_C(60000000000), 1e-6, 1, 1}, /* one round is one round */
    };
    static struct machine machine;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        machine_init(&machine, 21, 2);
        machine.rules.rounds = rows[i].rounds;
        machine.rules.max_time_ns = rows[i].max_time_ns;
        machine.rules.request.rules.precision = rows[i].precision;
        assert_int_equal(machine_run(&machine), PDNN_OK);
        assert_in_range(machine.n_turns[0], rows[i].least, rows[i].most);
        assert_int_equal(machine.n_turns[1], machine.n_turns[0]);
    }
}

/* With a deadline, groups begin and are visited whole. */
static void test_pairs_deadline(void **state) {
    static struct machine machine;
    (void)state;
    for (uint64_t rounds = 1; rounds < 40; rounds++) {
        machine_init(&machine, 21, 8);
        machine.rules.deadline_ns = now_ns + rounds * 8 * visit_ns;
        for (size_t i = 0; i < 8; i++)
            machine.tasks[i].visit_ns = visit_ns;
        assert_int_equal(machine_run(&machine), PDNN_OK);
        for (size_t i = 0; i < 8; i += 2)
            assert_int_equal(machine.n_turns[i], machine.n_turns[i + 1]);
        if (rounds < 8)
            assert_true(machine.result.out_of_time);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_kinds),         cmocka_unit_test(test_pairs_comparisons),
        cmocka_unit_test(test_pairs_first_ends),    cmocka_unit_test(test_pairs_four_sides),
        cmocka_unit_test(test_pairs_order),         cmocka_unit_test(test_pairs_shared_choices),
        cmocka_unit_test(test_pairs_other_choices), cmocka_unit_test(test_pairs_resume),
        cmocka_unit_test(test_pairs_stop),          cmocka_unit_test(test_pairs_crash),
        cmocka_unit_test(test_pairs_ends),          cmocka_unit_test(test_pairs_deadline),
        cmocka_unit_test(test_pairs_verdicts),      cmocka_unit_test(test_pairs_wrong_variants),
        cmocka_unit_test(test_pairs_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
