/* results.csv, and any CSV: cells survive writing and reading; what selects instances reads any table. */
#include "tests/fuzz/common.h"
#include "tests/fuzz/tables.h"

#include "results/compare/compared.h"

#include <stdint.h>
#include <string.h>

static void check_selection(const char *const *only, size_t n_only) {
    struct pdnn_selection selection;
    struct pdnn_arena arena = {0};
    struct pdnn_series *series;
    size_t n_series;
    struct pdnn_err err = {0};
    struct pdnn_axes axes;
    struct pdnn_str out = {0};
    if (!fuzz_is_ok(
            pdnn_selection_open_all(&selection, &(const char *){fuzz_directory()}, 1, only, n_only, &err),
            &err))
        return;
    FUZZ_CHECK(selection.count > 0 || n_only == 0);
    if (fuzz_is_ok(pdnn_axes_parse(&selection, "nodes,batch", &axes, &err), &err)) {
        size_t members = 0;
        pdnn_selection_series(&selection, &axes, &arena, &series, &n_series);
        for (size_t i = 0; i < n_series; i++)
            members += series[i].count;
        FUZZ_CHECK(members == selection.count);
        for (size_t at = 0; at < selection.count; at++) {
            pdnn_selection_step_ns(&selection, at);
            pdnn_selection_extrapolated(&selection, at);
            pdnn_selection_pattern(&selection, at, &axes, true, &out);
            pdnn_selection_values(&selection, at, &axes, &out);
            pdnn_selection_where(&selection, at, &axes, &out);
        }
        pdnn_selection_where(&selection, SIZE_MAX, &axes, &out);
    }
    pdnn_str_finish(&out);
    pdnn_arena_finish(&arena);
    pdnn_selection_close(&selection);
}

/* Both sides are in the table. */
static void check_comparison(const char *across) {
    const char *const directory = fuzz_directory();
    const struct pdnn_compare_request request = {
        .directories = &directory, .n_directories = 1, .across = across};
    struct pdnn_comparisons comparisons;
    struct pdnn_table groups, axes;
    struct pdnn_err err = {0};
    if (!fuzz_is_ok(pdnn_comparisons_open(&comparisons, &request, &err), &err))
        return;
    const struct pdnn_comparison *comparison = comparisons.of;
    pdnn_compare_sums(comparison, &groups, &axes);
    size_t n_pairs = comparison->pairs.n_rows;
    FUZZ_CHECK(n_pairs > 0 && pdnn_table_count(&groups, 0, PDNN_GROUP_INSTANCES) == n_pairs);
    for (size_t i = 0; i < n_pairs; i++)
        FUZZ_CHECK(pdnn_pair_ratio(comparison, i) > 0);
    for (size_t i = 0; i < axes.n_rows; i++)
        FUZZ_CHECK(pdnn_table_count(&axes, i, PDNN_COMPARE_AXIS_VALUES) > 1 &&
                   pdnn_table_count(&axes, i, PDNN_COMPARE_AXIS_INSTANCES) <= n_pairs);
    pdnn_table_finish(&groups);
    pdnn_table_finish(&axes);
    pdnn_comparisons_close(&comparisons);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char *const only[] = {"layers=2", "mode=train"};
    struct whole_csv csv = {0};
    if (!tables_parse(bytes, length, &csv))
        return 0;
    tables_check_round_trip(&csv);
    whole_csv_finish(&csv);
    fuzz_write("results.csv", bytes, length);
    check_selection(only, 0);
    check_selection(only, 2);
    check_comparison(NULL);
    check_comparison("nodes=8:16,batch");
    return 0;
}
