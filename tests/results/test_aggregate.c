/* Visits to rows, with values worked out by hand. */
#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "base/stats.h"
#include "tests/results/made_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID                                                                                                   \
    "fc/"                                                                                                    \
    "layers=1,nodes=8,input=16,output=4,batch=2,activation=relu,mode=infer,dtype=f32,backend=onednn,"        \
    "threads=2,"                                                                                             \
    "cache=warm,fuse=none"

/* The whole model fits the first level. */
static const struct pdnn_roof_rows roof_rows = {
    .count = 5,
    .row =
        {
            {"compute", "fma", "f32", "", 2, 0, 200, 0, 0, 1},
            {"bandwidth", "read", "", "L1", 2, 1 << 20, 100, 0, 0, 1},
            {"bandwidth", "read", "", "DRAM", 2, 0, 10, 0, 0, 1},
            {"probe", "fma", "", "", 2, 0, 200, 0, 0, 1},
            {"probe", "read", "", "", 2, 0, 20, 0, 0, 1},
        },
};

static struct pdnn_visit ok_visit(double median_ns) {
    return (struct pdnn_visit){
        .started_unix_ms = 1000,
        .prepare_ns = 7,
        .plan_bytes = 4096,
        .samples = 10,
        .steps_per_sample = 1,
        .warmups = 2,
        .median_ns = median_ns,
        .min_ns = median_ns - 5,
        .mean_ns = median_ns + 1,
        .p10_ns = median_ns - 2,
        .p90_ns = median_ns + 3,
        .mad_ns = 1,
        .stop = PDNN_STOP_PRECISION,
    };
}

static struct pdnn_visit failed_visit(enum pdnn_outcome outcome, const char *reason) {
    struct pdnn_visit visit = {.outcome = outcome, .started_unix_ms = 2000};
    strcpy(visit.reason, reason);
    return visit;
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct made_row made; /* the last one */

static int finish(void **state) {
    (void)state;
    made_row_finish(&made);
    return 0;
}

static void make_row(struct pdnn_visit *visits, size_t count) {
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = visits, .count = count}, .precision = 0.02, .host = "h"};
    made_row_make(&input, &made);
}

/* What ended most visits, whichever came last; on a tie, the later in the enum. */
static void test_aggregate_stop_reason(void **state) {
    (void)state;
    static const struct {
        enum pdnn_stop stop[4];
        const char *reason;
    } rows[] = {
        {{PDNN_STOP_MAX_TIME, PDNN_STOP_MAX_TIME, PDNN_STOP_MAX_TIME, PDNN_STOP_PRECISION}, "max_time"},
        {{PDNN_STOP_PRECISION, PDNN_STOP_PRECISION, PDNN_STOP_SAMPLES, PDNN_STOP_MAX_TIME}, "precision"},
        {{PDNN_STOP_MAX_TIME, PDNN_STOP_PRECISION, PDNN_STOP_MAX_TIME, PDNN_STOP_PRECISION}, "max_time"},
        {{PDNN_STOP_SAMPLES, PDNN_STOP_SAMPLES, PDNN_STOP_PRECISION, PDNN_STOP_MAX_TIME}, "samples"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit visits[4];
        for (size_t k = 0; k < 4; k++) {
            visits[k] = ok_visit(100);
            visits[k].stop = rows[i].stop[k];
        }
        const struct pdnn_aggregate_input input = {.id = ID, .of = {.visit = visits, .count = 4}};
        made_row_make(&input, &made);
        assert_string_equal(TEXT(STOP_REASON), rows[i].reason);
    }
}

/* Two visits alone leave one degree of freedom, which makes an interval too wide to say anything. */
static void test_aggregate_two_visits(void **state) {
    (void)state;
    struct pdnn_visit visits[] = {ok_visit(100), ok_visit(120)};
    struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = visits, .count = 2}, .precision = 0.02, .host = "h"};
    made_row_make(&input, &made);
    assert_true(isnan(NUMBER(CI_LOW_NS)) && isnan(NUMBER(CI_HIGH_NS)));
    assert_true(pdnn_result_flags(&made.row) & PDNN_FLAG_NOISY);
    input.pool = (struct pdnn_scatter){0.001, 6};
    made_row_make(&input, &made);
    assert_true(NUMBER(CI_LOW_NS) > 50 && NUMBER(CI_HIGH_NS) < 220);
}

/* A factor of three between the ends of its interval, not only a wide one, and only where the model ran: how
 * busy the machine was says nothing about a sum of predictions. */
static void test_aggregate_unusable(void **state) {
    (void)state;
    static const struct {
        double last_ns;
        unsigned of_visits, of_row;
    } rows[] = {{102, 0, 0},
                {115, 0, PDNN_FLAG_NOISY},
                {200, 0, PDNN_FLAG_NOISY | PDNN_FLAG_UNUSABLE},
                {200, PDNN_FLAG_COMPOSED, PDNN_FLAG_NOISY},
                {200, PDNN_FLAG_COMPOSED | PDNN_FLAG_PREDICTED, PDNN_FLAG_NOISY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit visits[] = {ok_visit(100), ok_visit(101), ok_visit(rows[i].last_ns)};
        for (size_t k = 0; k < 3; k++)
            visits[k].flags = rows[i].of_visits;
        make_row(visits, 3);
        assert_int_equal(pdnn_result_flags(&made.row), rows[i].of_visits | rows[i].of_row);
        assert_int_equal(NUMBER(CI_HIGH_NS) > 3 * NUMBER(CI_LOW_NS), rows[i].last_ns == 200);
    }
}

static void test_aggregate_times(void **state) {
    (void)state;
    struct pdnn_visit visits[] = {ok_visit(120), ok_visit(100), ok_visit(110)};
    double medians[] = {120, 100, 110}, scratch[3];
    visits[1].prepare_ns = 9;
    visits[0].flags = PDNN_FLAG_DRIFT;
    visits[1].flags = PDNN_FLAG_PREEMPTED;
    visits[2].flags = PDNN_FLAG_SHORT | PDNN_FLAG_PREEMPTED;
    visits[2].stop = PDNN_STOP_MAX_TIME;
    visits[2].plan_bytes = 8192;
    make_row(visits, 3);
    struct pdnn_interval interval = pdnn_visits_interval(medians, 3, (struct pdnn_scatter){0, 0}, scratch);
    assert_int_equal(pdnn_result_outcome(&made.row), PDNN_OUTCOME_OK);
    assert_string_equal(TEXT(REASON), "");
    assert_near(NUMBER(TIME_NS_MEDIAN), 110);
    assert_near(NUMBER(TIME_NS_MIN), 95);
    assert_near(NUMBER(TIME_NS_MEAN), 111);
    assert_near(NUMBER(TIME_NS_P10), 108);
    assert_near(NUMBER(TIME_NS_P90), 113);
    assert_near(NUMBER(TIME_NS_MAD), 1);
    assert_near(NUMBER(CI_LOW_NS), interval.low);
    assert_near(NUMBER(CI_HIGH_NS), interval.high);
    assert_near(NUMBER(CI_HALF_PCT), (interval.high - interval.low) / 2 / 110 * 100);
    assert_true(NUMBER(CI_LOW_NS) < 110 && NUMBER(CI_HIGH_NS) > 110);
    assert_int_equal(COUNT(ROUNDS), 3);
    assert_int_equal(COUNT(SAMPLES), 30);
    assert_int_equal(COUNT(WARMUPS), 6);
    assert_int_equal(COUNT(PREPARE_NS), 7);
    assert_int_equal(COUNT(PLAN_BYTES), 8192);
    assert_string_equal(TEXT(STOP_REASON), "precision");
    assert_string_equal(TEXT(HOST), "h");
    assert_string_equal(TEXT(STARTED_UTC), "1970-01-01T00:00:01.000Z");
    /* +-9 % between visits is far wider than five times 2 %; two of three visits
     * were preempted, one drifted. */
    assert_int_equal(pdnn_result_flags(&made.row), PDNN_FLAG_PREEMPTED | PDNN_FLAG_SHORT | PDNN_FLAG_NOISY);
    assert_near(NUMBER(EXAMPLES_PER_S), 2 / 110e-9);
    assert_near(NUMBER(GFLOPS), NUMBER(FLOP_COUNT) / 110);
    assert_true(isnan(NUMBER(ATTAINABLE_GFLOPS)) && isnan(NUMBER(SPEED_INDEX)));
}

/* What the hardware did, and what of it differed: a noisy row names it, or says that none of these did. */
static void test_aggregate_states(void **state) {
    static const struct {
        double ns[3], handoff_ns[3], clock_ghz[3], share_pct[3];
        double far_pct;     /* 0: not moved */
        const char *varied; /* of a noisy row */
    } rows[] = {
        {{100, 101, 240}, {100, 105, 400}, {4, 4, 4}, {100, 99, 98}, 100.0 / 3, "distance"},
        {{100, 100, 100}, {400, 105, 400}, {4, 4, 4}, {100, 99, 98}, 200.0 / 3, ""},
        {{100, 101, 240}, {100, 149, 120}, {4, 4.1, 3.8}, {100, 99, 98}, 0, "clock"},
        {{100, 101, 240}, {100, 149, 120}, {4, 4.1, 4}, {100, 99, 60}, 0, "share"},
        {{100, 101, 240}, {100, 400, 120}, {4, 4.1, 3}, {100, 99, 60}, 100.0 / 3, "distance|clock|share"},
        {{100, 101, 240}, {100, 149, 120}, {4, 4.1, 4}, {100, 99, 98}, 0, "none"},
        {{100, 101, 240}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, ""},   /* nothing is known */
        {{100, 101, 240}, {0, 105, 0}, {0, 4, 0}, {0, 0, 0}, 0, ""}, /* one visit differs from none */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit visits[3];
        for (size_t k = 0; k < 3; k++) {
            visits[k] = ok_visit(rows[i].ns[k]);
            visits[k].probe_gflops = 256;
            visits[k].hardware = (struct pdnn_visit_hardware){
                rows[i].clock_ghz[k], rows[i].handoff_ns[k], 0, rows[i].share_pct[k], k > 0, 5, 0, (double)k};
        }
        make_row(visits, 3);
        assert_int_equal((pdnn_result_flags(&made.row) & PDNN_FLAG_MOVED) != 0, rows[i].far_pct > 0);
        assert_near(isnan(NUMBER(FAR_PCT)) ? 0 : NUMBER(FAR_PCT), rows[i].far_pct);
        assert_string_equal(TEXT(VARIED), rows[i].varied);
        assert_true(COUNT(PAGE_FAULTS) == 10 && COUNT(CONTEXT_SWITCHES) == 0);
        assert_near(NUMBER(STEAL_PCT), 1.5);
        if (rows[i].clock_ghz[0] > 0)
            assert_near(NUMBER(FLOP_PER_CYCLE), 256 / NUMBER(CLOCK_GHZ) / 2);
    }
    make_row(&(struct pdnn_visit){.median_ns = 100}, 1);
    assert_true(COUNT(PAGE_FAULTS) == UINT64_MAX && isnan(NUMBER(STEAL_PCT)));
}

/* Each micro-step of a step sees one minibatch. */
static void test_aggregate_micro_steps(void **state) {
    (void)state;
    struct pdnn_visit visit = ok_visit(100);
    const struct pdnn_aggregate_input input = {.id = "fc/nodes=3,batch=2,threads=2,accumulate=5",
                                               .of = {.visit = &visit, .count = 1}};
    made_row_make(&input, &made);
    assert_near(NUMBER(EXAMPLES_PER_S), 5 * 2 / 100e-9);
}

static void test_aggregate_single_visit_has_no_interval(void **state) {
    (void)state;
    struct pdnn_visit visit = ok_visit(100);
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = &visit, .count = 1}, .precision = 0.02};
    made_row_make(&input, &made);
    assert_near(NUMBER(TIME_NS_MEDIAN), 100);
    assert_true(isnan(NUMBER(CI_LOW_NS)) && isnan(NUMBER(CI_HIGH_NS)));
    assert_int_equal(pdnn_result_flags(&made.row), 0);
}

static void test_aggregate_flags(void **state) {
    (void)state;
    static const struct {
        double medians[7];
        size_t n;
        double precision;
        unsigned flags;
    } rows[] = {
        {{100, 101, 102, 110, 111, 112}, 6, 1, PDNN_FLAG_DRIFT},
        {{100, 101, 111, 110, 102, 112}, 6, 1, 0},                    /* the halves overlap */
        {{100, 101, 102, 500, 110, 111, 112}, 7, 1, PDNN_FLAG_DRIFT}, /* the middle one is in neither half */
        {{100, 101, 102, 103, 104, 105}, 6, 1, 0},                    /* apart, but by less than 5 % */
        {{110, 111, 112, 100, 101, 102}, 6, 1, PDNN_FLAG_DRIFT},
        {{100, 100, 110, 110}, 4, 1, 0}, /* two per half say nothing */
        {{100, 100, 100, 100}, 4, 0.0001, 0},
        {{100, 101, 100, 101}, 4, 0.0001, PDNN_FLAG_NOISY},
        {{100, 101, 100, 101}, 4, 0, 0}, /* no precision was requested */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit visits[7];
        for (size_t k = 0; k < rows[i].n; k++)
            visits[k] = ok_visit(rows[i].medians[k]);
        const struct pdnn_aggregate_input input = {
            .id = ID, .of = {.visit = visits, .count = rows[i].n}, .precision = rows[i].precision};
        made_row_make(&input, &made);
        assert_int_equal(pdnn_result_flags(&made.row), rows[i].flags);
    }
}

static void test_aggregate_status(void **state) {
    (void)state;
    const struct pdnn_visit ok = ok_visit(100), crash = failed_visit(PDNN_OUTCOME_CRASH, "signal 11"),
                            timeout = failed_visit(PDNN_OUTCOME_TIMEOUT, "");
    struct {
        struct pdnn_visit visits[3];
        size_t n;
        enum pdnn_outcome outcome, expected;
        const char *reason, *expected_reason;
        uint64_t rounds;
    } rows[] = {
        {{ok, crash, ok}, 3, 0, PDNN_OUTCOME_OK, NULL, "1 of 3 visits failed, the last: crash: signal 11", 2},
        {{crash, ok, timeout}, 3, 0, PDNN_OUTCOME_OK, NULL, "2 of 3 visits failed, the last: timeout", 1},
        {{timeout, crash}, 2, 0, PDNN_OUTCOME_CRASH, NULL, "signal 11", 0},
        {{crash, timeout}, 2, 0, PDNN_OUTCOME_TIMEOUT, NULL, "", 0},
        {{ok}, 0, PDNN_OUTCOME_FILTERED, PDNN_OUTCOME_FILTERED, "params <= 1e9", "params <= 1e9", 0},
        {{ok}, 0, PDNN_OUTCOME_INTERRUPTED, PDNN_OUTCOME_INTERRUPTED, NULL, "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_aggregate_input input = {.id = ID,
                                                   .of = {.visit = rows[i].visits, .count = rows[i].n},
                                                   .outcome = rows[i].outcome,
                                                   .reason = rows[i].reason};
        made_row_make(&input, &made);
        assert_int_equal(pdnn_result_outcome(&made.row), rows[i].expected);
        assert_string_equal(TEXT(REASON), rows[i].expected_reason);
        assert_int_equal(COUNT(ROUNDS), rows[i].rounds);
        assert_true(COUNT(MEMORY_BYTES) > 0 && COUNT(MEMORY_BYTES) != PDNN_ABSENT);
        assert_int_equal(isnan(NUMBER(TIME_NS_MEDIAN)), rows[i].rounds == 0);
    }
}

/* Composed visits make a row until the model has run; then they are as if they were not there. */
static void test_aggregate_composed(void **state) {
    (void)state;
    struct pdnn_visit visits[4] = {ok_visit(90), ok_visit(110), failed_visit(PDNN_OUTCOME_UNPREDICTED, "why"),
                                   ok_visit(200)};
    for (size_t i = 0; i < 3; i++)
        visits[i].flags |= PDNN_FLAG_COMPOSED;
    struct pdnn_aggregate_input input = {.id = ID, .of = {.visit = visits, .count = 2}, .precision = 1};
    made_row_make(&input, &made);
    assert_string_equal(TEXT(METHOD), "composed");
    assert_near(NUMBER(TIME_NS_MEDIAN), 100);
    assert_true(isnan(NUMBER(TIME_NS_P10)) && isnan(NUMBER(TIME_NS_MIN)) && isnan(NUMBER(TIME_NS_MAD)));
    assert_string_equal(TEXT(STOP_REASON), "");
    assert_int_equal(pdnn_result_flags(&made.row) & PDNN_FLAG_COMPOSED, PDNN_FLAG_COMPOSED);
    input.of.visit = visits + 2;
    input.of.count = 1;
    made_row_make(&input, &made);
    assert_int_equal(pdnn_result_outcome(&made.row), PDNN_OUTCOME_UNPREDICTED);
    assert_string_equal(TEXT(REASON), "why");
    assert_string_equal(TEXT(METHOD), "");
    input.of.visit = visits;
    input.of.count = 4;
    made_row_make(&input, &made);
    assert_string_equal(TEXT(METHOD), "direct");
    assert_near(NUMBER(TIME_NS_MEDIAN), 200);
    assert_int_equal(COUNT(ROUNDS), 1);
    assert_int_equal(pdnn_result_flags(&made.row) & PDNN_FLAG_COMPOSED, 0);
    assert_string_equal(TEXT(REASON), "");
}

/* Settled visits replace the rounds', the last ones the earlier, and their quantiles are the interval; runs
 * of the model replace all. */
static void test_aggregate_settled(void **state) {
    (void)state;
    struct pdnn_visit visits[6] = {ok_visit(90),  ok_visit(110), ok_visit(120),
                                   ok_visit(119), ok_visit(121), ok_visit(200)};
    for (size_t i = 0; i < 5; i++) {
        visits[i].flags |= PDNN_FLAG_COMPOSED | (i > 1 ? PDNN_FLAG_SETTLED : 0);
        visits[i].started_unix_ms = i < 2 ? 5000 : i == 2 ? 1000 : 2000;
        visits[i].p10_ns = i < 2 ? visits[i].median_ns : 114;
        visits[i].p90_ns = i < 2 ? visits[i].median_ns : 126;
    }
    struct pdnn_aggregate_input input = {.id = ID, .of = {.visit = visits, .count = 5}, .precision = 1};
    made_row_make(&input, &made);
    assert_string_equal(TEXT(METHOD), "composed");
    assert_int_equal(COUNT(ROUNDS), 2);
    assert_near(NUMBER(TIME_NS_MEDIAN), 120);
    assert_near(NUMBER(CI_LOW_NS), 114);
    assert_near(NUMBER(CI_HIGH_NS), 126);
    assert_true(isnan(NUMBER(TIME_NS_P10)));
    visits[3].p10_ns = visits[3].p90_ns = visits[4].p10_ns = visits[4].p90_ns = 120;
    made_row_make(&input, &made);
    assert_true(isnan(NUMBER(CI_LOW_NS)) || NUMBER(CI_LOW_NS) < 119);
    /* The limits of what was predicted are not all: the rounds scatter as well. */
    for (size_t i = 0; i < 5; i++)
        visits[i].flags |= PDNN_FLAG_PREDICTED;
    visits[3].p10_ns = visits[4].p10_ns = 119.9;
    visits[3].p90_ns = visits[4].p90_ns = 120.1;
    input.pool = (struct pdnn_scatter){.variance = 0.01, .degrees = 10};
    made_row_make(&input, &made);
    assert_string_equal(TEXT(METHOD), "predicted");
    assert_true(NUMBER(CI_LOW_NS) < 119.9 && NUMBER(CI_HIGH_NS) > 120.1);
    input.of.count = 6;
    made_row_make(&input, &made);
    assert_string_equal(TEXT(METHOD), "direct");
    assert_near(NUMBER(TIME_NS_MEDIAN), 200);
}

/* The roof at the time, by the FMA probe: steps far shorter than the probe see the best visit's speed, 95 %
 * of the reference. The DRAM probe does not affect data in L1. */
static void test_aggregate_speed_and_roof(void **state) {
    (void)state;
    struct pdnn_visit visits[] = {ok_visit(100), ok_visit(100), ok_visit(100), ok_visit(100)};
    static const double probes[] = {190, 180, 100, 0}; /* the last visit had none */
    for (size_t i = 0; i < 4; i++) {
        visits[i].probe_gflops = probes[i];
        visits[i].probe_gbs = probes[i] / 100;
    }
    struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = visits, .count = 4}, .precision = 0.02, .roof_rows = &roof_rows};
    made_row_make(&input, &made);
    double bytes = NUMBER(BYTE_COUNT), flop = NUMBER(FLOP_COUNT);
    double speed = NUMBER(SPEED_INDEX);
    assert_string_equal(TEXT(BOUND), "memory");
    assert_string_equal(TEXT(ROOF_LEVEL), "L1");
    assert_true(fabs(speed - 0.95) < 1e-4);
    assert_near(NUMBER(ATTAINABLE_GFLOPS), flop / (bytes / 100) * speed);
    assert_near(NUMBER(PCT_OF_ROOF), bytes / 100 / speed / 100 * 100);
    assert_near(NUMBER(BW_GBS), bytes / 100);
    assert_int_equal(pdnn_result_flags(&made.row), 0);
    /* A little faster than the probes allow. */
    for (size_t i = 0; i < 4; i++)
        visits[i].median_ns = bytes / 100 / 0.95 / 1.02;
    made_row_make(&input, &made);
    assert_true(fabs(NUMBER(PCT_OF_ROOF) - 102) < 0.01);
    assert_int_equal(pdnn_result_flags(&made.row), 0);
    /* By more than the margin, but not faster than the measured roof: the probes were held up, and the roof
     * of that moment is not known. The row's own rate is none. */
    for (size_t i = 0; i < 4; i++)
        visits[i].median_ns = bytes / 100 / 0.95 / 1.052;
    made_row_make(&input, &made);
    assert_string_equal(TEXT(BOUND), "memory");
    assert_true(isnan(NUMBER(PCT_OF_ROOF)) && isnan(NUMBER(ATTAINABLE_GFLOPS)));
    assert_int_equal(pdnn_result_flags(&made.row), PDNN_FLAG_UNPLACED);
    /* Faster than the measured roof by more than the margin. */
    for (size_t i = 0; i < 4; i++)
        visits[i].median_ns = bytes / 100 / 1.06;
    made_row_make(&input, &made);
    assert_near(NUMBER(PCT_OF_ROOF), 106);
    assert_int_equal(pdnn_result_flags(&made.row), PDNN_FLAG_ABOVE_ROOF);
    for (size_t i = 0; i < 4; i++)
        visits[i].median_ns = bytes / 100 / 1.04;
    made_row_make(&input, &made);
    assert_int_equal(pdnn_result_flags(&made.row), 0);
}

/* A neighbour that has half of the core, in turns: one visit in three had undisturbed probes, the others ran
 * at half the speed. A short step is measured between the turns, a long one across them. */
static void test_aggregate_speed_by_length_of_step(void **state) {
    (void)state;
    static const struct {
        double step_ns, index;
    } rows[] = {{1, 1}, {2e6, 1 / (0.5 / 1 + 0.5 / 0.5)}, {6e6, 1 / (0.25 / 1 + 0.75 / 0.5)}, {2e15, 0.5}};
    static const double probes[] = {100, 200, 100};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_visit visits[3];
        for (size_t k = 0; k < 3; k++) {
            visits[k] = ok_visit(rows[i].step_ns);
            visits[k].probe_gflops = probes[k];
        }
        const struct pdnn_aggregate_input input = {
            .id = ID, .of = {.visit = visits, .count = 3}, .precision = 0.02, .roof_rows = &roof_rows};
        made_row_make(&input, &made);
        assert_true(fabs(NUMBER(SPEED_INDEX) - rows[i].index) < 1e-6);
    }
}

/* A probe far from its reference says nothing about the machine: the roof stays as
 * measured, and the row gets a flag. */
static void test_aggregate_odd_speed(void **state) {
    (void)state;
    static const struct {
        double probe_gflops, factor; /* factor of the roof; the reference probe is 200 */
        unsigned flags;
    } cases[] = {
        {200, 1, 0},
        {700, 1, 0}, /* never above the measured roof */
        {60, 0.3, 0},
        {900, 1, PDNN_FLAG_ODD_SPEED},
        {2e6, 1, PDNN_FLAG_ODD_SPEED},
        {40, 1, PDNN_FLAG_ODD_SPEED},
    };
    double roof_gflops = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_visit visit = ok_visit(1e6);
        visit.probe_gflops = cases[i].probe_gflops;
        const struct pdnn_aggregate_input input = {
            .id = ID, .of = {.visit = &visit, .count = 1}, .precision = 0.02, .roof_rows = &roof_rows};
        made_row_make(&input, &made);
        roof_gflops = i == 0 ? NUMBER(ATTAINABLE_GFLOPS) : roof_gflops;
        assert_near(NUMBER(ATTAINABLE_GFLOPS), roof_gflops * cases[i].factor);
        assert_int_equal(pdnn_result_flags(&made.row), cases[i].flags);
    }
}

/* An id that no longer parses: the row exists, with what the visits alone say. */
static void test_aggregate_unknown_id(void **state) {
    (void)state;
    struct pdnn_visit visits[] = {ok_visit(100), ok_visit(110)};
    const struct pdnn_aggregate_input input = {
        .id = "gone/x=1", .of = {.visit = visits, .count = 2}, .precision = 0.02, .roof_rows = &roof_rows};
    made_row_make(&input, &made);
    assert_string_equal(TEXT(ID), "gone/x=1");
    assert_true(COUNT(FLOP_COUNT) == PDNN_ABSENT);
    assert_int_equal(pdnn_result_outcome(&made.row), PDNN_OUTCOME_OK);
    assert_near(NUMBER(TIME_NS_MEDIAN), 105);
    assert_true(isnan(NUMBER(GFLOPS)));
}

static struct pdnn_visit_op visit_op(const char *key, const char *implementation, uint32_t count,
                                     uint64_t bytes, double time_ns) {
    struct pdnn_visit_op op = {.count = count, .bytes = bytes, .time_ns = time_ns};
    strcpy(op.key, key);
    strcpy(op.implementation, implementation);
    if (strchr(key, '@'))
        strcpy(op.layer, strchr(key, '@') + 1);
    return op;
}

/* The ops of these visits as a journal stores them, in `known`. */
static struct pdnn_measured_ops *keep(struct pdnn_visits *known, const struct pdnn_visit *visits,
                                      size_t n_visits) {
    for (size_t i = 0; i < n_visits; i++)
        pdnn_visits_add(known, ID, &visits[i]);
    return pdnn_visits_of(known, ID).ops;
}

/* Longer than half of the room for one op's names. */
#define LONG_NAME "brgemm_convolution_like_name_of_a_library:avx512_core_amx"

/* 1 dense + bias + relu, then dense + bias: five groups, since the two layers have different shapes. */
static void test_aggregate_ops(void **state) {
    (void)state;
    static const char dense1[] = "dense/forward/2x16:8x16:2x8", dense2[] = "dense/forward/2x8:4x8:2x4",
                      often[] = "reorder/forward/8x16", seldom[] = "reorder/backward-weights/4x8";
    struct pdnn_visit_op ops[3][4] = {
        {visit_op(dense1, "gemm:jit", 1, 0, 40), visit_op(dense2, "brgemm", 1, 0, 10),
         visit_op(often, "jit", 2, 1024, 8), visit_op(seldom, "jit", 1, 256, 5)},
        /* Another order, and no second reorder. */
        {visit_op(often, "jit", 2, 1024, 6), visit_op(dense2, "brgemm", 1, 0, 30),
         visit_op(dense1, "jit", 1, 0, 60)},
        /* One node in two parts, and no reorder at all. */
        {visit_op(dense1, "gemm:jit", 1, 0, 20), visit_op(dense1, "jit", 1, 0, 30),
         visit_op(dense2, LONG_NAME, 1, 0, 20)},
    };
    static const size_t n_ops[] = {4, 3, 3};
    struct pdnn_visit visits[] = {ok_visit(100), ok_visit(100), ok_visit(100),
                                  failed_visit(PDNN_OUTCOME_CRASH, "")};
    for (size_t i = 0; i < 3; i++) {
        visits[i].ops = ops[i];
        visits[i].n_ops = n_ops[i];
    }
    struct pdnn_visits known = {.room = 0};
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = {visits, keep(&known, visits, 4), 4, 0}, .precision = 0.02, .roof_rows = &roof_rows};
    made_row_make(&input, &made);
    assert_int_equal(made.n_ops, 6);
    /* Medians: 50 (of 40, 60, 20 + 30), 20, and 6 for the reorder (8, 6, none). */
    static const struct {
        const char *op, *category, *pass, *shape, *implementation;
        double time_ns;
    } expected[] = {
        {"dense", NULL, "forward", "2x16:8x16:2x8", "gemm:jit | jit", 50},
        {"bias", NULL, "forward", NULL, "", NAN},
        {"relu", NULL, "forward", NULL, "", NAN},
        {"dense", NULL, "forward", "2x8:4x8:2x4", "brgemm | " LONG_NAME, 20},
        {"bias", NULL, "forward", NULL, "", NAN},
        {"reorder", "reorder", "forward", "8x16", "jit", 6},
    };
    for (size_t i = 0; i < 6; i++) {
        const struct pdnn_op_record *row = &made.op[i];
        assert_string_equal(row->id, ID);
        assert_int_equal(row->op_index, i);
        assert_string_equal(row->op, expected[i].op);
        assert_string_equal(row->pass, expected[i].pass);
        assert_string_equal(row->implementation, expected[i].implementation);
        if (expected[i].shape)
            assert_string_equal(row->shape, expected[i].shape);
        if (expected[i].category)
            assert_string_equal(row->category, expected[i].category);
        if (isnan(expected[i].time_ns)) {
            assert_true(isnan(row->time_ns_median) && isnan(row->share_pct) && isnan(row->place.gflops));
            continue;
        }
        assert_near(row->time_ns_median, expected[i].time_ns);
        assert_near(row->share_pct, expected[i].time_ns / 76 * 100);
    }
    assert_string_equal(made.op[0].category, pdnn_op_dense.category);
    assert_int_equal(made.op[0].flop_count, 2 * 2 * 16 * 8);
    assert_int_equal(made.op[0].byte_count, 4 * (2 * 16 + 8 * 16 + 2 * 8));
    assert_near(made.op[0].place.gflops, 512 / 50.0);
    assert_int_equal(made.op[5].count, 2);
    assert_int_equal(made.op[5].byte_count, 1024);
    assert_int_equal(made.op[5].flop_count, 0);
    assert_near(made.op[5].place.pct_of_roof, 1024 / 100.0 / 6 * 100);
    assert_near(NUMBER(RESIDUAL_PCT), 24);
    pdnn_visits_finish(&known);
}

/* A 3x3 convolution over 2x2 pixels with padding 1 computes 4 of 9 taps; rates,
 * intensity and roofs use these. */
static void test_aggregate_counts_in_bounds(void **state) {
    (void)state;
    static const char key[] = "conv2d/forward/1x3x2x2:2x3x3x3:1x2x2x2,stride=1,padding=1";
    struct pdnn_visit_op ops[] = {visit_op(key, "jit", 1, 0, 40)};
    struct pdnn_visit visits[] = {ok_visit(100)};
    visits[0].ops = ops;
    visits[0].n_ops = 1;
    struct pdnn_visits known = {.room = 0};
    const struct pdnn_aggregate_input input = {
        .id = "cnn/block=plain,blocks=1,filters=2,image=2,output=4,batch=1,window=0,mode=infer,threads=2",
        .of = {visits, keep(&known, visits, 1), 1, 0},
        .roof_rows = &roof_rows};
    made_row_make(&input, &made);
    assert_string_equal(made.op[0].shape, strchr(strchr(key, '/') + 1, '/') + 1);
    assert_int_equal(made.op[0].flop_count, 2 * 8 * 3 * 9);
    assert_int_equal(made.op[0].in_bounds_flop_count, 2 * 8 * 3 * 4);
    assert_near(made.op[0].place.gflops, 192 / 40.0);
    assert_near(made.op[0].place.intensity_flop_per_byte, 192.0 / (4 * (12 + 54 + 8)));
    const double in_bounds = NUMBER(IN_BOUNDS_FLOP_COUNT);
    assert_int_equal(COUNT(FLOP_COUNT) - COUNT(IN_BOUNDS_FLOP_COUNT), 2 * 8 * 3 * 5);
    assert_near(NUMBER(GFLOPS), in_bounds / 100);
    assert_near(NUMBER(ATTAINABLE_GFLOPS), in_bounds / (NUMBER(BYTE_COUNT) / 100));
    pdnn_visits_finish(&known);
}

/* What a worker would report for an instance whose ops each take a nanosecond per 100 FLOP and per byte. */
static size_t make_ops(const char *id, struct pdnn_visit_op *ops, size_t room, double *sum_ns) {
    struct pdnn_instance instance;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    struct pdnn_err err = {0};
    size_t n_groups;
    pdnn_arena_init(&arena);
    assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
    instance = pdnn_instance_as_run(&instance);
    assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
    assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_groups, NULL, &err), PDNN_OK);
    assert_true(n_groups + 2 <= room);
    for (size_t i = 0; i < n_groups; i++) {
        const struct pdnn_node *node = &graph.nodes[groups[i].node];
        double time_ns = (double)groups[i].cost.flop_count / 100 + (double)groups[i].cost.byte_count;
        char key[PDNN_OP_KEY_TEXT];
        snprintf(key, sizeof key, "%s/%s/%s", node->op->name, pdnn_node_pass_name(node), groups[i].shape);
        ops[i] = visit_op(key, "own", groups[i].count, 0, time_ns);
        *sum_ns += time_ns;
    }
    /* Reorders: one outside the layers, and one in each layer. */
    const uint32_t layers = (uint32_t)instance.hyper[instance.family->depth_param].number;
    ops[n_groups++] = visit_op("reorder/backward-data/8x8@transform", "own", 1, 512, 1000);
    ops[n_groups++] = visit_op("reorder/forward/32x8@ffn1", "own", layers, 2048 * layers, 300.0 * layers);
    *sum_ns += 1000 + 300.0 * layers;
    pdnn_arena_finish(&arena);
    return n_groups;
}

#define DEEP                                                                                                 \
    "transformer/layers=5,hidden=8,heads=2,length=4,vocabulary=9,batch=2,objective=masked-lm,"               \
    "optimizer=lamb,threads=2"

/* Two layers of five, scaled up, against all five. */
static void test_aggregate_extrapolates_layers(void **state) {
    (void)state;
    enum { ROOM = 256 };
    static const char *const ids[] = {DEEP, DEEP ",layers_run=2"};
    static struct pdnn_visit_op ops[2][ROOM];
    static struct made_row rows[2];
    struct pdnn_visits known[2] = {{.room = 0}};
    for (int i = 0; i < 2; i++) {
        double sum_ns = 0;
        size_t n_ops = make_ops(ids[i], ops[i], ROOM, &sum_ns);
        struct pdnn_visit visit = ok_visit(sum_ns * 1.25);
        visit.ops = ops[i];
        visit.n_ops = n_ops;
        const struct pdnn_aggregate_input input = {.id = ids[i],
                                                   .of = {&visit, keep(&known[i], &visit, 1), 1, 0},
                                                   .precision = 0.02,
                                                   .roof_rows = &roof_rows};
        made_row_make(&input, &rows[i]);
        assert_int_equal(pdnn_result_count(&rows[i].row, PDNN_RESULT_EXTRAPOLATED), i);
    }
    assert_int_equal(rows[0].n_ops, rows[1].n_ops);
    size_t n_extrapolated = 0;
    for (size_t k = 0; k < rows[0].n_ops; k++) {
        const struct pdnn_op_record *whole = &rows[0].op[k], *scaled = &rows[1].op[k];
        assert_string_equal(whole->shape, scaled->shape);
        assert_int_equal(whole->count, scaled->count);
        assert_int_equal(whole->flop_count, scaled->flop_count);
        assert_near(scaled->time_ns_median, whole->time_ns_median);
        assert_int_equal(whole->extrapolated, 0);
        n_extrapolated += scaled->extrapolated;
    }
    assert_true(n_extrapolated >= 40 && n_extrapolated <= rows[0].n_ops - 20);
    made_row_finish(&made);
    made = rows[0];
    const uint64_t params = COUNT(PARAMS), flop = COUNT(FLOP_COUNT), memory_bytes = COUNT(MEMORY_BYTES);
    const double time_ns = NUMBER(TIME_NS_MEDIAN);
    made = rows[1];
    assert_int_equal(COUNT(PARAMS), params);
    assert_int_equal(COUNT(FLOP_COUNT), flop);
    assert_true(COUNT(MEMORY_BYTES) < memory_bytes);
    assert_near(NUMBER(TIME_NS_MEDIAN), time_ns);
    assert_near(NUMBER(RESIDUAL_PCT), 20);
    made = (struct made_row){.n_ops = 0};
    for (int i = 0; i < 2; i++) {
        pdnn_visits_finish(&known[i]);
        made_row_finish(&rows[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregate_stop_reason),
        cmocka_unit_test(test_aggregate_times),
        cmocka_unit_test(test_aggregate_states),
        cmocka_unit_test(test_aggregate_two_visits),
        cmocka_unit_test(test_aggregate_micro_steps),
        cmocka_unit_test(test_aggregate_single_visit_has_no_interval),
        cmocka_unit_test(test_aggregate_unusable),
        cmocka_unit_test(test_aggregate_flags),
        cmocka_unit_test(test_aggregate_status),
        cmocka_unit_test(test_aggregate_composed),
        cmocka_unit_test(test_aggregate_settled),
        cmocka_unit_test(test_aggregate_speed_and_roof),
        cmocka_unit_test(test_aggregate_speed_by_length_of_step),
        cmocka_unit_test(test_aggregate_odd_speed),
        cmocka_unit_test(test_aggregate_unknown_id),
        cmocka_unit_test(test_aggregate_ops),
        cmocka_unit_test(test_aggregate_counts_in_bounds),
        cmocka_unit_test(test_aggregate_extrapolates_layers),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
