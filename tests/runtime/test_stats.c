/* Order statistics, and the coverage of the visits' interval. */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "base/rng.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

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
        double degrees, t;
    } rows[] = {{1, 12.706}, {2, 4.303},  {4, 2.776},  {10, 2.228}, {11, 2.201},
                {15, 2.131}, {20, 2.086}, {30, 2.042}, {60, 2.000}, {120, 1.980}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_student_t95(rows[i].degrees), rows[i].t, 6e-4);
}

static double normal(struct pdnn_rng *rng) {
    double radius = sqrt(-2 * log(1 - pdnn_rng_double(rng)));
    return radius * cos(6.283185307179586 * pdnn_rng_double(rng));
}

static const struct pdnn_scatter alone = {0, 0};

/* The run as a whole is off by the share that the interval assumes. */
static void draw_visits(struct pdnn_rng *rng, double scatter, double *medians, size_t count) {
    double shift = scatter * sqrt(PDNN_RUN_SHARE) * normal(rng);
    for (size_t i = 0; i < count; i++)
        medians[i] = 1e6 * exp(shift + scatter * normal(rng));
}

static size_t holds(const struct pdnn_interval *a, const struct pdnn_interval *b) {
    return (size_t)(b->center >= a->low && b->center <= a->high) +
           (a->center >= b->low && a->center <= b->high);
}

/* A/A: two runs of the same instance; returns the share of trials in which one run's interval contains the
 * other's headline. */
static double coverage(size_t count, size_t trials) {
    struct pdnn_rng rng = {2024, 0};
    double first[64], second[64], scratch[64];
    size_t inside = 0;
    for (size_t i = 0; i < trials; i++) {
        draw_visits(&rng, 0.07, first, count);
        draw_visits(&rng, 0.07, second, count);
        struct pdnn_interval a = pdnn_visits_interval(first, count, alone, scratch);
        struct pdnn_interval b = pdnn_visits_interval(second, count, alone, scratch);
        inside += holds(&a, &b);
    }
    return (double)inside / (double)(2 * trials);
}

static void test_visits_interval_coverage(void **state) {
    (void)state;
    static const size_t counts[] = {2, 3, 4, 5, 8, 9, 12, 15};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double share = coverage(counts[i], 10000);
        if (share < 0.93 || share > 0.97)
            fail_msg("%zu visits: the interval holds the other headline in %.1f %% of the runs", counts[i],
                     100 * share);
    }
}

enum { INSTANCES = 20, VISITS = 3 };

/* A sweep whose instances differ in how much they scatter: log-normally, with this sigma. */
static void draw_sweep(struct pdnn_rng *rng, const double *scatter, double medians[INSTANCES][VISITS],
                       struct pdnn_scatter *pool) {
    struct pdnn_scatter of[INSTANCES];
    for (size_t i = 0; i < INSTANCES; i++) {
        draw_visits(rng, scatter[i], medians[i], VISITS);
        of[i] = pdnn_visits_scatter(medians[i], VISITS);
    }
    *pool = pdnn_scatter_pool(of, INSTANCES);
}

/* With few visits, pooling keeps the coverage and narrows the interval, whether instances are alike or not.
 */
static void test_scatter_pool_coverage(void **state) {
    static const struct {
        double unlike;
        double narrower; /* at most this share of the width that each has alone, at the median */
    } rows[] = {{0, 0.65}, {0.3, 0.75}, {0.8, 0.95}};
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct pdnn_rng rng = {77, 0};
        enum { TRIALS = 1500 };
        static double ratio[TRIALS];
        size_t inside = 0;
        for (size_t trial = 0; trial < TRIALS; trial++) {
            double scatter[INSTANCES], first[INSTANCES][VISITS], second[INSTANCES][VISITS], scratch[VISITS];
            double width[2][INSTANCES];
            struct pdnn_scatter pool[2];
            for (size_t i = 0; i < INSTANCES; i++)
                scatter[i] = 0.02 * exp(rows[row].unlike * normal(&rng));
            draw_sweep(&rng, scatter, first, &pool[0]);
            draw_sweep(&rng, scatter, second, &pool[1]);
            for (size_t i = 0; i < INSTANCES; i++) {
                struct pdnn_interval a = pdnn_visits_interval(first[i], VISITS, pool[0], scratch);
                struct pdnn_interval b = pdnn_visits_interval(second[i], VISITS, pool[1], scratch);
                struct pdnn_interval own = pdnn_visits_interval(first[i], VISITS, alone, scratch);
                inside += holds(&a, &b);
                width[0][i] = log(a.high / a.low);
                width[1][i] = log(own.high / own.low);
            }
            ratio[trial] = pdnn_median(width[0], INSTANCES) / pdnn_median(width[1], INSTANCES);
        }
        double share = (double)inside / (2.0 * TRIALS * INSTANCES), narrower = pdnn_median(ratio, TRIALS);
        if (share < 0.93 || share > 0.975 || narrower > rows[row].narrower)
            fail_msg("unlike by %.1f: coverage %.1f %%, width %.2f of alone", rows[row].unlike, 100 * share,
                     narrower);
    }
}

static void test_scatter_pool_edges(void **state) {
    (void)state;
    static const struct pdnn_scatter two[] = {{1e-4, 4}, {2e-4, 4}, {0, 4}, {0, 0}};
    assert_true(pdnn_scatter_pool(NULL, 0).degrees <= 0);
    assert_true(pdnn_scatter_pool(two, 4).degrees <= 0); /* neither of the others says anything */
    struct pdnn_scatter alike[10], unlike[10];
    for (size_t i = 0; i < 10; i++) {
        alike[i] = (struct pdnn_scatter){4e-4, 4};
        unlike[i] = (struct pdnn_scatter){i % 2 ? 1e-6 : 1e-2, 4};
    }
    /* Closer than chance would have them: as many degrees as there can be. The mean of the logarithms is
     * corrected for its bias. */
    assert_near(pdnn_scatter_pool(alike, 10).degrees, 1000, 0);
    assert_near(pdnn_scatter_pool(alike, 10).variance, 4e-4 * exp(log(2) - (1 - 0.5772156649)), 1e-6);
    assert_true(pdnn_scatter_pool(unlike, 10).degrees < 1);
    assert_near(pdnn_visits_scatter((double[]){1, exp(0.2)}, 2).variance, 0.02, 1e-12);
    assert_true(pdnn_visits_scatter((double[]){1, 0}, 2).degrees <= 0);
    assert_true(pdnn_visits_scatter((double[]){1}, 1).degrees <= 0);
}

/* Six visits, of which the outer two count as their neighbours: -2, -2, -1, 1, 2, 2 hundredths. */
static void test_visits_scatter_ignores_an_outlier(void **state) {
    (void)state;
    double near[] = {exp(0.01), exp(0.03), exp(-0.01), exp(0.02), exp(-0.02), exp(-0.03)};
    double far[] = {exp(0.01), 9, exp(-0.01), exp(0.02), exp(-0.02), exp(-0.02)};
    struct pdnn_scatter a = pdnn_visits_scatter(near, 6), b = pdnn_visits_scatter(far, 6);
    assert_near(a.degrees, 3, 0);
    assert_near(a.variance, 18e-4 * 6 / (4 * 3), 1e-12);
    assert_near(b.variance, a.variance, 1e-12);
}

/* How much an instance scatters, drawn from what the pool says of its sweep. */
static double draw_scatter(struct pdnn_rng *rng, struct pdnn_scatter pool) {
    double squares = 0;
    for (size_t i = 0; i < (size_t)pool.degrees; i++) {
        double value = normal(rng);
        squares += value * value;
    }
    return pool.degrees > 0 ? sqrt(pool.degrees * pool.variance / squares) : 0.02;
}

/* An instance is visited until its half-width is within the precision, looking after `rounds` visits and then
 * every `step`. Returns the coverage of the intervals reported. */
static double stopped_coverage(size_t rounds, size_t step, double precision, struct pdnn_scatter pool) {
    enum { TRIALS = 10000 };
    struct pdnn_rng rng = {5, 0};
    double medians[64], scratch[64];
    size_t inside = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        struct pdnn_interval at[2];
        double scatter = draw_scatter(&rng, pool);
        for (size_t side = 0; side < 2; side++) {
            draw_visits(&rng, scatter, medians, 4 * rounds);
            for (size_t n = rounds; n <= 4 * rounds; n += step) {
                at[side] = pdnn_visits_interval(medians, n, pool, scratch);
                if (at[side].high - at[side].low <= 2 * precision * at[side].center)
                    break;
            }
        }
        inside += holds(&at[0], &at[1]);
    }
    return (double)inside / (2.0 * TRIALS);
}

/* Stopping once the interval is narrow prefers intervals that are too narrow. The pool leaves little to
 * chance, and with planned looks coverage holds. An instance alone loses up to 4 points with planned looks,
 * and more when it looks after every visit. */
static void test_visits_interval_planned_looks(void **state) {
    static const struct pdnn_scatter pool = {4e-4, 4};
    (void)state;
    for (size_t rounds = 3; rounds <= 5; rounds += 2) {
        for (double precision = 0.01; precision < 0.09; precision += 0.02) {
            double pooled = stopped_coverage(rounds, rounds, precision, pool);
            double own = stopped_coverage(rounds, rounds, precision, alone);
            if (pooled < 0.935 || pooled > 0.97 || own < 0.91 || own > 0.97)
                fail_msg("%zu rounds, precision %.2f: %.1f %%, alone %.1f %%", rounds, precision,
                         100 * pooled, 100 * own);
        }
    }
    double naive = stopped_coverage(3, 1, 0.025, alone), planned = stopped_coverage(3, 3, 0.025, alone);
    if (naive > 0.92 || planned < naive + 0.004)
        fail_msg("after each visit %.1f %%, planned %.1f %%", 100 * naive, 100 * planned);
}

static void test_visits_interval_edges(void **state) {
    (void)state;
    double scratch[4];
    struct pdnn_interval none = pdnn_visits_interval(NULL, 0, alone, scratch);
    assert_near(none.center, 0, 0);
    struct pdnn_interval one = pdnn_visits_interval((const double[]){5}, 1, alone, scratch);
    assert_near(one.center, 5, 0);
    assert_near(one.low, 0, 0);
    assert_near(one.high, 0, 0);
    struct pdnn_interval equal = pdnn_visits_interval((const double[]){4, 4, 4}, 3, alone, scratch);
    assert_near(equal.low, 4, 1e-12);
    assert_near(equal.high, 4, 1e-12);
    struct pdnn_interval even = pdnn_visits_interval((const double[]){9, 1, 3, 5}, 4, alone, scratch);
    assert_near(even.center, 4, 1e-12);
    struct pdnn_interval zero = pdnn_visits_interval((const double[]){0, 1, 3}, 3, alone, scratch);
    assert_near(zero.center, 1, 0);
    assert_near(zero.high, 0, 0);
}

/* Twice the time gives twice the interval: nothing depends on the unit. */
static void test_visits_interval_scales(void **state) {
    (void)state;
    double scratch[3];
    struct pdnn_interval a = pdnn_visits_interval((const double[]){10, 11, 13}, 3, alone, scratch);
    struct pdnn_interval b = pdnn_visits_interval((const double[]){20, 22, 26}, 3, alone, scratch);
    assert_true(a.low > 0 && a.low < a.center && a.center < a.high);
    assert_near(b.low, 2 * a.low, 1e-9);
    assert_near(b.high, 2 * a.high, 1e-9);
}

/* Closed forms for 1 and 2 degrees of freedom; for 8, the 95 % quantile; the normal limit. */
static void test_student_tails_cases(void **state) {
    (void)state;
    static const struct {
        double t, degrees, tails;
    } rows[] = {
        {0, 3, 1},
        {1, 1, 0.5},
        {-63.6567411628716, 1, 0.01},
        {3, 2, 0.0954659662667823},
        {2.306004135204, 8, 0.05},
        {-2.306004135204, 8, 0.05},
        {0.001, 40, 0.9992070862860575},
        {60, 1000, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_student_tails(rows[i].t, rows[i].degrees), rows[i].tails, 1e-10);
    assert_true(isnan(pdnn_student_tails(NAN, 5)));
    for (double degrees = 1; degrees < 2000; degrees *= 1.7)
        assert_near(pdnn_student_tails(pdnn_student_t95(floor(degrees)), floor(degrees)), 0.05, 1e-5);
}

/* F with 1 degree above is t squared; with 2 above, (1 + 2 f / below)^(-below / 2); tables for the rest. */
static void test_f_tail_cases(void **state) {
    (void)state;
    static const struct {
        double f, above, below, tail;
    } rows[] =
        {
            {0, 3, 4, 1},
            {INFINITY, 3, 4, 0},
            {3, 2, 10, 0.095367431640625},
            {1, 2, 2, 0.5},
            {1, 7, 7, 0.5},
            {3.325834530413, 5, 10, 0.05},
            {2.5, 4, 1e6, 0.040427681994512805}, /* chi-square of 10 with 4 degrees */
        };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_f_tail(rows[i].f, rows[i].above, rows[i].below), rows[i].tail, 1e-6);
    for (double t = 0.125; t < 50; t *= 2)
        assert_near(pdnn_f_tail(t * t, 1, 7), pdnn_student_tails(t, 7), 1e-13);
    assert_true(isnan(pdnn_f_tail(NAN, 1, 1)));
}

/* Quantiles from tables of Student's t; the other numbers by hand. */
static void test_student_quantile_table(void **state) {
    (void)state;
    static const struct {
        double alpha, degrees, expected;
    } rows[] = {{0.05, 1, 12.706205}, {0.01, 2, 9.924843},  {0.01, 5, 4.032143},
                {0.001, 9, 4.780913}, {0.05, 30, 2.042272}, {0.5, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_student_quantile(rows[i].alpha, rows[i].degrees), rows[i].expected, 1e-6);
}

static void test_pairs_interval_cases(void **state) {
    (void)state;
    static const struct {
        double logs[10];
        size_t count;
        double alpha, center, half;
    } rows[] = {
        /* Winsorized: three 2, 3, 4, 5, 6, three 7, with squares 42.5 around 4.5. */
        {{8, 0, 3, 100, 2, 1, 4, 7, 6, 5}, 10, 0.01, 4.5, 4.032143 * 1.190238},
        {{8, 0, 3, 100, 2, 1, 4, 7, 6, 5}, 10, 0.05, 4.5, 2.570582 * 1.190238},
        /* Two -1, 0, two 1, with squares 4. */
        {{1, -1, 0, -50, 50}, 5, 0.01, 0, 9.924843 * 0.816497},
        /* Below five pairs nothing is trimmed: the usual interval. */
        {{1, 2, 3, 6}, 4, 0.05, 3, 3.182446 * 1.080123},
        {{0.5, 0.5, 0.5}, 3, 0.01, 0.5, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double logs[10];
        memcpy(logs, rows[i].logs, sizeof logs);
        const struct pdnn_interval made = pdnn_pairs_interval(logs, rows[i].count, rows[i].alpha);
        assert_near(made.center, rows[i].center, 1e-12);
        assert_near(made.high - made.center, rows[i].half, 1e-5);
        assert_near(made.center - made.low, rows[i].half, 1e-5);
    }
    double one = 0.25;
    assert_true(pdnn_pairs_interval(&one, 1, 0.01).high == INFINITY);
    assert_near(pdnn_pairs_interval(&one, 1, 0.01).center, 0.25, 0);
    assert_true(pdnn_pairs_interval(&one, 0, 0.01).low == -INFINITY);
}

/* Nothing is decided before a look, the first look that decides counts, and more comparisons ask for more. */
static void test_pairs_judge_looks(void **state) {
    double logs[16], scratch[16];
    (void)state;
    for (int i = 0; i < 16; i++)
        logs[i] = 0.03 + (i % 2 ? 0.005 : -0.005);
    assert_int_equal(pdnn_pairs_judge(logs, 7, 1, 0.02, scratch), PDNN_PAIRED_UNDECIDED);
    assert_int_equal(pdnn_pairs_judge(logs, 8, 1, 0.02, scratch), PDNN_PAIRED_SLOWER);
    assert_int_equal(pdnn_pairs_judge(logs, 8, 100, 0.02, scratch), PDNN_PAIRED_UNDECIDED);
    assert_int_equal(pdnn_pairs_judge(logs, 16, 100, 0.02, scratch), PDNN_PAIRED_SLOWER);
    assert_int_equal(pdnn_pairs_judge(logs, 8, 100, 0.08, scratch), PDNN_PAIRED_ALIKE);
    assert_near(logs[0], 0.025, 1e-15);
    for (int i = 8; i < 16; i++)
        logs[i] = -5;
    assert_int_equal(pdnn_pairs_judge(logs, 16, 1, 0.02, scratch), PDNN_PAIRED_SLOWER);
    for (int i = 0; i < 8; i++)
        logs[i] = -logs[i];
    assert_int_equal(pdnn_pairs_judge(logs, 8, 1, 0.02, scratch), PDNN_PAIRED_FASTER);
}

static void test_pool_rising(void **state) {
    (void)state;
    static const struct {
        size_t count;
        double values[5], pooled[5];
    } rows[] = {{0, {0}, {0}},
                {1, {3}, {3}},
                {3, {3, 2, 1}, {3, 2, 1}},
                {3, {1, 2, 3}, {2, 2, 2}},
                {4, {5, 2, 4, 1}, {5, 3, 3, 1}},
                {5, {4, 4, 1, 1, 5}, {4, 4, 7 / 3.0, 7 / 3.0, 7 / 3.0}},
                {5, {3, 3, 2, 2, 9}, {19 / 5.0, 19 / 5.0, 19 / 5.0, 19 / 5.0, 19 / 5.0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double values[5];
        memcpy(values, rows[i].values, sizeof values);
        pdnn_pool_rising(values, rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++)
            assert_true(fabs(values[k] - rows[i].pooled[k]) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile_sorted_cases),
        cmocka_unit_test(test_median_sorts),
        cmocka_unit_test(test_mad_ignores_an_outlier),
        cmocka_unit_test(test_student_t95_table),
        cmocka_unit_test(test_visits_interval_coverage),
        cmocka_unit_test(test_visits_interval_edges),
        cmocka_unit_test(test_visits_interval_scales),
        cmocka_unit_test(test_scatter_pool_coverage),
        cmocka_unit_test(test_scatter_pool_edges),
        cmocka_unit_test(test_visits_scatter_ignores_an_outlier),
        cmocka_unit_test(test_visits_interval_planned_looks),
        cmocka_unit_test(test_student_tails_cases),
        cmocka_unit_test(test_f_tail_cases),
        cmocka_unit_test(test_student_quantile_table),
        cmocka_unit_test(test_pairs_interval_cases),
        cmocka_unit_test(test_pairs_judge_looks),
        cmocka_unit_test(test_pool_rising),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
