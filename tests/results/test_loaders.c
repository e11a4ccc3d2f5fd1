/* What visits saw of their infeed, in rows, with values worked out by hand. */
#include "tests/cmocka_all.h"

#include "tests/results/made_row.h"

#include <math.h>
#include <string.h>

#define ID    "fc/layers=1,nodes=8,input=16,output=4,batch=2,mode=infer,threads=2,fuse=none,data=file,loaders=1"
#define DENSE "dense/forward/2x16:8x16:2x8"
#define WAIT  "infeed/forward/2x16"

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

/* The op of the model and the waiting; a visit without loaders has the first only. */
static struct pdnn_visit_op ops[3][2] = {
    {{.key = DENSE, .count = 1, .time_ns = 50}, {.key = WAIT, .count = 1, .time_ns = 30}},
    {{.key = DENSE, .count = 1, .time_ns = 50}, {.key = WAIT, .count = 1, .time_ns = 20}},
    {{.key = DENSE, .count = 1, .time_ns = 50}, {.key = WAIT, .count = 1, .time_ns = 10}},
};
static const struct pdnn_visit_infeed infeed[3] = {
    {30, 400, 128, "warm"}, {20, 500, 128, "warm"}, {10, 900, 128, "dropped"}};

/* The rows of so many visits, which took 100 ns each. */
static void aggregate(size_t n_visits, size_t n_ops, struct made_row *made) {
    static const struct pdnn_roof_rows roof_rows = {
        .count = 1, .row = {{"compute", "fma", "f32", "", 2, 0, 200, 0, 0, 1}}};
    struct pdnn_visit visits[3];
    struct pdnn_visits known = {.room = 0};
    for (size_t i = 0; i < n_visits; i++) {
        visits[i] = (struct pdnn_visit){
            .samples = 10, .steps_per_sample = 1, .median_ns = 100, .ops = ops[i], .n_ops = n_ops};
        if (n_ops > 1)
            visits[i].infeed = infeed[i];
        pdnn_visits_add(&known, ID, &visits[i]);
    }
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = pdnn_visits_of(&known, ID), .roof_rows = &roof_rows};
    made_row_make(&input, made);
    pdnn_visits_finish(&known);
}

/* Waiting is a row of the step and not hidden in what belongs to no op. */
static void test_loaders_rows(void **state) {
    (void)state;
    struct made_row made = {.n_ops = 0};
    aggregate(2, 2, &made);
    const struct pdnn_op_record *wait = &made.op[made.n_ops - 1];
    assert_string_equal(wait->op, "infeed");
    assert_string_equal(wait->category, "infeed");
    assert_string_equal(wait->shape, "2x16");
    assert_near(wait->time_ns_median, 25);
    assert_near(NUMBER(INFEED_PCT), 25);
    assert_near(NUMBER(RESIDUAL_PCT), 25);
    assert_near(NUMBER(LOADER_EXAMPLES_PER_S), 2e9 / 450);
    assert_near(NUMBER(LOADER_BYTES_PER_S), 128e9 / 450);
    assert_string_equal(TEXT(PAGE_CACHE), "warm");
    made_row_finish(&made);
}

static void test_loaders_page_cache_differs(void **state) {
    (void)state;
    struct made_row made = {.n_ops = 0};
    aggregate(3, 2, &made);
    assert_near(NUMBER(INFEED_PCT), 20);
    assert_string_equal(TEXT(PAGE_CACHE), "mixed");
    made_row_finish(&made);
}

static void test_loaders_none(void **state) {
    (void)state;
    struct made_row made = {.n_ops = 0};
    aggregate(3, 1, &made);
    assert_true(isnan(NUMBER(INFEED_PCT)) && isnan(NUMBER(LOADER_EXAMPLES_PER_S)));
    assert_near(NUMBER(RESIDUAL_PCT), 50);
    assert_string_equal(TEXT(PAGE_CACHE), "");
    made_row_finish(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaders_rows),
        cmocka_unit_test(test_loaders_page_cache_differs),
        cmocka_unit_test(test_loaders_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
