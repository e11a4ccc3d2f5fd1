/* The kernel of top_k against its rule: rows of any length, equal values, in place, streaming stores,
 * threads. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "base/rng.h"
#include "runtime/kernels/rows/top_k.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Rows, columns, k, and how many different values there are (0: all differ). */
static const struct row {
    int64_t R, C, k, values;
} rows[] = {{1, 1, 1, 0},    {5, 3, 2, 0},    {7, 8, 2, 3},    {40, 128, 8, 0},    {40, 128, 8, 20},
            {9, 33, 33, 0},  {9, 33, 33, 2},  {3, 1000, 1, 0}, {3, 1000, 50, 700}, {2, 4100, 4, 0},
            {600, 64, 6, 0}, {600, 64, 6, 5}, {11, 16, 15, 1}, {4, 256, 200, 0}};

/* Kept: fewer than k values are larger, or equal and before it. */
static bool is_kept(const float *x, int64_t C, int64_t k, int64_t i) {
    int64_t before = 0;
    for (int64_t j = 0; j < C; j++)
        before += x[j] > x[i] || (x[j] == x[i] && j < i);
    return before < k;
}

static void check_rows(const struct row *row, int64_t threads, bool bypass, bool in_place) {
    const int64_t elements = row->R * row->C;
    float *x = new_array(elements, sizeof *x), *y = in_place ? x : new_array(elements, sizeof *y);
    float *before = new_array(elements, sizeof *before);
    struct pdnn_rng rng = {3, 0};
    for (int64_t i = 0; i < elements; i++)
        x[i] = row->values ? (float)pdnn_rng_below(&rng, (uint64_t)row->values) - 2
                           : (float)pdnn_rng_double(&rng) - 0.5F;
    if (row->C > 2)
        x[1] = -INFINITY;
    memcpy(before, x, (size_t)elements * sizeof *x);
    const struct pdnn_top_k job = {x, y, row->R, row->C, row->k, bypass && !in_place};
    pdnn_top_k_run(&job, threads);
    for (int64_t i = 0; i < elements; i++) {
        const float *of = before + i / row->C * row->C;
        float expected = is_kept(of, row->C, row->k, i % row->C) ? before[i] : -INFINITY;
        if (y[i] != expected)
            fail_msg("%d x %d, k %d: %g at %d, expected %g", (int)row->R, (int)row->C, (int)row->k,
                     (double)y[i], (int)i, (double)expected);
    }
    free_from(x);
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_rows(&rows[i], 1, false, false);
        check_rows(&rows[i], 2, true, false);
        check_rows(&rows[i], 3, false, true);
    }
}

/* Not taken for a small number. */
static void test_nan_stays(void **state) {
    (void)state;
    float x[] = {1, NAN, 3, 2, 0};
    const struct pdnn_top_k job = {x, x, 1, 5, 2, false};
    pdnn_top_k_run(&job, 1);
    assert_true(isnan(x[1]));
    assert_true(x[2] == 3);
    assert_true(x[4] == -INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_nan_stays)};
    int failed = 0;
    omp_set_num_threads(3);
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
