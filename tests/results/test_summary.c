/* The rows that stand out, what bounds them and what is noisy, from made-up records. */
#include "results/rows/summary.h"
#include "tests/cmocka_all.h"

#include <math.h>

static void add(struct pdnn_summary *summary, const char *id, double gflops, double pct,
                enum pdnn_bound bound, unsigned flags) {
    struct pdnn_record record;
    pdnn_record_init(&record, id);
    record.outcome = PDNN_OUTCOME_OK;
    record.place.gflops = gflops;
    record.place.pct_of_roof = pct;
    record.place.bound = bound;
    record.flags = flags;
    pdnn_summary_add(summary, &record);
}

static void test_summary_finds_extremes(void **state) {
    (void)state;
    struct pdnn_summary summary = {.n_ok = 0};
    struct pdnn_record failed;
    pdnn_record_init(&failed, "failed");
    failed.outcome = PDNN_OUTCOME_CRASH;
    failed.place.gflops = 1e9;
    pdnn_summary_add(&summary, &failed);
    add(&summary, "no rate", NAN, NAN, PDNN_BOUND_UNKNOWN, 0);
    add(&summary, "a", 5, 50, PDNN_BOUND_MEMORY, PDNN_FLAG_NOISY | PDNN_FLAG_PREEMPTED);
    add(&summary, "b", 9, 20, PDNN_BOUND_COMPUTE, PDNN_FLAG_NOISY);
    add(&summary, "c", 1, 90, PDNN_BOUND_MEMORY, PDNN_FLAG_PREEMPTED);
    add(&summary, "d", 9, 20, PDNN_BOUND_OVERHEAD, 0);
    assert_int_equal(summary.n_ok, 5);
    assert_string_equal(summary.row[PDNN_EXTREME_FASTEST].id, "b");
    assert_string_equal(summary.row[PDNN_EXTREME_SLOWEST].id, "c");
    assert_string_equal(summary.row[PDNN_EXTREME_FARTHEST].id, "b");
    assert_int_equal(summary.bound[PDNN_BOUND_MEMORY], 2);
    assert_int_equal(summary.bound[PDNN_BOUND_UNKNOWN], 1);
    assert_int_equal(summary.n_noisy, 2);
    /* Only of the noisy rows. */
    assert_int_equal(summary.noisy_flag[3], 1);
    assert_int_equal(summary.noisy_flag[1], 0);
}

static void test_summary_of_nothing(void **state) {
    (void)state;
    struct pdnn_summary summary = {.n_ok = 0};
    add(&summary, "no rate", NAN, NAN, PDNN_BOUND_UNKNOWN, 0);
    for (size_t i = 0; i < PDNN_EXTREME_COUNT; i++)
        assert_false(summary.row[i].found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_finds_extremes),
        cmocka_unit_test(test_summary_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
