/* Conformal intervals: the reach against its definition, coverage by simulation, and merging of strata. */
#include "base/rng.h"
#include "results/stats/means.h"
#include "tests/cmocka_all.h"

#include <math.h>
#include <string.h>

enum { MOST = 60 };

static void draw(struct pdnn_rng *rng, double *scores, size_t count) {
    for (size_t i = 0; i < count; i++)
        scores[i] = (double)pdnn_rng_below(rng, 1000) * 1e-3;
}

/* By brute force: the least score that at least ceil((count + 1) * level) scores do not exceed. */
static double reach_by_counting(const double *scores, size_t count, int percent) {
    size_t wanted = ((count + 1) * (size_t)percent + 99) / 100;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t within = 0;
        for (size_t k = 0; k < count; k++)
            within += scores[k] <= scores[i];
        if (within >= wanted && scores[i] < least)
            least = scores[i];
    }
    return least;
}

static void test_reach_is_the_defined_rank(void **state) {
    static const int percents[] = {50, 80, 90, 95, 99};
    struct pdnn_rng rng = {3, 0};
    (void)state;
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t k = 0; k < sizeof percents / sizeof *percents; k++) {
            double scores[MOST];
            draw(&rng, scores, count);
            double expected = reach_by_counting(scores, count, percents[k]);
            double got = pdnn_conformal_reach(scores, count, percents[k] / 100.);
            assert_true(got == expected);
        }
    }
    double nine[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    assert_true(pdnn_conformal_reach(nine, 9, 0.9) == 9);
    assert_true(isinf(pdnn_conformal_reach(nine, 8, 0.9)));
}

/* Of many new scores, the promised share and at most 1 / (count + 1) more are within reach. */
static void test_reach_covers(void **state) {
    enum { TRIALS = 20000, COUNT = 29 };
    struct pdnn_rng rng = {11, 0};
    size_t covered = 0;
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        double scores[COUNT + 1];
        draw(&rng, scores, COUNT + 1);
        double fresh = scores[COUNT];
        covered += fresh <= pdnn_conformal_reach(scores, COUNT, 0.9);
    }
    double share = (double)covered / TRIALS;
    assert_true(share > 0.89 && share < 0.94);
}

/* 12 cases in stratum 1, 3 in stratum 2, which is merged with the rest. */
static void test_few_cases_are_merged(void **state) {
    struct pdnn_conformal_case cases[15];
    double scratch[15];
    const size_t first[PDNN_CONFORMAL_STRATA] = {1, 10, 100, 0},
                 second[PDNN_CONFORMAL_STRATA] = {2, 20, 100, 0},
                 other[PDNN_CONFORMAL_STRATA] = {3, 30, 300, 0};
    (void)state;
    for (int i = 0; i < 15; i++) {
        memcpy(cases[i].stratum, i < 12 ? first : second, sizeof first);
        cases[i].score = i;
    }
    assert_true(pdnn_conformal_find(cases, 15, first, 0.9, scratch) == 11);
    assert_true(pdnn_conformal_find(cases, 15, second, 0.9, scratch) == 14);
    assert_true(pdnn_conformal_find(cases, 15, other, 0.9, scratch) == 14);
    assert_true(isinf(pdnn_conformal_find(cases, 8, first, 0.9, scratch)));
    assert_true(isinf(pdnn_conformal_find(cases, 0, first, 0.9, scratch)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach_is_the_defined_rank),
        cmocka_unit_test(test_reach_covers),
        cmocka_unit_test(test_few_cases_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
