/* A visit against a scripted clock: time passes only in steps and in clock reads, so every count is known. */
#define _GNU_SOURCE /* memrchr */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "base/rng.h"
#include "runtime/measure/measure.h"

#include <string.h>

enum { PARTS = 3, EVENTS_MAX = 1 << 17, CLOCK_NS = 30 };

struct fake {
    uint64_t now_ns;
    uint64_t calls; /* steps and stamped steps */
    uint64_t step_ns;
    uint64_t (*script)(uint64_t call, uint64_t step_ns); /* NULL: step_ns always */
    uint64_t fail_at;                                    /* call that fails with code 7; 0: none */
    uint64_t stamps;
    size_t n_events;
    bool notes_clock;
    char event[EVENTS_MAX]; /* s step, p stamped step, e eviction, c clock, u usage, r counters, k counted */
};

static struct fake fake;

static void note(char event) {
    if (fake.n_events < EVENTS_MAX)
        fake.event[fake.n_events++] = event;
}

static int work(void) {
    fake.calls++;
    fake.now_ns += fake.script ? fake.script(fake.calls, fake.step_ns) : fake.step_ns;
    return fake.fail_at && fake.calls >= fake.fail_at ? 7 : 0;
}

static int step(void *user) {
    assert_ptr_equal(user, &fake);
    note('s');
    return work();
}

/* Parts take a tenth, three tenths and the rest. */
static int stamped_step(void *user, uint64_t *ns) {
    assert_ptr_equal(user, &fake);
    note('p');
    uint64_t before = fake.now_ns;
    int code = work();
    uint64_t took = fake.now_ns - before;
    fake.stamps++;
    ns[0] += took / 10;
    ns[1] += took * 3 / 10;
    ns[2] += took - took / 10 - took * 3 / 10;
    return code;
}

static void evict(void *user) {
    assert_ptr_equal(user, &fake);
    note('e');
    fake.now_ns += 1000000;
}

static uint64_t read_clock(void *user) {
    assert_ptr_equal(user, &fake);
    if (fake.notes_clock)
        note('c');
    fake.now_ns += CLOCK_NS;
    return fake.now_ns;
}

static const struct pdnn_measure_target target = {.user = &fake,
                                                  .step = step,
                                                  .stamped_step = stamped_step,
                                                  .n_parts = PARTS,
                                                  .evict = evict,
                                                  .clock = read_clock};

/* Threads of which each has `had` of its core, but for what passed before. */
static struct {
    double had, threads;
    uint64_t calls;
    bool has_ended;
} team;

static void read_usage(void *user, struct pdnn_usage *usage) {
    assert_ptr_equal(user, &fake);
    note('u');
    team.calls++;
    *usage = (struct pdnn_usage){.cpu_ns = team.has_ended && team.calls == 2
                                               ? 0
                                               : (uint64_t)(team.had * team.threads * (double)fake.now_ns),
                                 .page_faults = 100 + 7 * team.calls,
                                 .context_switches = 50 + 3 * team.calls,
                                 .steal_ns = (1 - team.had) * team.threads * (double)fake.now_ns};
}

static void start_fake(uint64_t step_ns, uint64_t (*script)(uint64_t, uint64_t)) {
    memset(&fake, 0, sizeof fake);
    fake.now_ns = 1000;
    fake.step_ns = step_ns;
    fake.script = script;
}

static struct pdnn_visit run(const struct pdnn_measure_rules *rules, double *part_ns) {
    double unused[PARTS];
    struct pdnn_visit visit = {0};
    struct pdnn_err err = {0};
    enum pdnn_status status = pdnn_measure_visit(&target, rules, &visit, part_ns ? part_ns : unused, &err);
    if (status != PDNN_OK)
        fail_msg("%s", err.text);
    /* The test itself may have been preempted. */
    visit.flags &= ~(unsigned)PDNN_FLAG_PREEMPTED;
    return visit;
}

/* Every third step waits as long as six steps take: two thirds of all time. */
static uint64_t waited_so_far;

static uint64_t wait_by_turns(uint64_t call, uint64_t step_ns) {
    uint64_t wait_ns = call % 3 == 0 ? 6 * step_ns : 0;
    waited_so_far += wait_ns;
    return step_ns + wait_ns;
}

static uint64_t read_waited(void *user) {
    assert_ptr_equal(user, &fake);
    return waited_so_far;
}

static void test_measure_visit_waits(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    struct pdnn_measure_target feeding = target;
    struct pdnn_visit visit = {0};
    struct pdnn_err err = {0};
    double unused[PARTS];
    feeding.waited_ns = read_waited;
    feeding.period = 3;
    start_fake(1000000, wait_by_turns);
    assert_int_equal(pdnn_measure_visit(&feeding, &rules, &visit, unused, &err), PDNN_OK);
    assert_int_equal(visit.steps_per_sample, 3);
    assert_near(visit.median_ns, 3e6, 1e-3);
    assert_near(visit.waited_share, 2.0 / 3, 1e-3);
    feeding.period = 0;
    feeding.waited_ns = NULL;
    start_fake(1000000, NULL);
    assert_int_equal(pdnn_measure_visit(&feeding, &rules, &visit, unused, &err), PDNN_OK);
    assert_int_equal(visit.steps_per_sample, 1);
    assert_true(visit.waited_share == 0);
}

/* Shares by scripted clocks of the threads: alike for every length of a sample, and unknown where a thread
 * ended. */
static void test_measure_visit_usage(void **state) {
    static const struct {
        double had;
        int64_t threads;
        bool has_ended, is_preempted;
    } rows[] = {{1, 2, false, false},  {0.86, 2, false, false}, {0.8, 2, false, true},
                {0.5, 4, false, true}, {0.5, 0, false, false},  {0.5, 2, true, false}};
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    for (uint64_t step_ns = 1000; step_ns <= 100000000; step_ns *= 10) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct pdnn_measure_target told = target;
            struct pdnn_visit visit = {0};
            struct pdnn_err err = {0};
            double unused[PARTS];
            told.usage = read_usage;
            told.threads = rows[i].threads;
            told.cores = 2;
            team.had = rows[i].had;
            team.threads = rows[i].threads ? (double)rows[i].threads : 2;
            team.has_ended = rows[i].has_ended;
            team.calls = 0;
            start_fake(step_ns, NULL);
            assert_int_equal(pdnn_measure_visit(&told, &rules, &visit, unused, &err), PDNN_OK);
            const bool is_known = rows[i].threads && !rows[i].has_ended;
            assert_near(visit.hardware.cpu_share_pct, is_known ? 100 * rows[i].had : 0, 0.01);
            assert_int_equal((visit.flags & PDNN_FLAG_PREEMPTED) != 0, rows[i].is_preempted);
            assert_true(visit.hardware.has_usage);
            assert_int_equal(visit.hardware.page_faults, 7);
            assert_int_equal(visit.hardware.context_switches, 3);
            assert_near(visit.hardware.steal_pct, 100 * (1 - rows[i].had) * team.threads / 2, 0.05);
        }
    }
}

/* Between the clock reads around a sample there are steps and nothing else, and usage is read twice. */
static void test_measure_visit_reads_nothing_in_samples(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    struct pdnn_measure_target told = target;
    struct pdnn_visit visit = {0};
    double unused[PARTS];
    size_t usages = 0, first = SIZE_MAX;
    told.usage = read_usage;
    start_fake(5000, NULL);
    fake.notes_clock = true;
    assert_int_equal(pdnn_measure_visit(&told, &rules, &visit, unused, &(struct pdnn_err){0}), PDNN_OK);
    for (size_t i = 1; i + 1 < fake.n_events; i++) {
        usages += fake.event[i] == 'u';
        first = fake.event[i] == 'u' && first == SIZE_MAX ? i : first;
        if (fake.event[i] == 'u')
            assert_true(fake.event[i - 1] == 'c' && fake.event[i + 1] == 'c');
    }
    assert_int_equal(usages, 2);
    assert_true(memchr(fake.event, 's', first)); /* warm-up comes before */
    told.usage = NULL;
    start_fake(5000, NULL);
    assert_int_equal(pdnn_measure_visit(&told, &rules, &visit, unused, &(struct pdnn_err){0}), PDNN_OK);
    assert_false(visit.hardware.has_usage);
}

/* A step executes 10007 instructions in 4003 cycles, and a reading adds 211 and 97. */
static struct {
    struct pdnn_counts since;
    uint64_t readings, shared_at, counted_steps; /* shared_at: the reading that fails; 0: none */
} counters;

static bool read_counters(void *user, struct pdnn_counts *counts) {
    assert_ptr_equal(user, &fake);
    note('r');
    *counts = counters.since;
    counts->cycles += 97;
    counts->instructions += 211;
    counts->running_ns += 20;
    counts->slowest_ghz = (double)counts->cycles / (double)counts->running_ns;
    counters.since = (struct pdnn_counts){0};
    return ++counters.readings != counters.shared_at;
}

static int counting_step(void *user) {
    static const struct pdnn_counts made = {4003, 10007, 1000, 4.003};
    pdnn_counts_add(&counters.since, &made);
    return step(user);
}

static int counted_step(void *user, const struct pdnn_counts *cost) {
    assert_ptr_equal(user, &fake);
    assert_int_equal(cost->instructions, 211);
    assert_int_equal(cost->cycles, 97);
    assert_int_equal(cost->running_ns, 20);
    counters.counted_steps++;
    note('k');
    return work();
}

static struct pdnn_visit run_counted(const struct pdnn_measure_rules *rules, uint64_t step_ns,
                                     uint64_t shared_at) {
    struct pdnn_measure_target counting = target;
    struct pdnn_visit visit = {.counted = {.counters = PDNN_COUNTERS_USER}};
    double unused[PARTS];
    counting.step = counting_step;
    counting.usage = read_usage;
    counting.count = read_counters;
    counting.counted_step = counted_step;
    memset(&counters, 0, sizeof counters);
    counters.shared_at = shared_at;
    start_fake(step_ns, NULL);
    fake.notes_clock = true;
    assert_int_equal(pdnn_measure_visit(&counting, rules, &visit, unused, &(struct pdnn_err){0}), PDNN_OK);
    return visit;
}

/* The cost of a reading is not the step's, however many steps there are between two. Readings are neither
 * between two samples nor in one, and there are three counted steps, of which one is counted part by part. */
static void test_measure_visit_counts(void **state) {
    (void)state;
    for (uint64_t step_ns = 1000; step_ns <= 100000000; step_ns *= 10) {
        for (int cold = 0; cold < 2; cold++) {
            const struct pdnn_measure_rules rules = {
                .min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02, .cold = cold};
            const struct pdnn_visit visit = run_counted(&rules, step_ns, 0);
            assert_int_equal(visit.counted.of.instructions, 10007);
            assert_near(visit.counted.of.ipc, 10007.0 / 4003, 1e-12);
            assert_near(visit.counted.of.effective_ghz, 4.003, 1e-12);
            assert_int_equal(visit.counted.counters, PDNN_COUNTERS_USER);
            assert_int_equal(counters.counted_steps, 1);
            const char *last_usage = memrchr(fake.event, 'u', fake.n_events),
                       *first_reading = memchr(fake.event, 'r', fake.n_events);
            assert_true(last_usage < first_reading);
            const size_t after = fake.n_events - (size_t)(first_reading - fake.event);
            assert_null(memchr(first_reading, 'p', after));
            size_t steps = 0, evictions = 0;
            for (size_t i = 0; i < after; i++) {
                steps += first_reading[i] == 's';
                evictions += first_reading[i] == 'e';
            }
            assert_int_equal(steps, 2 * visit.steps_per_sample);
            assert_int_equal(evictions, cold ? 3 : 0);
            assert_int_equal(counters.readings, 4 + 2 * 2);
        }
    }
}

/* Counters that others had for a part of the time count nothing, and neither do those for which the time
 * limit leaves no room; without counters there are no more steps. */
static void test_measure_visit_counts_all_or_nothing(void **state) {
    (void)state;
    struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    for (uint64_t reading = 1; reading <= 8; reading++) {
        const struct pdnn_visit visit = run_counted(&rules, 100000, reading);
        /* The first reading before what is counted tells nothing of it. */
        const bool is_before = reading == 1 || reading == 5 || reading == 7;
        assert_int_equal(visit.counted.counters, is_before ? PDNN_COUNTERS_USER : PDNN_COUNTERS_SHARED);
        assert_int_equal(visit.counted.of.instructions, is_before ? 10007 : 0);
        assert_true(is_before || visit.counted.of.ipc == 0);
        assert_int_equal(visit.samples, 5);
    }
    rules.time_limit_ns = 1000000000;
    rules.max_visit_ns = 100;
    const struct pdnn_visit late = run_counted(&rules, 110000000, 0);
    assert_int_equal(late.counted.counters, PDNN_COUNTERS_LATE);
    assert_int_equal(late.counted.of.instructions, 0);
    assert_int_equal(counters.readings, 0);
    rules.time_limit_ns = 0;
    start_fake(100000, NULL);
    const struct pdnn_visit plain = run(&rules, NULL);
    assert_int_equal(plain.counted.counters, PDNN_COUNTERS_OFF);
    assert_int_equal(fake.calls, plain.warmups + plain.samples * plain.steps_per_sample + fake.stamps);
}

/* Up to half as long again, at random: the quartiles never come close. */
static uint64_t wander(uint64_t call, uint64_t step_ns) {
    return step_ns + pdnn_rng_at(1, call) % (step_ns / 2);
}

/* Equal samples do not end a visit before it was worth its preparation. */
static void test_measure_visit_samples_for_its_cost(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = 5, .max_visit_ns = 1000000000, .least_ns = 100000000, .precision = 0.02};
    start_fake(1000000, NULL);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.stop, PDNN_STOP_PRECISION);
    assert_true(visit.spent.warmup_ns + visit.spent.samples_ns + visit.spent.stamped_ns >= 95000000);
    assert_true(visit.spent.warmup_ns + visit.spent.samples_ns + visit.spent.stamped_ns <= 160000000);
    assert_true((double)visit.spent.samples_ns >= (double)visit.samples * 0.99e6);
}

/* Stamped steps continue along with samples while there is time, and there are always at least three. */
static void test_measure_visit_steady_stops_at_min_samples(void **state) {
    (void)state;
    static const uint64_t steps_ns[] = {5, 1000, 59000, 61000, 5000000, 2000000000};
    enum { SLOW = 5, SLOW_STAMPS = 3 };
    for (size_t i = 0; i < sizeof steps_ns / sizeof *steps_ns; i++) {
        const struct pdnn_measure_rules rules = {
            .min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
        start_fake(steps_ns[i], NULL);
        struct pdnn_visit visit = run(&rules, NULL);
        assert_int_equal(visit.samples, 5);
        assert_int_equal(visit.stop, PDNN_STOP_PRECISION);
        assert_int_equal(visit.flags, 0);
        uint64_t stamps = i == SLOW ? SLOW_STAMPS : 5;
        assert_int_equal(fake.stamps, stamps);
        assert_near(visit.median_ns, (double)steps_ns[i], 1 + 0.001 * (double)steps_ns[i]);
        assert_near(visit.mad_ns, 0, 1e-9);
        assert_true(visit.warmups >= 2);
        assert_int_equal(visit.warmups + 5 * visit.steps_per_sample + stamps, fake.calls);
    }
}

/* A sample lasts 2000 clock reads, or one step. */
static void test_measure_visit_batches_short_steps(void **state) {
    (void)state;
    static const struct {
        uint64_t step_ns, least, most;
    } rows[] = {{10, 4000, 6100}, {1000, 58, 62}, {30000, 2, 3}, {60100, 1, 1}, {1000000, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_measure_rules rules = {
            .min_samples = 3, .max_visit_ns = 1000000000, .precision = 0.02};
        start_fake(rows[i].step_ns, NULL);
        struct pdnn_visit visit = run(&rules, NULL);
        assert_true(visit.steps_per_sample >= rows[i].least && visit.steps_per_sample <= rows[i].most);
    }
}

static void test_measure_visit_unsteady_goes_on_to_max_time(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 100000000, .precision = 0.02};
    start_fake(1000000, wander);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.stop, PDNN_STOP_MAX_TIME);
    assert_true(visit.samples > 20);
    assert_true(fake.now_ns < 100000000 + 5000000);
    assert_true(visit.min_ns <= visit.p10_ns && visit.p10_ns <= visit.median_ns);
    assert_true(visit.median_ns <= visit.p90_ns && visit.min_ns <= visit.mean_ns);
}

static void test_measure_visit_min_samples_outlast_max_time(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 7, .max_visit_ns = 1000, .precision = 0};
    start_fake(50000000, wander);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.samples, 7);
    assert_int_equal(visit.stop, PDNN_STOP_MAX_TIME);
    assert_int_equal(fake.stamps, 3);
    assert_int_equal(visit.warmups, 2);
}

/* Whatever min_samples asks for, a visit stays within its time limit as long as a warm-up step, a sample and
 * the next step fit; each slow sample is a stamped step too, and a step that is fast enough warms up and is
 * stamped as always. */
static void test_measure_visit_stays_within_time_limit(void **state) {
    (void)state;
    enum { LIMIT = 1000000000 };
    static const struct {
        uint64_t step_ns, samples, stamps, warmups;
    } rows[] = {
        {450000000, 1, 1, 1}, {300000000, 2, 2, 1}, {210000000, 3, 3, 1},
        {150000000, 5, 5, 1}, {110000000, 4, 3, 2}, {60000000, 11, 3, 2},
    };
    for (int cold = 0; cold < 2; cold++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const struct pdnn_measure_rules rules = {.min_samples = 50,
                                                     .max_visit_ns = 500000000,
                                                     .time_limit_ns = LIMIT,
                                                     .precision = 0.02,
                                                     .cold = cold};
            double part_ns[PARTS];
            start_fake(rows[i].step_ns, NULL);
            uint64_t begun_ns = fake.now_ns;
            struct pdnn_visit visit = run(&rules, part_ns);
            assert_true(fake.now_ns - begun_ns <= LIMIT);
            assert_int_equal(visit.stop, PDNN_STOP_TIME_LIMIT);
            assert_int_equal(visit.samples, rows[i].samples);
            assert_int_equal(fake.stamps, rows[i].stamps);
            assert_int_equal(visit.warmups, rows[i].warmups);
            assert_near(visit.median_ns, (double)rows[i].step_ns, 1);
            assert_near(part_ns[1], 0.3 * (double)rows[i].step_ns, 1);
        }
    }
}

/* Never precise, and practically no time limit: the visit ends when the room for samples is used up. */
static void test_measure_visit_stops_when_full(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = 5, .max_visit_ns = UINT64_MAX / 2, .precision = 0};
    start_fake(100000, wander);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.stop, PDNN_STOP_SAMPLES);
    assert_true(visit.samples >= 10000);
}

/* The greatest min_samples leaves room for exactly as many samples; precision counts even then. */
static void test_measure_visit_full_and_precise(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = PDNN_VISIT_SAMPLES_MAX, .max_visit_ns = UINT64_MAX / 2, .precision = 0.02};
    start_fake(100000, NULL);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.samples, PDNN_VISIT_SAMPLES_MAX);
    assert_int_equal(visit.stop, PDNN_STOP_PRECISION);
}

/* Forty steps, each a tenth faster than the one before, as with lazy initialization and rising clocks. */
static uint64_t settle(uint64_t call, uint64_t step_ns) {
    double extra = 50.0 * (double)step_ns;
    for (uint64_t i = 0; i < call && i < 200; i++)
        extra *= 0.9;
    return step_ns + (uint64_t)extra;
}

static void test_measure_visit_warms_up(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = 5, .max_visit_ns = UINT64_C(10000000000), .precision = 0.5};
    start_fake(1000000, settle);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_true(visit.warmups > 20);
    assert_true(visit.p90_ns < 1.2e6);
}

static void test_measure_visit_cold_evicts_before_each(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = 6, .max_visit_ns = 1000000000, .precision = 0.02, .cold = true};
    start_fake(100, NULL);
    struct pdnn_visit visit = run(&rules, NULL);
    assert_int_equal(visit.steps_per_sample, 1);
    assert_int_equal(visit.samples, 6);
    assert_true(visit.flags & PDNN_FLAG_SHORT);
    assert_string_equal(fake.event + visit.warmups, "esepesepesepesepesepesep");
}

/* A cold step lies alone between two clock reads, whose cost is not its own. One that is not seen at all
 * still took time. */
static void test_measure_visit_without_the_clock(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = 6, .max_visit_ns = 1000000000, .precision = 0.02, .cold = true};
    static const uint64_t steps_ns[] = {0, 1, CLOCK_NS, 100};
    for (size_t i = 0; i < sizeof steps_ns / sizeof *steps_ns; i++) {
        start_fake(steps_ns[i], NULL);
        assert_near(run(&rules, NULL).median_ns, steps_ns[i] ? (double)steps_ns[i] : 1, 0);
    }
}

static void test_measure_visit_warm_never_evicts(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    start_fake(100000, NULL);
    run(&rules, NULL);
    assert_null(memchr(fake.event, 'e', fake.n_events));
}

static void test_measure_visit_part_medians(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    double part_ns[PARTS] = {0};
    start_fake(100000, NULL);
    struct pdnn_visit visit = run(&rules, part_ns);
    assert_near(part_ns[0], 10000, 0);
    assert_near(part_ns[1], 30000, 0);
    assert_near(part_ns[2], 60000, 0);
    assert_near(visit.stamped_ns, 100000, 0);
}

/* However long the visit gets, its second half has as many stamped steps as its first, and there are few of
 * them. Speed falls steadily, so medians of early stamps alone would show. */
static uint64_t slow_down(uint64_t call, uint64_t step_ns) {
    return step_ns + call * 40 + (call % 2) * step_ns / 2;
}

static void test_measure_visit_spreads_stamps(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 400000000, .precision = 0};
    double part_ns[PARTS];
    start_fake(100000, slow_down);
    struct pdnn_visit visit = run(&rules, part_ns);
    assert_true(visit.samples > 1000);
    assert_true(fake.stamps * 4 < visit.samples);
    assert_near((part_ns[0] + part_ns[1] + part_ns[2]) / visit.median_ns, 1, 0.25);
    size_t late = 0;
    for (size_t i = fake.n_events * 3 / 4; i < fake.n_events; i++)
        late += fake.event[i] == 'p';
    assert_true(late >= 8);
}

static uint64_t jump(uint64_t call, uint64_t step_ns) {
    return call < 60 ? step_ns : step_ns * 11 / 10;
}

static uint64_t creep(uint64_t call, uint64_t step_ns) {
    return call < 60 ? step_ns : step_ns * 103 / 100;
}

static void test_measure_visit_flags_drift(void **state) {
    (void)state;
    static const struct {
        uint64_t (*script)(uint64_t, uint64_t);
        bool drift;
    } rows[] = {{jump, true}, {creep, false}};
    for (size_t i = 0; i < 2; i++) {
        /* More samples than fit before the jump, so precision cannot end the visit earlier. */
        const struct pdnn_measure_rules rules = {
            .min_samples = 50, .max_visit_ns = 100000000, .precision = 0.0001};
        start_fake(1000000, rows[i].script);
        struct pdnn_visit visit = run(&rules, NULL);
        assert_int_equal((visit.flags & PDNN_FLAG_DRIFT) != 0, rows[i].drift);
    }
}

static void test_measure_visit_failing_step(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 1000000000, .precision = 0.02};
    /* In the warm-up, in a sample and in a stamped step. */
    for (uint64_t fail_at = 1; fail_at < 14; fail_at++) {
        double part_ns[PARTS];
        struct pdnn_visit visit = {.samples = 99};
        struct pdnn_err err = {0};
        start_fake(1000000, NULL);
        fake.fail_at = fail_at;
        assert_int_equal(pdnn_measure_visit(&target, &rules, &visit, part_ns, &err), PDNN_INTERNAL);
        assert_non_null(strstr(err.text, "7"));
        assert_int_equal(visit.samples, 99);
        assert_int_equal(fake.calls, fail_at);
    }
}

static void test_measure_visit_too_many_samples(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {
        .min_samples = PDNN_VISIT_SAMPLES_MAX + 1, .max_visit_ns = 1000, .precision = 0.02};
    double part_ns[PARTS];
    struct pdnn_visit visit = {0};
    struct pdnn_err err = {0};
    start_fake(1000, NULL);
    assert_int_equal(pdnn_measure_visit(&target, &rules, &visit, part_ns, &err), PDNN_INVALID);
    assert_int_equal(fake.calls, 0);
}

static int count_step(void *user) {
    ++*(uint64_t *)user;
    return 0;
}

static int count_stamped_step(void *user, uint64_t *ns) {
    ns[0] += 1;
    return count_step(user);
}

/* The real clock, and a step of next to nothing: no asserted time, only that it ends and hangs together. */
static void test_measure_visit_real_clock(void **state) {
    (void)state;
    const struct pdnn_measure_rules rules = {.min_samples = 5, .max_visit_ns = 2000000, .precision = 0};
    uint64_t calls = 0;
    double part_ns;
    struct pdnn_visit visit = {0};
    const struct pdnn_measure_target tiny = {
        .user = &calls, .step = count_step, .stamped_step = count_stamped_step, .n_parts = 1};
    assert_int_equal(pdnn_measure_visit(&tiny, &rules, &visit, &part_ns, NULL), PDNN_OK);
    assert_true(visit.samples >= 5);
    assert_near(part_ns, 1, 0);
    assert_true(calls > visit.warmups + visit.samples * visit.steps_per_sample);
    assert_true(visit.min_ns > 0 && visit.min_ns <= visit.median_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measure_visit_waits),
        cmocka_unit_test(test_measure_visit_usage),
        cmocka_unit_test(test_measure_visit_reads_nothing_in_samples),
        cmocka_unit_test(test_measure_visit_counts),
        cmocka_unit_test(test_measure_visit_counts_all_or_nothing),
        cmocka_unit_test(test_measure_visit_samples_for_its_cost),
        cmocka_unit_test(test_measure_visit_steady_stops_at_min_samples),
        cmocka_unit_test(test_measure_visit_batches_short_steps),
        cmocka_unit_test(test_measure_visit_unsteady_goes_on_to_max_time),
        cmocka_unit_test(test_measure_visit_min_samples_outlast_max_time),
        cmocka_unit_test(test_measure_visit_stays_within_time_limit),
        cmocka_unit_test(test_measure_visit_stops_when_full),
        cmocka_unit_test(test_measure_visit_full_and_precise),
        cmocka_unit_test(test_measure_visit_warms_up),
        cmocka_unit_test(test_measure_visit_cold_evicts_before_each),
        cmocka_unit_test(test_measure_visit_without_the_clock),
        cmocka_unit_test(test_measure_visit_warm_never_evicts),
        cmocka_unit_test(test_measure_visit_part_medians),
        cmocka_unit_test(test_measure_visit_spreads_stamps),
        cmocka_unit_test(test_measure_visit_flags_drift),
        cmocka_unit_test(test_measure_visit_failing_step),
        cmocka_unit_test(test_measure_visit_too_many_samples),
        cmocka_unit_test(test_measure_visit_real_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
