/* Shares of a step by category, and what is lost to the roofs, with values worked out by hand. */
#include "tests/cmocka_all.h"

#include "results/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) || (isnan(value) && isnan(expected))))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct pdnn_op_record op(const char *category, const char *layer, uint64_t count, double time_ns,
                                double pct_of_roof) {
    struct pdnn_op_record made = {.id = "a", .category = category, .pass = "forward", .count = count};
    pdnn_placement_init(&made.place);
    strcpy(made.layer, layer);
    strcpy(made.op, "conv2d");
    made.time_ns_median = time_ns;
    made.place.pct_of_roof = pct_of_roof;
    return made;
}

/* 1000 ns: convolutions lose 100 * 0.5 and 400 * 0.25, and gain nothing from the one above its roof. */
static void test_shares_by_category(void **state) {
    (void)state;
    const struct pdnn_op_record ops[] = {
        op("add", "x", 2, 60, 110),         op("convolution", "p", 1, 100, 50),
        op("batchnorm", "n", 7, 300, NAN),  op("convolution", "q", 3, 400, 75),
        op("convolution", "r", 1, 50, 120), op("batchnorm", "never ran", 1, NAN, NAN),
    };
    static const struct {
        const char *category;
        uint64_t count;
        double time_ns, pct_of_roof, lost_ns, most_lost_pct;
        const char *most;
    } expected[] = {
        {"convolution", 5, 550, (50 + 300 + 60) / 550.0 * 100, 150, 10, "q"},
        {"batchnorm", 7, 300, NAN, NAN, NAN, NULL},
        {"add", 2, 60, 110, 0, NAN, NULL},
        {"residual", PDNN_ABSENT, 90, NAN, NAN, NAN, NULL},
    };
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    struct pdnn_err err = {0};
    size_t count;
    double sum_pct = 0;
    assert_int_equal(pdnn_shares(ops, 6, 1000, &arena, &shares, &count, &err), PDNN_OK);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(shares[i].id, "a");
        assert_string_equal(shares[i].category, expected[i].category);
        assert_true(shares[i].count == expected[i].count);
        assert_near(shares[i].time_ns, expected[i].time_ns);
        assert_near(shares[i].share_pct, expected[i].time_ns / 10);
        assert_near(shares[i].pct_of_roof, expected[i].pct_of_roof);
        assert_near(shares[i].lost_ns, expected[i].lost_ns);
        assert_near(shares[i].lost_pct, expected[i].lost_ns / 10);
        assert_near(shares[i].most_lost_pct, expected[i].most_lost_pct);
        if (expected[i].most)
            assert_string_equal(shares[i].most->layer, expected[i].most);
        else
            assert_null(shares[i].most);
        sum_pct += shares[i].share_pct;
    }
    assert_near(sum_pct, 100);
    assert_ptr_equal(pdnn_shares_most(shares, count), &shares[0]);
    assert_null(pdnn_shares_most(shares + 1, count - 1));
    pdnn_arena_finish(&arena);
}

/* The ops' sum may be more than the step: stamped steps are other steps. No op, no row. */
static void test_shares_residual(void **state) {
    (void)state;
    const struct pdnn_op_record one = op("pooling", "x", 1, 104, NAN);
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    struct pdnn_err err = {0};
    size_t count;
    assert_int_equal(pdnn_shares(&one, 1, 100, &arena, &shares, &count, &err), PDNN_OK);
    assert_int_equal(count, 2);
    assert_near(shares[1].share_pct, -4);
    assert_int_equal(pdnn_shares(&one, 0, 100, &arena, &shares, &count, &err), PDNN_OK);
    assert_int_equal(count, 0);
    assert_null(pdnn_shares_most(shares, count));
    pdnn_arena_finish(&arena);
}

/* Every column that tells of the op that loses most finds its value in that op's row. */
static void test_shares_columns(void **state) {
    (void)state;
    struct pdnn_op_record lossy = op("convolution", "block1..block3", 3, 100, 40);
    strcpy(lossy.shape, "1x64x8x8:64x64x3x3:1x64x8x8,padding=1");
    strcpy(lossy.implementation, "jit:avx2");
    lossy.place.bound = PDNN_BOUND_COMPUTE;
    struct pdnn_arena arena = {0};
    struct pdnn_str text = {0};
    struct pdnn_share *shares;
    struct pdnn_err err = {0};
    size_t count;
    assert_int_equal(pdnn_shares(&lossy, 1, 200, &arena, &shares, &count, &err), PDNN_OK);
    for (size_t i = 0; i < count; i++)
        pdnn_columns_row(&pdnn_shares_columns, &shares[i], &text);
    assert_string_equal(pdnn_str_text(&text),
                        "a,convolution,3,100,50,40,60,30,block1..block3,conv2d,forward,"
                        "\"1x64x8x8:64x64x3x3:1x64x8x8,padding=1\",jit:avx2,40,compute,30\n"
                        "a,residual,,100,50,,,,,,,,,,,\n");
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_by_category),
        cmocka_unit_test(test_shares_residual),
        cmocka_unit_test(test_shares_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
