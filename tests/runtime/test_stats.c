/* Order statistics, and the coverage of the visits' interval. */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "base/rng.h"
#include "runtime/facts/stats.h"

#include <math.h>

static void test_quantile_sorted_cases(void **state) {
    (void)state;
    static const struct {
        double values[5];
        size_t count;
        double q, expected;
    } rows[] = {
        {{7}, 1, 0.5, 7},
        {{1, 3}, 2, 0.5, 2},
        {{1, 2, 3, 4, 5}, 5, 0, 1},
        {{1, 2, 3, 4, 5}, 5, 1, 5},
        {{1, 2, 3, 4, 5}, 5, 0.25, 2},
        {{1, 2, 3, 4}, 4, 0.1, 1.3},
        {{10, 20, 40, 80, 160}, 5, 0.9, 128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_quantile_sorted(rows[i].values, rows[i].count, rows[i].q), rows[i].expected, 1e-12);
}

static void test_median_sorts(void **state) {
    (void)state;
    double values[] = {5, -1, 3, 9, 3};
    assert_near(pdnn_median(values, 5), 3, 0);
    for (size_t i = 1; i < 5; i++)
        assert_true(values[i - 1] <= values[i]);
}

static void test_mad_ignores_an_outlier(void **state) {
    (void)state;
    const double values[] = {1, 1, 2, 2, 4, 6, 900};
    double scratch[7];
    assert_near(pdnn_mad(values, 7, 2, scratch), 1, 0);
}

/* Values from printed tables. */
static void test_student_t95_table(void **state) {
    (void)state;
    static const struct {
        size_t degrees;
        double t;
    } rows[] = {{1, 12.706}, {2, 4.303},  {4, 2.776},  {10, 2.228}, {11, 2.201},
                {15, 2.131}, {20, 2.086}, {30, 2.042}, {60, 2.000}, {120, 1.980}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_student_t95(rows[i].degrees), rows[i].t, 6e-4);
}

static double normal(struct pdnn_rng *rng) {
    double radius = sqrt(-2 * log(1 - pdnn_rng_double(rng)));
    return radius * cos(6.283185307179586 * pdnn_rng_double(rng));
}

static void draw_visits(struct pdnn_rng *rng, double *medians, size_t count) {
    for (size_t i = 0; i < count; i++)
        medians[i] = 1e6 * exp(0.07 * normal(rng));
}

/* A/A: two runs of the same instance; returns the share of trials in which one run's interval contains the
 * other's headline. */
static double coverage(size_t count, size_t trials) {
    struct pdnn_rng rng = {2024, 0};
    double first[64], second[64], scratch[64];
    size_t inside = 0;
    for (size_t i = 0; i < trials; i++) {
        draw_visits(&rng, first, count);
        draw_visits(&rng, second, count);
        struct pdnn_interval a = pdnn_visits_interval(first, count, scratch);
        struct pdnn_interval b = pdnn_visits_interval(second, count, scratch);
        inside += b.center >= a.low && b.center <= a.high;
        inside += a.center >= b.low && a.center <= b.high;
    }
    return (double)inside / (double)(2 * trials);
}

static void test_visits_interval_coverage(void **state) {
    (void)state;
    static const size_t counts[] = {2, 3, 4, 5, 8, 9, 12, 15};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double share = coverage(counts[i], 20000);
        if (share < 0.93 || share > 0.97)
            fail_msg("%zu visits: the interval holds the other headline in %.1f %% of the runs", counts[i],
                     100 * share);
    }
}

static void test_visits_interval_edges(void **state) {
    (void)state;
    double scratch[4];
    struct pdnn_interval none = pdnn_visits_interval(NULL, 0, scratch);
    assert_near(none.center, 0, 0);
    struct pdnn_interval one = pdnn_visits_interval((const double[]){5}, 1, scratch);
    assert_near(one.center, 5, 0);
    assert_near(one.low, 0, 0);
    assert_near(one.high, 0, 0);
    struct pdnn_interval equal = pdnn_visits_interval((const double[]){4, 4, 4}, 3, scratch);
    assert_near(equal.low, 4, 1e-12);
    assert_near(equal.high, 4, 1e-12);
    struct pdnn_interval even = pdnn_visits_interval((const double[]){9, 1, 3, 5}, 4, scratch);
    assert_near(even.center, 4, 1e-12);
    struct pdnn_interval zero = pdnn_visits_interval((const double[]){0, 1, 3}, 3, scratch);
    assert_near(zero.center, 1, 0);
    assert_near(zero.high, 0, 0);
}

/* Twice the time gives twice the interval: nothing depends on the unit. */
static void test_visits_interval_scales(void **state) {
    (void)state;
    double scratch[3];
    struct pdnn_interval a = pdnn_visits_interval((const double[]){10, 11, 13}, 3, scratch);
    struct pdnn_interval b = pdnn_visits_interval((const double[]){20, 22, 26}, 3, scratch);
    assert_true(a.low > 0 && a.low < a.center && a.center < a.high);
    assert_near(b.low, 2 * a.low, 1e-9);
    assert_near(b.high, 2 * a.high, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile_sorted_cases),    cmocka_unit_test(test_median_sorts),
        cmocka_unit_test(test_mad_ignores_an_outlier),   cmocka_unit_test(test_student_t95_table),
        cmocka_unit_test(test_visits_interval_coverage), cmocka_unit_test(test_visits_interval_edges),
        cmocka_unit_test(test_visits_interval_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
