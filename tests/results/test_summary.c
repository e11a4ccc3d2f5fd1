/* The rows that stand out, what bounds them and what is noisy, from made-up records. */
#include "models/zoo/catalog.h"
#include "results/rows/summary.h"
#include "results/table/record.h"
#include "tests/cmocka_all.h"

#include <math.h>

/* Adds a made-up row. */
static void add(struct pdnn_summary *summary, enum pdnn_outcome outcome, const char *id,
                struct pdnn_placement place, unsigned flags) {
    struct pdnn_arena arena = {0};
    struct pdnn_table table;
    char text[PDNN_FLAGS_TEXT];
    const struct pdnn_table_def def = pdnn_results_def(pdnn_family_all(NULL), 1, &arena);
    pdnn_table_init(&table, &def);
    struct pdnn_result row = pdnn_result_of(&table, 0);
    pdnn_result_add(&row, id);
    pdnn_result_set_text(&row, PDNN_RESULT_STATUS, pdnn_outcome_name(outcome));
    pdnn_result_set_text(&row, PDNN_RESULT_ROW_FLAGS, pdnn_flags_format(flags, text));
    pdnn_record_put(row.table, row.row, &place);
    pdnn_summary_add(summary, &row);
    pdnn_table_finish(&table);
    pdnn_arena_finish(&arena);
}

static void add_ok(struct pdnn_summary *summary, const char *id, double gflops, double pct,
                   enum pdnn_bound bound, unsigned flags) {
    add(summary, PDNN_OUTCOME_OK, id,
        (struct pdnn_placement){.gflops = gflops, .pct_of_roof = pct, .bound = bound}, flags);
}

static void test_summary_finds_extremes(void **state) {
    (void)state;
    struct pdnn_summary summary = {.n_ok = 0};
    add(&summary, PDNN_OUTCOME_CRASH, "failed", (struct pdnn_placement){.gflops = 1e9}, 0);
    add_ok(&summary, "no rate", NAN, NAN, PDNN_BOUND_UNKNOWN, 0);
    add_ok(&summary, "a", 5, 50, PDNN_BOUND_MEMORY, PDNN_FLAG_NOISY | PDNN_FLAG_PREEMPTED);
    add_ok(&summary, "b", 9, 20, PDNN_BOUND_COMPUTE, PDNN_FLAG_NOISY);
    add_ok(&summary, "c", 1, 90, PDNN_BOUND_MEMORY, PDNN_FLAG_PREEMPTED);
    add_ok(&summary, "d", 9, 20, PDNN_BOUND_OVERHEAD, 0);
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

static void test_unusable_rows_do_not_stand_out(void **state) {
    (void)state;
    struct pdnn_summary summary = {.n_ok = 0};
    add_ok(&summary, "fast", 99, 1, PDNN_BOUND_MEMORY, PDNN_FLAG_NOISY | PDNN_FLAG_UNUSABLE);
    add_ok(&summary, "a", 5, 50, PDNN_BOUND_MEMORY, PDNN_FLAG_NOISY);
    assert_string_equal(summary.row[PDNN_EXTREME_FASTEST].id, "a");
    assert_string_equal(summary.row[PDNN_EXTREME_FARTHEST].id, "a");
    assert_int_equal(summary.n_unusable, 1);
    assert_int_equal(summary.n_noisy, 2);
}

static void test_summary_of_nothing(void **state) {
    (void)state;
    struct pdnn_summary summary = {.n_ok = 0};
    add_ok(&summary, "no rate", NAN, NAN, PDNN_BOUND_UNKNOWN, 0);
    for (size_t i = 0; i < PDNN_EXTREME_COUNT; i++)
        assert_false(summary.row[i].found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_finds_extremes),
        cmocka_unit_test(test_unusable_rows_do_not_stand_out),
        cmocka_unit_test(test_summary_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
