#include "results/stats/means.h"

#include "cmocka_all.h"
#include "near.h"

#include <math.h>

static struct pdnn_mean mean_of(const double *numbers, size_t count, double error) {
    struct pdnn_mean mean = {0};
    for (size_t i = 0; i < count; i++)
        pdnn_mean_add(&mean, numbers[i], error);
    return mean;
}

/* t of 2 degrees is 4.302653; the deviation of 1, 2, 6 is sqrt(7). */
static void test_mean_half_is_the_wider(void **state) {
    (void)state;
    const double numbers[] = {1, 2, 6};
    struct pdnn_mean mean = mean_of(numbers, 3, 0.1);
    assert_near(mean.mean, 3, 1e-12);
    assert_near(pdnn_mean_half(&mean), 4.302653 * sqrt(7.0 / 3), 1e-6);
    mean = mean_of(numbers, 3, 9 * sqrt(3));
    assert_near(pdnn_mean_half(&mean), 9, 1e-12);
    mean = mean_of(numbers, 3, NAN);
    assert_near(pdnn_mean_half(&mean), 4.302653 * sqrt(7.0 / 3), 1e-6);
    mean = mean_of(numbers, 1, 0.5);
    assert_near(pdnn_mean_half(&mean), 0.5, 1e-12);
    assert_true(isnan(pdnn_mean_interval(&mean).at));
}

static void test_mean_difference(void **state) {
    (void)state;
    const double first[] = {1, 2, 6}, second[] = {11, 12, 16};
    const struct pdnn_mean a = mean_of(first, 3, 0), b = mean_of(second, 3, 0);
    const struct pdnn_mean_interval difference = pdnn_mean_difference(&a, &b);
    assert_near(difference.at, 10, 1e-12);
    assert_near(difference.high - difference.at, 2.776445 * sqrt(14.0 / 3), 1e-5);
}

static void test_mean_geometric(void **state) {
    (void)state;
    const double logs[] = {log(2), log(8)};
    struct pdnn_mean mean = mean_of(logs, 2, 0), none = {0};
    assert_near(pdnn_mean_geometric(&mean), 4, 1e-12);
    assert_true(isnan(pdnn_mean_geometric(&none)));
}

static void test_log_half(void **state) {
    (void)state;
    assert_near(pdnn_log_half(2, 8), log(2), 1e-12);
    assert_true(isnan(pdnn_log_half(0, 8)) && isnan(pdnn_log_half(8, 2)) && isnan(pdnn_log_half(NAN, 2)));
}

static void test_amdahl(void **state) {
    (void)state;
    assert_near(pdnn_amdahl_efficiency(0.5, 3), 0.5, 1e-12);
    for (int many = 2; many < 9; many++)
        assert_near(pdnn_amdahl_fraction(pdnn_amdahl_efficiency(0.1, many), many), 0.1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_half_is_the_wider),
        cmocka_unit_test(test_mean_difference),
        cmocka_unit_test(test_mean_geometric),
        cmocka_unit_test(test_log_half),
        cmocka_unit_test(test_amdahl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
