/* Predicted seconds: the formula in session/predict.h at points that can be computed by hand. */
#include "tests/cmocka_all.h"

#include "session/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two rounds, 5 samples, 10 s for all visits and 60 s for one. Probes and preparation take 20 ms. */
static const struct pdnn_spec spec = {
    .measure = {.rounds = 2, .precision = 0.02, .min_samples = 5, .max_time_ns = 10000000000u, .probe = true},
    .limits = {.time_ns = 60000000000u},
};

static struct pdnn_instance parse(const char *id) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return instance;
}

static struct pdnn_totals count(double flop, double bytes) {
    return (struct pdnn_totals){.cost = {.flop_count = 2 * (uint64_t)flop,
                                         .in_bounds_flop_count = (uint64_t)flop,
                                         .byte_count = (uint64_t)bytes}};
}

static void check_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * expected)
        fail_msg("%.12g instead of %.12g", value, expected);
}

static void test_predict_nominal(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double flop, bytes, step;
    } rows[] = {
        {"fc/threads=1", 60e9, 1, 1},
        {"fc/threads=4", 60e9, 1, 0.25},
        {"fc/threads=2,dtype=bf16", 60e9, 1, 0.3},
        {"fc/threads=1,dtype=int8", 60e9, 1, 0.3},
        {"fc/threads=1", 1, 20e9, 2},
        {"fc/threads=4", 1, 20e9, 0.5},
        {"fc/threads=64", 1, 20e9, 0.2},
        {"fc/threads=1,backend=reference", 6e9, 1, 10},
        {"transformer/layers=12,threads=1,layers_run=2", 60e9, 1, 1.0 / 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_instance instance = parse(rows[i].id);
        const struct pdnn_totals totals = count(rows[i].flop, rows[i].bytes);
        check_near(pdnn_predict(NULL, &spec, &instance, &totals).step, rows[i].step);
    }
}

/* Extra visits by number and by time, a warm-up cut short, the least a visit takes, limits.time, a visit that
 * cannot end well. */
static void test_predict_visits(void **state) {
    (void)state;
    static const struct {
        double step, visit, visits;
    } rows[] = {
        {1e-4, 0.02 + 16 * 0.005, 8}, /* it goes on for 16 times its preparation */
        {0.3, 0.02 + 1.25 + 3, (8 * 0.02 + 2.2 * 10) / (0.02 + 1.25 + 3)},
        {1.25, 0.02 + 2 * 1.25 + 8 * 1.25, 2},
        {7, 60, 2},
        {30, 60, 1},
    };
    const struct pdnn_instance instance = parse("fc/threads=1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_totals totals = count(rows[i].step * 60e9, 1);
        const struct pdnn_prediction made = pdnn_predict(NULL, &spec, &instance, &totals);
        check_near(made.visit, rows[i].visit);
        check_near(made.total, rows[i].visit * rows[i].visits);
    }
}

/* Steps that are counted come on top, unless they do not fit into limits.time. */
static void test_predict_counters(void **state) {
    (void)state;
    const struct pdnn_instance instance = parse("fc/threads=1");
    const double steps[] = {1e-4, 0.3, 1.25}, slow[] = {7, 30};
    struct pdnn_spec counting = spec;
    counting.measure.counters = true;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct pdnn_totals totals = count(steps[i] * 60e9, 1);
        check_near(pdnn_predict(NULL, &counting, &instance, &totals).visit,
                   pdnn_predict(NULL, &spec, &instance, &totals).visit + 3 * steps[i]);
    }
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        const struct pdnn_totals totals = count(slow[i] * 60e9, 1);
        check_near(pdnn_predict(NULL, &counting, &instance, &totals).visit, 60);
    }
}

/* More work never takes less time, up to the limit. */
static void test_predict_is_monotone(void **state) {
    (void)state;
    const struct pdnn_instance instance = parse("fc/threads=1");
    double before = 0;
    for (double flop = 1e3; flop < 1.1e12; flop *= 1.3) {
        const struct pdnn_totals totals = count(flop, 1);
        const struct pdnn_prediction made = pdnn_predict(NULL, &spec, &instance, &totals);
        assert_true(made.visit >= before * (1 - 1e-12) && made.visit <= 60);
        assert_true(made.total >= made.visit && isfinite(made.total));
        before = made.visit;
    }
}

static void test_predict_measured(void **state) {
    (void)state;
    static const struct pdnn_roof_row rows[] = {
        {.kind = "compute", .pattern = "fma", .dtype = "f32", .threads = 2, .value = 500},
        {.kind = "compute", .pattern = "gemm-onednn", .dtype = "f32", .threads = 2, .value = 400},
        {.kind = "compute", .pattern = "gemm-openblas", .dtype = "f32", .threads = 2, .value = 200},
        {.kind = "bandwidth", .pattern = "read", .level = "L3", .threads = 2, .value = 900},
        {.kind = "bandwidth", .pattern = "read", .level = "DRAM", .threads = 2, .value = 50},
    };
    struct pdnn_roof_rows *roof_rows = calloc(1, sizeof *roof_rows);
    assert_non_null(roof_rows);
    memcpy(roof_rows->row, rows, sizeof rows);
    roof_rows->count = sizeof rows / sizeof *rows;
    const struct pdnn_instance measured = parse("fc/threads=2"), other = parse("fc/threads=1");
    struct pdnn_totals totals = count(240e9, 1);
    check_near(pdnn_predict(roof_rows, &spec, &measured, &totals).step, 1);
    check_near(pdnn_predict(roof_rows, &spec, &other, &totals).step, 4);
    totals = count(1, 30e9);
    check_near(pdnn_predict(roof_rows, &spec, &measured, &totals).step, 1);
    free(roof_rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predict_nominal),  cmocka_unit_test(test_predict_visits),
        cmocka_unit_test(test_predict_counters), cmocka_unit_test(test_predict_is_monotone),
        cmocka_unit_test(test_predict_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
