/* Shares of a step by category and by other keys, and time lost to the roofs,
 * with values worked out by hand. */
#include "tests/cmocka_all.h"

#include "results/query/shares.h"
#include "results/table/record.h"
#include "results/table/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) || (isnan(value) && isnan(expected))))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct pdnn_op_record op(const char *category, const char *layer, uint64_t count, double time_ns,
                                double pct_of_roof) {
    struct pdnn_op_record made = {.id = "a",
                                  .layer = layer,
                                  .op = "conv2d",
                                  .category = category,
                                  .pass = "forward",
                                  .dtype = "",
                                  .shape = "",
                                  .count = count,
                                  .implementation = ""};
    pdnn_placement_init(&made.place);
    made.time_ns_median = time_ns;
    made.place.pct_of_roof = pct_of_roof;
    return made;
}

static void shares_by(const char *by, const struct pdnn_op_rows *rows, struct pdnn_arena *arena,
                      struct pdnn_share **shares, size_t *count) {
    struct pdnn_err err = {0};
    struct pdnn_by_list list;
    if (by)
        assert_int_equal(pdnn_by_parse(by, &list, &err), PDNN_OK);
    *count = pdnn_shares(rows, by ? &list : NULL, arena, shares);
}

/* 1000 ns: convolutions lose 100 * 0.5 and 400 * 0.25, and the one above its roof gives nothing back. */
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
    size_t count;
    double sum_pct = 0;
    shares_by(NULL, &(struct pdnn_op_rows){ops, 6, 1000, "cnn"}, &arena, &shares, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(shares[i].id, "a");
        assert_string_equal(shares[i].key[PDNN_BY_CATEGORY], expected[i].category);
        assert_true(shares[i].work.count == expected[i].count);
        assert_near(shares[i].work.time_ns, expected[i].time_ns);
        assert_near(shares[i].work.share_pct, expected[i].time_ns / 10);
        assert_near(shares[i].work.pct_of_roof, expected[i].pct_of_roof);
        assert_near(shares[i].lost_ns, expected[i].lost_ns);
        assert_near(shares[i].lost_pct, expected[i].lost_ns / 10);
        assert_near(shares[i].most_lost_pct, expected[i].most_lost_pct);
        if (expected[i].most)
            assert_string_equal(shares[i].most.layer, expected[i].most);
        else
            assert_null(shares[i].most.op);
        sum_pct += shares[i].work.share_pct;
    }
    assert_near(sum_pct, 100);
    assert_ptr_equal(pdnn_shares_most(shares, count), &shares[0]);
    assert_null(pdnn_shares_most(shares + 1, count - 1));
    pdnn_arena_finish(&arena);
}

/* The sum of the ops may exceed the step, since stamped steps are separate steps. An op
 * that did not run has no row. */
static void test_shares_residual(void **state) {
    (void)state;
    const struct pdnn_op_record one = op("pooling", "x", 1, 104, NAN);
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    size_t count;
    shares_by(NULL, &(struct pdnn_op_rows){&one, 1, 100, "cnn"}, &arena, &shares, &count);
    assert_int_equal(count, 2);
    assert_near(shares[1].work.share_pct, -4);
    shares_by("group", &(struct pdnn_op_rows){&one, 0, 100, "transformer"}, &arena, &shares, &count);
    assert_int_equal(count, 0);
    assert_null(pdnn_shares_most(shares, count));
    pdnn_arena_finish(&arena);
}

struct expected {
    const char *keys[2]; /* in the order of `by` */
    double share_pct;
};

static struct pdnn_op_record layer_op(const char *name, const char *category, const char *pass,
                                      const char *layer, double time_ns) {
    struct pdnn_op_record made = op(category, layer, 1, time_ns, NAN);
    made.op = name;
    made.pass = pass;
    return made;
}

/* Groups and passes in fixed order, other keys by time; "other" appears though it is
 * empty; the residual is last. */
static void test_shares_by_keys(void **state) {
    (void)state;
    const struct pdnn_op_record ops[] = {
        layer_op("softmax", "softmax", "backward-data", "softmax1..softmax4", 10),
        layer_op("softmax", "softmax", "forward", "softmax1..softmax4", 20),
        layer_op("dense", "linear gemm", "forward", "ffn1.1..ffn1.4", 15),
        layer_op("dense", "linear gemm", "forward", "query1..query4", 5),
        layer_op("dense", "linear gemm", "forward", "embedding", 40),
    };
    static const struct {
        const char *by, *family;
        size_t count;
        struct expected rows[7];
    } cases[] = {
        {"group",
         "transformer",
         6,
         {{{"embedding"}, 40},
          {{"linear GEMM"}, 5},
          {{"FC GEMM"}, 15},
          {{"scale+mask+softmax+dropout"}, 30},
          {{"other"}, 0},
          {{"residual"}, 10}}},
        {"group", "gone", 3, {{{"linear gemm"}, 60}, {{"softmax"}, 30}, {{"residual"}, 10}}},
        {"pass", "transformer", 3, {{{"forward"}, 80}, {{"backward-data"}, 10}, {{"residual"}, 10}}},
        {"op", "transformer", 3, {{{"dense"}, 60}, {{"softmax"}, 30}, {{"residual"}, 10}}},
        {"layer",
         "transformer",
         5,
         {{{"embedding"}, 40},
          {{"softmax1..softmax4"}, 30},
          {{"ffn1.1..ffn1.4"}, 15},
          {{"query1..query4"}, 5},
          {{"residual"}, 10}}},
        {"op,pass",
         "transformer",
         4,
         {{{"dense", "forward"}, 60},
          {{"softmax", "forward"}, 20},
          {{"softmax", "backward-data"}, 10},
          {{"residual", ""}, 10}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_by_list by;
        struct pdnn_share *shares;
        size_t count;
        assert_int_equal(pdnn_by_parse(cases[i].by, &by, NULL), PDNN_OK);
        shares_by(cases[i].by, &(struct pdnn_op_rows){ops, sizeof ops / sizeof *ops, 100, cases[i].family},
                  &arena, &shares, &count);
        assert_int_equal(count, cases[i].count);
        for (size_t k = 0; k < count; k++) {
            const struct expected *expected = &cases[i].rows[k];
            for (size_t n = 0; n < by.count; n++)
                assert_string_equal(shares[k].key[by.by[n]], expected->keys[n]);
            assert_near(shares[k].work.share_pct, expected->share_pct);
            assert_int_equal(shares[k].is_residual, k + 1 == count);
        }
        pdnn_arena_finish(&arena);
    }
}

static void test_by_parse_refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"gruop", "'gruop' is nothing to sum by: category, group, pass, layer, op, did you mean 'group'?"},
        {"", "'' is nothing to sum by"},
        {"op,", "'' is nothing to sum by"},
        {"op,pass,op", "'op,pass,op' names op twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_by_list by;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_by_parse(rows[i].text, &by, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

/* Rates are total work over total time, and a count that one row lacks is not made up. */
static void test_shares_rates(void **state) {
    (void)state;
    struct pdnn_op_record ops[] = {op("convolution", "a", 1, 30, NAN), op("convolution", "b", 1, 10, NAN)};
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    size_t count;
    ops[0].flop_count = 300;
    ops[0].in_bounds_flop_count = 200;
    ops[0].byte_count = 60;
    ops[1].flop_count = ops[1].in_bounds_flop_count = 200;
    ops[1].byte_count = 20;
    shares_by(NULL, &(struct pdnn_op_rows){ops, 2, 40, "cnn"}, &arena, &shares, &count);
    assert_int_equal(shares[0].work.flop_count, 500);
    assert_near(shares[0].work.gflops, 10);
    assert_near(shares[0].work.bw_gbs, 2);
    assert_near(shares[0].work.intensity_flop_per_byte, 5);
    ops[1].byte_count = PDNN_ABSENT;
    shares_by(NULL, &(struct pdnn_op_rows){ops, 2, 40, "cnn"}, &arena, &shares, &count);
    assert_true(shares[0].work.byte_count == PDNN_ABSENT);
    assert_near(shares[0].work.bw_gbs, NAN);
    assert_near(shares[0].work.gflops, 10);
    pdnn_arena_finish(&arena);
}

/* What an op would save is not said where its roof is not known within a factor of 1.3. */
static void test_shares_lost_needs_a_known_roof(void **state) {
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        struct pdnn_op_record ops[] = {op("convolution", "a", 1, 100, 40), op("other", "a", 1, 100, 70)};
        struct pdnn_arena arena = {0};
        struct pdnn_share *shares;
        size_t count;
        ops[0].place.roof_low = 100;
        ops[0].place.roof_high = is_known ? 129 : 131;
        shares_by("category", &(struct pdnn_op_rows){ops, 2, 200, "cnn"}, &arena, &shares, &count);
        const struct pdnn_share *most = pdnn_shares_most(shares, count);
        assert_string_equal(most->most.category, is_known ? "convolution" : "other");
        for (size_t i = 0; i < count; i++)
            if (strcmp(shares[i].key[PDNN_BY_CATEGORY], "convolution") == 0)
                assert_true(isnan(shares[i].lost_pct) == !is_known && shares[i].work.pct_of_roof == 40);
        pdnn_arena_finish(&arena);
    }
}

/* Every column about the op that loses most finds its value in that op's row. */
static void test_shares_columns(void **state) {
    (void)state;
    struct pdnn_op_record lossy = op("convolution", "block1..block3", 3, 100, 40);
    lossy.shape = "1x64x8x8:64x64x3x3:1x64x8x8,padding=1";
    lossy.implementation = "jit:avx2";
    lossy.place.bound = PDNN_BOUND_COMPUTE;
    struct pdnn_arena arena = {0};
    struct pdnn_str text = {0};
    struct pdnn_share *shares;
    size_t count;
    lossy.flop_count = lossy.in_bounds_flop_count = 400;
    lossy.byte_count = 200;
    shares_by("op,category", &(struct pdnn_op_rows){&lossy, 1, 200, "cnn"}, &arena, &shares, &count);
    struct pdnn_table table;
    struct pdnn_table_writer writer = {.out = &text, .format = PDNN_FORMAT_CSV};
    pdnn_table_init(&table, &pdnn_shares_def);
    pdnn_table_write(&writer, &table, NULL);
    pdnn_str_clear(&text);
    for (size_t i = 0; i < count; i++)
        pdnn_record_put(&table, pdnn_table_add_row(&table), &shares[i]);
    pdnn_table_write(&writer, &table, NULL);
    pdnn_table_write_end(&writer);
    pdnn_table_finish(&table);
    assert_string_equal(
        pdnn_str_text(&text),
        "a,convolution,,,,conv2d,3,400,400,200,100,50,4,2,2,40,60,30,block1..block3,conv2d,forward,\"1x64x8x8:64x64x3x3:1x64x8x8,padding=1\",jit:avx2,40,compute,30\n"
        "a,,,,,residual,,,,,100,50,,,,,,,,,,,,,,\n");
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_by_category), cmocka_unit_test(test_shares_residual),
        cmocka_unit_test(test_shares_by_keys),     cmocka_unit_test(test_by_parse_refuses),
        cmocka_unit_test(test_shares_rates),       cmocka_unit_test(test_shares_lost_needs_a_known_roof),
        cmocka_unit_test(test_shares_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
