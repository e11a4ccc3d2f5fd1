/* Least squares against the normal equations, known weights, and columns that can have none. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "results/stats/least_squares.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

enum { ROWS = 12 };

static double normal(struct pdnn_rng *rng) {
    double u = 1 - pdnn_rng_double(rng), v = pdnn_rng_double(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void fit(const double *x, const double *y, size_t n_rows, size_t n_columns, struct pdnn_arena *arena,
                struct pdnn_least_squares *made) {
    struct pdnn_err err = {0};
    if (pdnn_least_squares(x, y, n_rows, n_columns, arena, made, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

/* One column has closed forms; the data are Anscombe's first quartet (The American Statistician 27, 1973). */
static void test_least_squares_anscombe(void **state) {
    (void)state;
    static const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    static const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares made;
    fit(x, y, 11, 1, &arena, &made);
    assert_near(made.column[0].weight, 0.500090909090909, 1e-14);
    assert_near(made.column[0].std_error, 0.117905500595634, 1e-14);
    assert_near(made.column[0].inflation, 1, 1e-14);
    assert_near(made.intercept, 3.00009090909091, 1e-13);
    assert_near(made.intercept_error, 1.12474679080864, 1e-13);
    assert_near(made.deviation, 1.23660332272632, 1e-13);
    assert_near(made.r2, 0.666542459508775, 1e-14);
    assert_near(made.r2_adjusted, 0.629491621676416, 1e-14);
    assert_near(made.row[0].leverage, 0.1, 1e-14); /* 1/11 + (10 - 9)^2 / 110 */
    assert_true(made.degrees == 9);
    pdnn_arena_finish(&arena);
}

/* Every row is really left out and predicted from the others. */
static void test_least_squares_leaves_one_out(void **state) {
    (void)state;
    enum { COLUMNS = 3 };
    struct pdnn_rng rng = {20, 0};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares all, others;
    double x[COLUMNS * ROWS], y[ROWS], mean = 0, total = 0, predicted = 0;
    for (size_t i = 0; i < COLUMNS * ROWS; i++)
        x[i] = 5 + normal(&rng);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = 2 + x[i] - 3 * x[ROWS + i] + normal(&rng);
        mean += y[i] / ROWS;
    }
    fit(x, y, ROWS, COLUMNS, &arena, &all);
    for (size_t out = 0; out < ROWS; out++) {
        double rest[COLUMNS * (ROWS - 1)], rest_y[ROWS - 1];
        for (size_t i = 0, to = 0; i < ROWS; i++) {
            if (i == out)
                continue;
            for (size_t j = 0; j < COLUMNS; j++)
                rest[j * (ROWS - 1) + to] = x[j * ROWS + i];
            rest_y[to++] = y[i];
        }
        fit(rest, rest_y, ROWS - 1, COLUMNS, &arena, &others);
        double guess = others.intercept;
        for (size_t j = 0; j < COLUMNS; j++)
            guess += others.column[j].weight * x[j * ROWS + out];
        assert_near(y[out] - guess, all.row[out].residual / (1 - all.row[out].leverage), 1e-10);
        /* Its error over the error's standard deviation, both from the others: the studentized residual. */
        assert_near((y[out] - guess) * sqrt(1 - all.row[out].leverage) / others.deviation,
                    all.row[out].studentized, 1e-10);
        predicted += (y[out] - guess) * (y[out] - guess);
        total += (y[out] - mean) * (y[out] - mean);
    }
    assert_near(all.r2_leave_one_out, 1 - predicted / total, 1e-10);
    pdnn_arena_finish(&arena);
}

/* Scale and offset of columns change nothing but the weights' units. */
static void test_least_squares_scales(void **state) {
    (void)state;
    struct pdnn_rng rng = {21, 0};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares plain, scaled;
    double x[2 * ROWS], y[ROWS], other[2 * ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = normal(&rng);
        x[ROWS + i] = x[i] + normal(&rng);
        y[i] = x[i] + 2 * x[ROWS + i] + normal(&rng);
        other[i] = x[i] * 1e150;
        other[ROWS + i] = x[ROWS + i] * 1e-3 + 1000;
    }
    fit(x, y, ROWS, 2, &arena, &plain);
    fit(other, y, ROWS, 2, &arena, &scaled);
    assert_near(scaled.column[0].weight * 1e150, plain.column[0].weight, 1e-9);
    assert_near(scaled.column[1].weight * 1e-3, plain.column[1].weight, 1e-9);
    assert_near(scaled.column[1].std_error * 1e-3, plain.column[1].std_error, 1e-9);
    assert_near(scaled.column[1].inflation, plain.column[1].inflation, 1e-8);
    assert_near(scaled.r2, plain.r2, 1e-9);
    assert_true(plain.column[1].inflation > 1);
    pdnn_arena_finish(&arena);
}

/* Constant columns, multiples and sums are named, and the others are fitted as if they were not there. */
static void test_least_squares_ranks(void **state) {
    (void)state;
    enum { COLUMNS = 6 };
    struct pdnn_rng rng = {22, 0};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares made, plain;
    double x[COLUMNS * ROWS], y[ROWS], good[2 * ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        double a = 100 + normal(&rng), b = normal(&rng);
        const double row[COLUMNS] = {0.1, a, 3 - 7 * a, b, a + b, 5};
        for (size_t j = 0; j < COLUMNS; j++)
            x[j * ROWS + i] = row[j];
        good[i] = a;
        good[ROWS + i] = b;
        y[i] = a - b + normal(&rng);
    }
    fit(x, y, ROWS, COLUMNS, &arena, &made);
    fit(good, y, ROWS, 2, &arena, &plain);
    static const enum pdnn_column_rank ranks[COLUMNS] = {PDNN_RANK_CONSTANT,  PDNN_RANK_FULL,
                                                         PDNN_RANK_COLLINEAR, PDNN_RANK_FULL,
                                                         PDNN_RANK_COLLINEAR, PDNN_RANK_CONSTANT};
    static const char *const uses[COLUMNS] = {"", "", "010000", "", "010100", ""};
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_int_equal(made.column[j].rank, ranks[j]);
        assert_int_equal(isnan(made.column[j].weight), ranks[j] != PDNN_RANK_FULL);
        for (size_t k = 0; *uses[j] && k < COLUMNS; k++)
            assert_int_equal(made.column[j].uses[k], uses[j][k] == '1');
    }
    assert_near(made.column[1].weight, plain.column[0].weight, 1e-12);
    assert_near(made.column[3].std_error, plain.column[1].std_error, 1e-12);
    assert_near(made.r2_leave_one_out, plain.r2_leave_one_out, 1e-12);
    pdnn_arena_finish(&arena);
}

/* A row that alone has a column's value cannot be predicted from the others. */
static void test_least_squares_leverage_of_one(void **state) {
    (void)state;
    static const double x[] = {0, 0, 0, 0, 1}, y[] = {1, 2, 3, 5, 9};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares made;
    fit(x, y, 5, 1, &arena, &made);
    assert_true(made.row[4].leverage == 1 && isnan(made.row[4].studentized) && isnan(made.r2_leave_one_out));
    assert_near(made.column[0].weight, 9 - 11 / 4.0, 1e-14);
    assert_true(isfinite(made.row[0].studentized));
    pdnn_arena_finish(&arena);
}

static void test_least_squares_exact(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4}, y[] = {3, 5, 7, 9};
    struct pdnn_arena arena = {0};
    struct pdnn_least_squares made;
    fit(x, y, 4, 1, &arena, &made);
    assert_near(made.r2, 1, 1e-14);
    assert_near(made.r2_leave_one_out, 1, 1e-14);
    for (size_t i = 0; i < 4; i++)
        assert_true(isnan(made.row[i].studentized)); /* of rounding errors */
    pdnn_arena_finish(&arena);
}

static void test_least_squares_refuses(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3,       4, /* */ 1, 0, 3,       9, /* */ 0, 1,
                               1, 0, /* */ 5, 5, 7,       8, /* */ 6, 1, 2,       2};
    static const struct {
        double y[4];
        size_t n_rows, n_columns;
        const char *message;
    } rows[] = {
        {{1, 2, 3, 5}, 4, 3, "4 rows are too few for 3 weights and an intercept"},
        {{1, 2, 3, 5}, 4, 5, "4 rows are too few for 5 weights and an intercept"},
        {{1, 2, 3, 5}, 2, 1, "2 rows are too few for a fit"},
        {{0.1, 0.1, 0.1, 0.1}, 4, 1, "all 4 values are equal"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        struct pdnn_least_squares made;
        assert_int_equal(
            pdnn_least_squares(x, rows[i].y, rows[i].n_rows, rows[i].n_columns, &arena, &made, &err),
            PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
        pdnn_arena_finish(&arena);
    }
}

/* The intervals of correlated columns' weights, and of the intercept, hold as often as they say; so does the
 * test of the row that lies farthest off. Bounds: four standard deviations of a binomial count. */
static void test_least_squares_coverage(void **state) {
    (void)state;
    enum { COLUMNS = 3, TIMES = 2000 };
    static const double weights[COLUMNS] = {0.5, -2, 0};
    const double bound = 4 * sqrt(TIMES * 0.05 * 0.95);
    struct pdnn_rng rng = {23, 0};
    double x[COLUMNS * ROWS], missed[COLUMNS + 1] = {0}, alarms = 0;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 20 + normal(&rng);
        x[ROWS + i] = x[i] + 0.3 * normal(&rng);
        x[2 * ROWS + i] = exp(3 * normal(&rng));
    }
    for (int time = 0; time < TIMES; time++) {
        struct pdnn_arena arena = {0};
        struct pdnn_least_squares made;
        double y[ROWS], least = 1;
        for (size_t i = 0; i < ROWS; i++)
            y[i] = 7 + weights[0] * x[i] + weights[1] * x[ROWS + i] + 0.1 * normal(&rng);
        fit(x, y, ROWS, COLUMNS, &arena, &made);
        double t = pdnn_student_t95(made.degrees);
        for (size_t j = 0; j < COLUMNS; j++)
            missed[j] += fabs(made.column[j].weight - weights[j]) > t * made.column[j].std_error;
        missed[COLUMNS] += fabs(made.intercept - 7) > t * made.intercept_error;
        for (size_t i = 0; i < ROWS; i++)
            least = fmin(least, pdnn_student_tails(made.row[i].studentized, made.degrees - 1));
        alarms += least < 0.05 / ROWS;
        pdnn_arena_finish(&arena);
    }
    for (size_t j = 0; j <= COLUMNS; j++)
        assert_near(missed[j], 0.05 * TIMES, bound);
    /* Bonferroni's threshold is at most 5 %, and hardly less. */
    assert_near(alarms, 0.05 * TIMES, bound);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_squares_anscombe),
        cmocka_unit_test(test_least_squares_leaves_one_out),
        cmocka_unit_test(test_least_squares_scales),
        cmocka_unit_test(test_least_squares_ranks),
        cmocka_unit_test(test_least_squares_leverage_of_one),
        cmocka_unit_test(test_least_squares_exact),
        cmocka_unit_test(test_least_squares_refuses),
        cmocka_unit_test(test_least_squares_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
