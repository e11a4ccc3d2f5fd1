/* Correction: known factors come out of made-up models, shrunk where there are few. */
#include "base/rng.h"
#include "results/stats/correction.h"
#include "tests/cmocka_all.h"

#include <math.h>

enum { MODELS = 200, KINDS = 3 };

static void check_near(double got, double expected, double reach) {
    if (!(fabs(got - expected) <= reach))
        fail_msg("%g is not within %g of %g", got, reach, expected);
}

/* Each model has all three kinds, of random sizes; what ran took 1.25, 0.9 and 1 times as long, within 5 %.
 */
static void test_correction_finds_known_factors(void **state) {
    static const double truth[KINDS] = {1.25, 0.9, 1};
    static struct pdnn_correction_row rows[MODELS * KINDS];
    struct pdnn_rng rng = {7, 0};
    double factor[KINDS + 1];
    (void)state;
    for (size_t i = 0; i < MODELS * KINDS; i++) {
        double size = 1 + (double)pdnn_rng_below(&rng, 1000);
        double noise = 0.95 + (double)pdnn_rng_below(&rng, 1001) * 1e-4;
        rows[i] = (struct pdnn_correction_row){i % KINDS, i / KINDS, size, size * truth[i % KINDS] * noise};
    }
    pdnn_correction_fit(rows, MODELS * KINDS, MODELS, KINDS + 1, factor);
    for (int kind = 0; kind < KINDS; kind++)
        check_near(factor[kind], truth[kind], 0.02);
    check_near(factor[KINDS], 1.05, 0.02); /* nothing known: as all together */
}

static void test_correction_shrinks(void **state) {
    const struct pdnn_correction_row rows[] = {
        {0, 0, 100, 120}, {0, 1, 75, 75}, {1, 1, 25, 500}, {1, 1, 0, 9}};
    double factor[2];
    (void)state;
    pdnn_correction_fit(rows, 0, 0, 2, factor);
    assert_true(factor[0] == 1 && factor[1] == 1);
    /* The common one: (1 + 1 * 1.2) / 2. The kind: (1.1 + 1.2) / 2. */
    pdnn_correction_fit(rows, 1, 1, 2, factor);
    check_near(factor[0], 1.15, 1e-12);
    check_near(factor[1], 1.1, 1e-12);
    /* Of the second model, three quarters of the time are kind 0 and a quarter is kind 1, 20 times as long,
     * which counts as 2: (1 + 1.2 + 0.75 + 0.5) / 3 = 1.15. */
    pdnn_correction_fit(rows, 4, 2, 2, factor);
    check_near(factor[0], (1.15 + 1.2 + 0.75) / 2.75, 1e-12);
    check_near(factor[1], (1.15 + 0.5) / 1.25, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correction_finds_known_factors),
        cmocka_unit_test(test_correction_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
