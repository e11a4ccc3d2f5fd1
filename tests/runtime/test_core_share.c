#define _POSIX_C_SOURCE 200809L
/* What a share of the cores says: the figures are those of a quiet machine, and of one and two busy programs
 * beside a step of two threads. */
#include "runtime/backend/core_share.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>

static const uint64_t ms = 1000000;

static void test_core_share_is_low_rows(void **state) {
    static const struct {
        double share; /* of two cores */
        int64_t threads;
        bool is_low;
    } rows[] = {
        {1.03, 2, false}, {0.93, 2, false}, {0.76, 2, true},  {0.70, 2, true},
        {0.45, 2, true},  {0.45, 0, false}, {0.70, 1, false}, /* 1.4 of its one core: loaders ran too */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_core_share share = {0};
        for (int sample = 0; sample < 7; sample++)
            assert_true(
                pdnn_core_share_add(&share, (uint64_t)(2 * rows[i].share * 50 * (double)ms), 50 * ms));
        if (pdnn_core_share_is_low(&share, rows[i].threads) != rows[i].is_low)
            fail_msg("row %zu", i);
    }
}

/* A stop of three seconds is no part of the share, and the sample is none. One that is short, or in which a
 * neighbour had nearly everything, counts. */
static void test_core_share_add_stops(void **state) {
    struct pdnn_core_share share = {0};
    (void)state;
    assert_true(pdnn_core_share_add(&share, 20 * ms, 10 * ms));
    assert_false(pdnn_core_share_add(&share, 20 * ms, 3000 * ms));
    assert_true(pdnn_core_share_add(&share, 2 * ms, 99 * ms));
    assert_true(pdnn_core_share_add(&share, 400 * ms, 3000 * ms));
    assert_int_equal(share.lost_ns, 3000 * ms);
    assert_int_equal(share.cpu_ns, 422 * ms);
    assert_int_equal(share.wall_ns, 3109 * ms);
}

/* Threads that sleep while they wait, for data or by OpenMP's policy, say nothing about neighbours. */
static void test_core_share_waiting(void **state) {
    struct pdnn_core_share share = {0};
    (void)state;
    pdnn_core_share_begin(&share);
    assert_true(pdnn_core_share_end(&share, UINT64_MAX));
    assert_int_equal(share.wall_ns, 0);
    unsetenv("OMP_WAIT_POLICY");
    assert_int_equal(pdnn_core_share_threads(2), 2);
    setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
    assert_int_equal(pdnn_core_share_threads(2), 0);
    setenv("OMP_WAIT_POLICY", "active", 1);
    assert_int_equal(pdnn_core_share_threads(2), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_share_is_low_rows),
        cmocka_unit_test(test_core_share_add_stops),
        cmocka_unit_test(test_core_share_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
